#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# operf --callgraph: stacks that are unwound while recording. How the programs are built
# determines the expected stacks.

bats_require_minimum_version 1.5.0
load helpers

setup()
{
	begin_recording_test
	out=$BATS_TEST_TMPDIR
	truth=$SOURCE_ROOT/tests/cmd/callgraph_truth.py
}

teardown()
{
	end_recording_test
}

# record OPTION... COMMAND...: records into $session and $out/perf.data; on failure prints what
# operf printed.
record()
{
	operf --session-dir "$session" --perf-data "$out/perf.data" "$@" \
		>"$out/stdout" 2>"$out/stderr" && return 0
	cat "$out/stderr"
	return 1
}

# Prints every sample of the session with its frames: command, then symbols, outermost first.
session_stacks()
{
	timeout -k 5 60 "$OPROFILE" script --max-stack 8000 --session-dir "$session" \
		-F comm,ip,sym >"$out/stacks"
}

@test "a recursion of 300 without frame pointers is complete, also in a perf.data" {
	record --callgraph "$WORKLOADS/deep" 300 300
	session_stacks
	python3 "$truth" recursion 300 "$out/stacks"
	# Only frames are stored: one copy of the stack would need 20 KB.
	[ "$(du -sb "$session/samples/current"/segment-* | awk '{ n += $1 } END { print n }')" \
		-lt $((80 * $(end_line samples "$out/stderr") + 16384)) ]
	timeout -k 5 60 "$OPROFILE" script --max-stack 8000 -F comm,ip,sym "$out/perf.data" \
		>"$out/stacks"
	python3 "$truth" recursion 300 "$out/stacks"
	need perf
	timeout -k 5 60 perf script --max-stack 8000 -F comm,ip,sym -i "$out/perf.data" \
		>"$out/stacks" 2>"$out/perf.err" </dev/null
	python3 "$truth" recursion 300 "$out/stacks"
	[ "$(perf evlist -v -i "$out/perf.data" | grep -c 'REGS_USER\|STACK_USER')" -eq 0 ]
}

# The process mostly ends before its stack was read.
@test "a stack whose outer part is lost is marked, with the reason" {
	record --callgraph=dwarf,1024 "$WORKLOADS/deep" 3000 20
	cat "$out/stderr"
	opreport --session-dir "$session" --quality >"$out/quality"
	grep -A2 truncated "$out/quality"
	short=$(sed -n 's/.*complete.*; \([0-9]*\): the copied part.*/\1/p' "$out/stderr")
	[ "$(sed -n 's/^ *\([0-9]*\) .*unwound: the copied part.*/\1/p' "$out/quality")" = "$short" ]
	awk -v short="${short:-0}" '$1 == "truncated" { found = $2 >= short } END { exit !found }' \
		"$out/quality"
}

# The frames of 3000 calls need about 130 KB; the process keeps them until it ends.
@test "a stack that exceeds its copy is completed from the process, or marked" {
	record --callgraph "$WORKLOADS/deep" 3000 400
	session_stacks
	python3 "$truth" recursion 3000 "$out/stacks" 0.3
}

@test "two files with the same build-id have separate unwind tables" {
	need "${CC:-cc}"
	load same_build_id
	same_build_id "$out/one" 16
	same_build_id "$out/two" 1000
	"$out/one" first & "$out/two" second &
	record --callgraph --system-wide --duration 2
	wait
	expect_whole first
	expect_whole second
}

@test "stacks of threads reach the start of the thread" {
	record --callgraph "$WORKLOADS/threads" 1000
	session_stacks
	python3 "$truth" work "$out/stacks" clone,__clone,thread_start 0.95 thread_work_
}

@test "stacks of forked processes include the callers before the fork" {
	record --callgraph "$WORKLOADS/fork_only" 600
	session_stacks
	python3 "$truth" work "$out/stacks" _start 0.95 generation_0=generation_run,main \
		generation_1=generation_run,generation_run,main \
		generation_2=generation_run,generation_run,generation_run,main
}

@test "a process that executes three programs has complete stacks in each" {
	record --callgraph "$WORKLOADS/exec_chain_a" 600
	session_stacks
	python3 "$truth" work "$out/stacks" _start 0.95 chain_work_a=main chain_work_b=main \
		chain_work_c=main
}

@test "processes that end quickly have complete stacks" {
	record --callgraph "$WORKLOADS/processes" 300
	session_stacks
	python3 "$truth" work "$out/stacks" _start 0.9 short_work_=main
}

@test "kernel stacks continue into the program" {
	need_root
	record --callgraph -- head -c 1G /dev/zero
	timeout -k 5 60 "$OPROFILE" dump --session-dir "$session" >"$out/dump"
	python3 "$truth" joined "$out/dump"
}

@test "return addresses of code without frame pointers follow calls" {
	case $(uname -m) in
	x86_64) ;;
	*) skip "calls of this machine are not known to the test" ;;
	esac
	record --callgraph -- sh -c '{ ls -lR /usr/include
		seq 100000 | sort | gzip; } >/dev/null'
	timeout -k 5 60 "$OPROFILE" dump --session-dir "$session" >"$out/dump"
	python3 "$truth" calls "$out/dump"
	cat "$out/stderr"
	sed -n 's/.* \([0-9]*\) of \([0-9]*\) user stacks are complete.*/\1 \2/p' "$out/stderr" |
		awk '{ exit !($1 >= 0.95 * $2) }'
}

