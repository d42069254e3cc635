#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Stacks of recordings with registers and copies of the stack (--call-graph dwarf), compared with
# those that perf unwound on the recording machine.

bats_require_minimum_version 1.5.0
load helpers

setup()
{
	out=$BATS_TEST_TMPDIR
}

script()
{
	timeout -k 5 60 "$OPROFILE" script "$@"
}

# Writes our stacks to $out/ours and those of perf on the recording machine to $out/native.
both()
{
	need_data
	export PERF_BUILDID_DIR=$DATA/$1/debug-cache
	script "$DATA/$1/perf.dwarf.data" >"$out/ours" 2>"$out/err"
	zcat "$DATA/$1/perf.dwarf.data.script.txt.gz" >"$out/native"
	[ "$(grep -c . "$out/native")" -gt 1000 ]
}

record_here()
{
	need perf
	perf_record -o "$out/perf.data" -e cpu-clock "$@" 2>/dev/null ||
		skip "perf cannot record here: $*"
}

need_gdb()
{
	need gdb
	[ "$(uname -m)" = x86_64 ] || skip "for x86-64"
	timeout 60 gdb -nx -batch -ex run --args true >"$out/gdb" 2>&1 </dev/null || true
	grep -q 'exited normally' "$out/gdb" || skip "gdb cannot run programs here"
}

@test "AArch64 stacks have exactly the frames that perf printed on that machine" {
	both arm64
	cmp "$out/native" "$out/ours"
}

# perf prints "(inlined)" after a name that libdw finds twice in the symbol table; the addresses are
# the same.
@test "s390x stacks have every address that perf printed on that big-endian machine" {
	both s390x
	[ "$(diff "$out/native" "$out/ours" | grep '^<' | grep -vc '(inlined)$')" -eq 0 ]
	awk '{ print $1 }' "$out/native" >"$out/native.ips"
	awk '{ print $1 }' "$out/ours" >"$out/ours.ips"
	cmp "$out/native.ips" "$out/ours.ips"
}

# Much of perf's code on that machine has no unwind rules, so perf's stacks end there.
@test "armhf Thumb stacks have all callers that perf printed on that machine, and more" {
	both armhf
	[ "$(diff "$out/native" "$out/ours" | grep -c '^<')" -eq 0 ]
	[ "$(grep -c 'main+0x' "$out/ours")" -gt $((2 * $(grep -c 'main+0x' "$out/native"))) ]
	# libc has no .eh_frame: unwinding must leave its code and return to the program, in the
	# first thread and in others.
	[ "$(grep -c '_start+0x27 ([^)]*/work)' "$out/ours")" -gt 100 ]
	awk 'BEGIN { RS = ""; FS = "\n" } /do_sort\+/ && /qsort_r\+/ { n++; bad += !/qsort_r\+.*qsort\+.*do_sort\+.*worker\+/ }
		END { print n + 0, bad + 0; exit !(n > 15 && bad == 0) }' "$out/ours"
}

