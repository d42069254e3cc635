# SPDX-License-Identifier: GPL-2.0-or-later
# Files that exist but cannot be read are not treated as missing: each is reported once, with the
# reason, and counted.
load helpers

bats_require_minimum_version 1.5.0

setup()
{
	cd "$BATS_TEST_TMPDIR"
	work=$PWD
	new_session
	mkdir lib src
}

# Builds a program with a separate debug file, found by build-id in $work/root or by
# .gnu_debuglink, and a session with samples of its static function, whose name is only in the
# debug file.
make_program() # GCC-OPTION...
{
	need gcc
	need objcopy
	cat >src/p.c <<-'END'
		static __attribute__((noinline, used)) int inner_function(int n)
		{
			return n * 3 + 1;
		}
		int outer_function(int n);
		__attribute__((noinline)) int outer_function(int n)
		{
			return inner_function(n) + 1;
		}
		int main(int argc, char **argv)
		{
			(void)argv;
			return outer_function(argc) == 7;
		}
	END
	gcc -g -O1 -Wl,--build-id "$@" -o p "$work/src/p.c"
	id=$(readelf -n p | sed -n 's/.*Build ID: //p')
	# The first load segment with code has file offset = address - base; a PIE's base is 0 here.
	address=0x$(nm p | sed -n 's/ t inner_function$//p')
	text=$(readelf -SW p | sed -n 's/^.*\] \.text *PROGBITS *\([0-9a-f]*\) *\([0-9a-f]*\) .*/0x\1 0x\2/p')
	offset=$((address - ${text% *} + ${text#* }))
}

split_debug()
{
	objcopy --only-keep-debug p p.debug
	strip --strip-all p
	objcopy --add-gnu-debuglink=p.debug p
}

describe()
{
	{
		echo "info|0|Some CPU|$(uname -n)||0|0|$(uname -r)|boot"
		echo 'event|TIMER|Clocks|3|100000|0|0'
		echo "image|1|$work/p|$id"
		echo "thread|7|7|p|0|0|"
		for n in 1 2 3; do echo "sample|0|0|0|${n}000|1|0+$offset|7"; done
	} | write_segment "$session/samples/current"
}

# faulty CALL ERRNO PATH COMMAND...: runs the command with this fault.
faulty()
{
	local call=$1 errno=$2 path=$3
	shift 3
	FAULT_CALL=$call FAULT_ERRNO=$errno FAULT_PATH=$path LD_PRELOAD=$FAULT_SO timeout -k 5 60 "$@"
}

# Runs opreport with a fault; expects status 3, and one line that names the file.
expect_report() # CALL ERRNO PATH TEXT OPTION...
{
	local call=$1 errno=$2 path=$3 text=$4
	shift 4
	run --separate-stderr faulty "$call" "$errno" "$path" "$OPROFILE_LINKS/opreport" --session-dir "$session" "$@"
	echo "$call $errno $path: status $status: $output: $stderr"
	[ "$status" -eq 3 ]
	[ "$(grep -c "cannot read '[^']*$path': $text" <<<"$stderr")" -eq 1 ]
	[ "$(grep -c "$path" <<<"$stderr")" -eq 1 ]
}

@test "opreport names a debug file that it cannot open or read, and omits its names" {
	make_program
	split_debug
	describe
	run -0 --separate-stderr opreport --session-dir "$session" --symbols
	[[ "$output" == *inner_function* ]]
	[ -z "$stderr" ]
	for fault in open:5:Input/output open:24:'Too many open files' open:23:'Too many open files in system' \
		open:12:'Cannot allocate memory' open:40:'Too many levels' read:5:Input/output; do
		IFS=: read -r call errno text <<<"$fault"
		expect_report "$call" "$errno" "$work/p.debug" "$text" --symbols
		[[ "$output" != *inner_function* ]]
	done
	# A missing file is not an error.
	rm p.debug
	run -0 --separate-stderr opreport --session-dir "$session" --symbols
	[ -z "$stderr" ]
}

@test "opreport names a binary that it cannot open or read, once" {
	make_program
	describe
	for fault in open:5:Input/output open:24:'Too many open files' read:5:Input/output; do
		IFS=: read -r call errno text <<<"$fault"
		expect_report "$call" "$errno" "$work/p" "$text" --symbols
		[[ "$output" != *inner_function* ]]
		expect_report "$call" "$errno" "$work/p" "$text" --by symbol,line --csv
	done
}

@test "--quality counts unreadable files, as text and as JSON" {
	make_program
	split_debug
	describe
	run -0 opreport --session-dir "$session" --quality
	grep -q '^ *unreadable  *0  *files' <<<"$output"
	expect_report read 5 "$work/p.debug" Input/output --quality
	grep -q '^ *unreadable  *1  *files' <<<"$output"
	expect_report read 5 "$work/p.debug" Input/output --by symbol --json --quality
	grep -q '"unreadable_files": *1' <<<"$output"
}

@test "a file without permission is named and counted, and the status is still 0" {
	make_program
	describe
	run -0 --separate-stderr faulty open 13 "$work/p" "$OPROFILE_LINKS/opreport" --session-dir "$session" --quality
	[ "$(grep -c "cannot read '$work/p': Permission denied" <<<"$stderr")" -eq 1 ]
	grep -q '^ *unreadable  *1  *files' <<<"$output"
}

@test "opreport names a .dwo file that it cannot open or read" {
	make_program -gsplit-dwarf
	describe
	dwo=$(find "$work" -name '*.dwo')
	[ -n "$dwo" ]
	run -0 --separate-stderr opreport --session-dir "$session" --by symbol,line --csv
	[[ "$output" == *p.c:* ]]
	for call in open read; do
		expect_report $call 5 "${dwo##*/}" Input/output --by symbol,line --csv
	done
}

@test "opannotate names a source that it cannot open or read" {
	make_program
	describe
	run -0 --separate-stderr "$OPROFILE_LINKS/opannotate" --session-dir "$session" --source
	[[ "$output" == *'n * 3 + 1'* ]]
	for call in open read; do
		run -3 --separate-stderr faulty $call 5 "$work/src/p.c" "$OPROFILE_LINKS/opannotate" --session-dir "$session" --source
		[ "$(grep -c "cannot read '$work/src/p.c': Input/output error" <<<"$stderr")" -eq 1 ]
		[[ "$output" != *'n * 3 + 1'* ]]
	done
}

@test "opreport names an unreadable --vmlinux once" {
	make_program
	{
		echo "info|0|Some CPU|$(uname -n)||0|0|$(uname -r)|boot"
		echo 'event|TIMER|Clocks|3|100000|0|0'
		echo "image|2|[kernel.kallsyms]|$id"
		echo "thread|7|7|p|-|0|"
		echo "sample|0|0|0|1000|1|0+16|7"
	} | write_segment "$session/samples/current"
	for call in open read; do
		expect_report $call 5 "$work/p" Input/output --symbols --vmlinux "$work/p"
	done
}

@test "opreport names a perf map that it cannot open, read or map" {
	need_recording
	operf --session-dir "$session" "$WORKLOADS/jit_map" 300 >/dev/null
	map=$(find "$session" -name 'perf-*.map')
	rm -f "/tmp/${map##*/}"
	for call in open read mmap; do
		expect_report $call 5 "$map" Input/output --symbols
		[[ "$output" != *jit_alpha* ]]
	done
}

@test "exports and annotations name an unreadable file and exit with 3" {
	make_program
	split_debug
	describe
	for command in 'export folded' 'script' 'annotate --assembly'; do
		run -3 --separate-stderr faulty read 5 "$work/p.debug" "$OPROFILE" $command --session-dir "$session"
		echo "$command: $stderr"
		[ "$(grep -c "cannot read '$work/p.debug': Input/output error" <<<"$stderr")" -eq 1 ]
	done
}

@test "opreport names a directory of JIT files that it cannot open or list" {
	need_recording
	need strace
	strace -qq -o calls true || skip "strace is not permitted"
	operf --session-dir "$session" "$WORKLOADS/jit_map" 300 >/dev/null
	map=$(find "$session" -name 'perf-*.map')
	rm -f "/tmp/${map##*/}"
	dir=${map%/*}
	for fault in openat:EIO:Input/output openat:EMFILE:'Too many open files' getdents64:EIO:Input/output; do
		IFS=: read -r call errno text <<<"$fault"
		run --separate-stderr env ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" timeout -k 5 60 \
			strace -f -qq -o calls -P "$dir" -e trace="$call" -e inject="$call:error=$errno" \
			"$OPROFILE_LINKS/opreport" --session-dir "$session" --symbols
		echo "$fault: status $status: $stderr"
		grep -q INJECTED calls
		[ "$status" -eq 3 ]
		[ "$(grep -c "cannot read '[^']*${dir#"$session"/}': $text" <<<"$stderr")" -eq 1 ]
		[[ "$output" != *jit_alpha* ]]
	done
}

@test "opreport reports too little memory for the names" {
	need_recording
	need_root
	[[ "${LD_PRELOAD:-}${ASAN_OPTIONS:-}" != *[as]an* ]] || skip "sanitizers need address space"
	operf --session-dir "$session" dd if=/dev/zero of=/dev/null bs=1M count=2000 2>/dev/null
	run -0 --separate-stderr opreport --session-dir "$session" --symbols
	good=$output
	for kib in 30000 40000 50000 60000 70000 80000 100000 150000; do
		run --separate-stderr bash -c 'ulimit -v "$1"; shift; exec "$@"' - $kib \
			"$OPROFILE_LINKS/opreport" --session-dir "$session" --symbols
		echo "$kib: status $status: $stderr"
		if [ "$status" -eq 0 ]; then
			[ "$output" = "$good" ]
		else
			[ -n "$stderr" ]
		fi
	done
}