@test "the session and the perf.data have the same stacks as perf reads them" {
	need perf
	record --callgraph "$WORKLOADS/threads" 1000
	timeout -k 5 60 "$OPROFILE" dump --session-dir "$session" >"$out/dump"
	perf script --max-stack 4096 -F comm,pid,tid,cpu,time,event,period,ip,sym,symoff,dso \
		-i "$out/perf.data" </dev/null >/dev/null 2>&1 || skip "perf cannot read it"
	perf report --stdio -g -i "$out/perf.data" </dev/null 2>"$out/perf.err" >"$out/report"
	grep -q thread_work_0 "$out/report"
	grep -q 'start_thread\|clone' "$out/report"
}

# perf reads from our perf.data the same addresses that gdb finds in all 64 threads.
@test "the callers in the perf.data are those of gdb" {
	need perf
	need gdb
	functions=$(echo thread_work_{0..7})
	FUNCTIONS=$functions timeout -k 5 60 gdb -nx -batch -x "$SOURCE_ROOT/tests/unwind/gdb_callers.py" \
		--args "$WORKLOADS/threads" 200 2>"$out/gdb.err" </dev/null | grep '^callers ' >"$out/gdb" ||
		skip "gdb cannot run programs here"
	[ "$(wc -l <"$out/gdb")" -eq 8 ]
	record --callgraph "$WORKLOADS/threads" 1000
	timeout -k 5 60 perf script -F comm,ip,sym -i "$out/perf.data" >"$out/script" 2>"$out/perf.err" \
		</dev/null
	python3 "$truth" callers "$out/gdb" "$out/script"
}

@test "code without unwind information is unwound by return addresses after call instructions" {
	[ "$(uname -m)" = x86_64 ] || skip "NOT TESTED here: the code is of x86-64"
	load bare_stacks
	record --callgraph "$WORKLOADS/bare" 80
	cat "$out/stderr"
	"$OPROFILE" export folded --session-dir "$session" >"$out/folded"
	expect_bare_callers "$out/folded"
}

@test "code of i386 without unwind information is unwound likewise" {
	[ "$(uname -m)" = x86_64 ] || skip "NOT TESTED here: the code is of i386"
	gcc -m32 -c "$SOURCE_ROOT/tests/workloads/bare_i386.S" -o "$out/bare.o" &&
		ld -m elf_i386 --eh-frame-hdr "$out/bare.o" -o "$out/bare32" ||
		skip "no assembler for i386: NOT TESTED"
	"$out/bare32" || skip "the kernel runs no programs of i386: NOT TESTED"
	record --callgraph "$out/bare32"
	cat "$out/stderr"
	"$OPROFILE" export folded --session-dir "$session" >"$out/folded"
	awk '{ n = $NF }
		match($0, /bare_[a-z]+/) {
			name = substr($0, RSTART + 5, RLENGTH - 5)
			all[name] += n
			good[name] += n * ($0 ~ "_start;call_" name ";bare_" name "[; ]")
		}
		END {
			for (name in all) {
				print name, all[name], good[name]
				nr += all[name] > 20
				bad += good[name] < 0.95 * all[name]
			}
			exit !(nr == 2 && !bad)
		}' "$out/folded"
}

# The stacks wait until the dump describes the code, at the latest when the program ends.
@test "JIT code is unwound completely by its jitdump, whenever the jitdump is written" {
	[ "$(uname -m)" = x86_64 ] || skip "NOT TESTED here: the code is of x86-64"
	cd "$out"
	for how in "" late open "late nameless" nameless; do
		record --callgraph "$WORKLOADS/jit_frames" 400 $how
		cat "$out/stderr"
		for recording in "--session-dir $session" "$out/perf.data"; do
			"$OPROFILE" export folded $recording >"$out/folded"
			awk -v how="$how" '/frameless/ { n += $NF
					if (/_start;.*main;call_code;frameless/) whole += $NF }
				END { print how ": " n + 0, whole + 0; exit !(n > 100 && whole > 0.95 * n) }' \
				"$out/folded"
		done
		rm -r jit-*.dump "$session/samples" "$out/perf.data"
	done
}

@test "an unprivileged user gets complete stacks with the small rings of the limit" {
	need_root
	need_nobody
	open_session
	as_nobody --session-dir "$session" --callgraph "$WORKLOADS/deep" 300 1000 \
		>"$out/stdout" 2>"$out/stderr" || { cat "$out/stderr"; false; }
	chown -R 0:0 "$session" # another user's recording needs --force
	session_stacks
	python3 "$truth" recursion 300 "$out/stacks" 0.5
}

@test "an unknown value of --callgraph is rejected" {
	for how in dward dwarf,12 dwarf,x auto,999999 fp,8192; do
		run -125 operf --session-dir "$session" --callgraph=$how true
		[[ $output == *"--callgraph=$how"* ]]
	done
}
