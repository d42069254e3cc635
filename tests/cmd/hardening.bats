#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# How the program and the public library are compiled and linked: see the top meson.build.

setup() {
	bats_require_minimum_version 1.5.0
	[ "${HARDENED:-true}" = true ] || skip "a build with -Dhardening=false: NOT TESTED"
	library=$BUILD_ROOT/src/opagent/libopagent.so
	command -v readelf >/dev/null || skip "there is no readelf: NOT TESTED"
	! readelf --dyn-syms -W "$OPROFILE" | grep -qE '__(a|ub|t|m)san_' ||
		skip "a build with sanitizers, which replace it: NOT TESTED"
}

# Prints the symbols that FILE imports.
imports() {
	readelf --dyn-syms -W "$1" | awk '$7 == "UND" { sub(/@.*/, "", $8); print $8 }'
}

@test "the binaries have read-only relocations and are position independent" {
	for file in "$OPROFILE" "$library"; do
		run -0 readelf -dlW "$file"
		echo "$file"
		grep -q 'BIND_NOW' <<<"$output"
		grep -q 'GNU_RELRO' <<<"$output"
		! grep -q '(TEXTREL)' <<<"$output" || false
	done
	readelf -hW "$OPROFILE" | grep -q 'Type:.*DYN'
}

@test "the binaries have no executable stack" {
	for file in "$OPROFILE" "$library"; do
		readelf -lW "$file" | grep 'GNU_STACK' | grep -q ' RW '
	done
}

@test "the binaries are built with stack protection" {
	for file in "$OPROFILE" "$library"; do
		imports "$file" | grep -qx '__stack_chk_fail'
	done
	# Check our own functions, not only a library that is linked in.
	objects=("$BUILD_ROOT"/src/base/libbase.a.p/*.o)
	[ -e "${objects[0]}" ] || skip "there are no objects: NOT TESTED"
	readelf -sW "${objects[@]}" | grep -q '__stack_chk_fail'
}

@test "calls of libc functions use the variants that check array sizes" {
	[ "$FORTIFIED" = true ] || skip "a build without optimization: NOT TESTED"
	for file in "$OPROFILE" "$library"; do
		imports "$file" | grep -qx '__snprintf_chk'
	done
}

@test "indirect jumps go only to marked targets where the CPU supports it" {
	[ "$(uname -m)" = x86_64 ] || skip "not x86-64: NOT TESTED"
	readelf -nW "$BUILD_ROOT"/src/opagent/libopagent.so*.p/*.o | grep -q 'IBT, SHSTK'
}