@test "without binaries, unwinding stops at the last known frame" {
	need_data
	export PERF_BUILDID_DIR=$out/nothing
	script "$DATA/s390x/perf.dwarf.data" >"$out/ours" 2>"$out/err"
	# Each sample has at most one user frame, without callers.
	[ "$(awk '/^\t/ && !/kernel|ext4/ { n++ } /^$/ { if (n > most) most = n; n = 0 }
		END { print most + 0 }' "$out/ours")" -eq 1 ]
}

@test "a recursion of 300 without frame pointers is complete in script and in a session" {
	record_here -F 999 --call-graph dwarf,32768 -- "$WORKLOADS/deep" 300 500
	script --max-stack 1000 "$out/perf.data" >"$out/ours" 2>"$out/err"
	# In all samples of its function there are 300 + 1 calls, a fourth of them through
	# descend_wide().
	awk '/^\t/ && / descend\+/ { d++ } /^\t/ && / descend_wide\+/ { w++ }
		/^\t/ && / bottom\+/ { is = 1 } /^\t/ { last = $2 }
		/^$/ { if (is) { n++; if (d != 301 || w != 75 || last !~ /^_start/) bad++ }
			d = w = is = 0 }
		END { print n + 0, bad + 0; exit !(n > 100 && bad * 50 < n) }' "$out/ours"
	"$OPROFILE" import --session-dir "$out" "$out/perf.data"
	"$OPROFILE" script --max-stack 1000 --session-dir "$out" -F ip,sym >"$out/session"
	[ "$(grep -c ' descend$' "$out/session")" -gt $((100 * 295)) ]
	"$OPROFILE" report --session-dir "$out" --quality --csv >/dev/null
	"$OPROFILE" report --session-dir "$out" --quality |
		awk '$1 == "truncated" { found = 1; if ($3 + 0 > 5) exit 1 } END { exit !found }'
}

@test "a stack copy that is too short is marked and not mixed with complete stacks" {
	record_here -F 999 --call-graph dwarf,1024 -- "$WORKLOADS/deep" 300 300
	"$OPROFILE" report --quality "$out/perf.data" >"$out/quality"
	awk '$1 == "truncated" && $3 > 90 { found = 1; all = $2 }
		/of those unwound: the copied part of the stack was too short$/ { short = $1 }
		END { exit !(found && short > 0.9 * all) }' "$out/quality"
}

@test "samples with a stack copy but no chain show one address if chains are hidden" {
	need_data
	for machine in arm64 s390x; do
		export PERF_BUILDID_DIR=$DATA/$machine/debug-cache
		python3 "$SOURCE_ROOT/tests/perf_data/without_chains.py" \
			"$DATA/$machine/perf.dwarf.data" "$out/perf.data"
		script -G "$DATA/$machine/perf.dwarf.data" >"$out/hidden" 2>"$out/err"
		[ "$(grep -c . "$out/hidden")" -gt 50 ]
		script "$out/perf.data" 2>"$out/err" | diff "$out/hidden" -
	done
}

@test "all frames that perf finds are found" {
	record_here -F 1999 --call-graph dwarf,16384 -- \
		sh -c 'ls -lR /usr/include >/dev/null; seq 100000 | sort | md5sum >/dev/null'
	timeout -k 5 60 perf script --no-inline -f -i "$out/perf.data" >"$out/perf" 2>/dev/null \
		</dev/null || skip "perf cannot read what it recorded"
	script "$out/perf.data" >"$out/ours" 2>"$out/err"
	# perf ends many stacks with an address that is not in code.
	awk '/^\t/ && !/\(\[(unknown|stack)\]\)$/ { print $1 }' "$out/perf" >"$out/perf.ips"
	awk '/^\t/ { print $1 }' "$out/ours" >"$out/ours.ips"
	[ "$(wc -l <"$out/perf.ips")" -gt 500 ]
	[ "$(diff "$out/perf.ips" "$out/ours.ips" | grep -c '^<')" -le $(($(wc -l <"$out/perf.ips") / 200)) ]
	"$OPROFILE" report --quality "$out/perf.data" >"$out/quality"
	awk '$1 == "truncated" { found = 1; if ($3 + 0 > 5) exit 1 } END { exit !found }' \
		"$out/quality"
}

# Written by hand, so that no CPU with branch stacks is needed. Compared with perf's stacks, and
# with the stacks that the file was made from.
@test "branch stacks (LBR) give callers, in both byte orders" {
	for order in little big; do
		data=$out/$order
		python3 "$SOURCE_ROOT/tests/perf_data/lbr.py" "$data" "$WORKLOADS/deep" $order empty
		"$OPROFILE" export folded "$data" | sort >"$out/folded"
		sort "$data.folded" | diff - "$out/folded"
		rm -rf "$out/samples"
		"$OPROFILE" import --session-dir "$out" "$data"
		"$OPROFILE" export folded --session-dir "$out" | sort | diff "$out/folded" -
		# Branch stacks do not change the sampled addresses.
		[ "$("$OPROFILE" report --by symbol --csv "$data" 2>/dev/null | awk -F, '$1 == "bottom" { print $2 }')" = 13 ]
	done
	need perf
	for order in little big; do
		data=$out/$order.perf
		python3 "$SOURCE_ROOT/tests/perf_data/lbr.py" "$data" "$WORKLOADS/deep" $order
		# Ignore the names of this machine's kernel.
		script -F comm,time,ip,sym "$data" | sed 's/\(\tffff[^ ]*\).*/\1/' >"$out/ours"
		timeout -k 5 60 perf script -F comm,time,ip,sym -i "$data" 2>/dev/null </dev/null |
			sed 's/\(\tffff[^ ]*\).*/\1/' >"$out/perf"
		[ "$(grep -c ' descend$' "$out/perf")" -eq 42 ]
		diff "$out/perf" "$out/ours"
	done
}

# No kernel here writes these records, and no perf here reads them.
@test "deferred callchains give callers, in both byte orders" {
	for order in little big; do
		data=$out/$order
		python3 "$SOURCE_ROOT/tests/perf_data/deferred.py" "$data" "$WORKLOADS/deep" $order
		sort "$data.folded" -o "$data.folded"
		"$OPROFILE" export folded "$data" | sort | diff "$data.folded" -
		rm -rf "$out/samples"
		"$OPROFILE" import --session-dir "$out" "$data"
		"$OPROFILE" export folded --session-dir "$out" | sort | diff "$data.folded" -
		script -F comm,tid,ip,sym "$data" >"$out/script"
		# Frames as perf has them, without the cookie.
		awk 'BEGIN { RS = ""; FS = "\n" } { n++; frames += NF - 1; whole += /_start/ }
			END { print n, frames, whole; exit !(n == 23 && whole == 12 && frames == 5 * 4 + 1 * 4 + 6 * 4 + 5 + 6) }' "$out/script"
	done
}

# At random instructions: ends and beginnings of functions, the loader, stubs, signals, the vdso.
@test "stacks are those of gdb, wherever the program is stopped" {
	need_gdb
	"$SOURCE_ROOT/tests/unwind/check" "$OPROFILE" 50 O2 frame-pointer
}

@test "stacks are those of gdb, with C++ exceptions and threads" {
	need g++
	need_gdb
	"$SOURCE_ROOT/tests/unwind/check" "$OPROFILE" 50 exceptions threads
}

@test "stacks are those of gdb, for a program with .sframe and no .eh_frame" {
	need_gdb
	need objcopy
	as --help | grep -q gsframe || skip "as writes no .sframe"
	"$SOURCE_ROOT/tests/unwind/check" "$OPROFILE" 50 sframe
}

@test "unwind tables are made once, and damaged ones are made again" {
	need_data
	export PERF_BUILDID_DIR=$DATA/arm64/debug-cache XDG_CACHE_HOME=$out/cache
	stacks()
	{
		"$OPROFILE" report --by stack --csv "$@" "$DATA/arm64/perf.dwarf.data"
	}
	stacks --no-cache >"$out/without" 2>/dev/null
	[ ! -e "$out/cache/oprofile" ] || [ -z "$(ls "$out/cache/oprofile" | grep unwind)" ]
	[ "$(wc -l <"$out/without")" -gt 20 ]
	stacks 2>/dev/null | cmp - "$out/without"
	ls -i "$out"/cache/oprofile/*.unwind >"$out/first"
	[ "$(wc -l <"$out/first")" -gt 1 ]
	stacks 2>/dev/null | cmp - "$out/without"
	ls -i "$out"/cache/oprofile/*.unwind | cmp - "$out/first"
	"$OPROFILE" cache --list >"$out/list"
	grep -q ' unwinding .*libc.so.6' "$out/list"
	# A damaged table with missing rows is built again.
	for file in "$out"/cache/oprofile/*.unwind; do
		truncate -s -8 "$file"
	done
	stacks 2>/dev/null | cmp - "$out/without"
	ls -i "$out"/cache/oprofile/*.unwind >"$out/second"
	! cmp -s "$out/first" "$out/second"
}

@test "JIT code without frame pointers is unwound by the tables in its jitdump" {
	[ "$(uname -m)" = x86_64 ] || skip "for x86-64"
	cd "$out"
	record_here -F 999 -k 1 --call-graph dwarf -- "$WORKLOADS/jit_frames" 700
	frames()
	{
		script -F ip,sym "$out/perf.data" 2>/dev/null |
			awk 'BEGIN { RS = ""; FS = "\n" } /frameless|perf-/ || NF == 1 { n++ }
				/call_code.*main.*__libc_start.*_start/ { whole++ }
				END { print n + 0, whole + 0 }'
	}
	read -r n whole <<<"$(frames)"
	echo "$n stacks of the code, $whole whole"
	[ "$whole" -gt 20 ]
	# Import stores the same stacks.
	"$OPROFILE" export folded "$out/perf.data" | sort >"$out/direct"
	mkdir "$out/imported"
	"$OPROFILE" import --session-dir "$out/imported" "$out/perf.data"
	"$OPROFILE" export folded --session-dir "$out/imported" | sort | diff "$out/direct" -
	# A header without a machine means that of the recording.
	printf '\0\0\0\0' | dd of="$(echo jit-*.dump)" bs=1 seek=12 conv=notrunc status=none
	"$OPROFILE" export folded "$out/perf.data" | sort | diff "$out/direct" -
	# Without the tables the callers are not found.
	mv jit-*.dump gone
	read -r n whole <<<"$(frames)"
	echo "without: $n, $whole whole"
	[ "$n" -gt 20 ]
	[ "$whole" -le $((n / 20)) ]
}

@test "code without unwind information is unwound by return addresses after call instructions" {
	[ "$(uname -m)" = x86_64 ] || skip "for x86-64"
	load bare_stacks
	record_here -F 999 --call-graph dwarf -- "$WORKLOADS/bare" 100
	"$OPROFILE" export folded "$out/perf.data" >"$out/folded"
	expect_bare_callers "$out/folded"
	sort "$out/folded" -o "$out/folded"
	# The number of threads does not matter, and import stores the same.
	"$OPROFILE" export folded --threads 1 "$out/perf.data" | sort | diff "$out/folded" -
	mkdir "$out/imported"
	"$OPROFILE" import --session-dir "$out/imported" "$out/perf.data"
	"$OPROFILE" export folded --session-dir "$out/imported" | sort | diff "$out/folded" -
}
