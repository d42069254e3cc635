#!/usr/bin/env bats
# operf --callgraph: stacks that are unwound while they are recorded.  The truth is known by how
# the programs are made.

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

# record OPTION... COMMAND...: into $session and $out/perf.data; says what operf said on failure.
record()
{
	operf --session-dir "$session" --perf-data "$out/perf.data" "$@" \
		>"$out/stdout" 2>"$out/stderr" && return 0
	cat "$out/stderr"
	return 1
}

# Every sample with its frames, of the session: comm, then symbols, outermost first.
session_stacks()
{
	timeout -k 5 60 "$OPROFILE" script --max-stack 2000 --session-dir "$session" \
		-F comm,ip,sym >"$out/stacks"
}

@test "a recursion of 300 calls without frame pointers is whole by default" {
	record --callgraph "$WORKLOADS/deep" 300 500
	session_stacks
	python3 "$truth" recursion 300 "$out/stacks"
}

@test "the session keeps frames, not stacks" {
	record --callgraph=dwarf "$WORKLOADS/deep" 300 500
	# A window has 8 KB at least.
	[ "$(du -sb "$session/samples/current"/segment-* | awk '{ n += $1 } END { print n }')" \
		-lt $((80 * $(end_line samples "$out/stderr") + 16384)) ]
}

@test "the perf.data has the same chains, and perf reads them" {
	record --callgraph "$WORKLOADS/deep" 300 500
	timeout -k 5 60 "$OPROFILE" script --max-stack 2000 -F comm,ip,sym "$out/perf.data" \
		>"$out/stacks"
	python3 "$truth" recursion 300 "$out/stacks"
	need perf
	timeout -k 5 60 perf script --max-stack 2000 -F comm,ip,sym -i "$out/perf.data" \
		>"$out/stacks" 2>"$out/perf.err" </dev/null
	python3 "$truth" recursion 300 "$out/stacks"
	[ "$(perf evlist -v -i "$out/perf.data" | grep -c 'REGS_USER\|STACK_USER')" -eq 0 ]
}

@test "a window that is given and too short: the stacks are marked, not made up" {
	record --callgraph=dwarf,1024 "$WORKLOADS/deep" 300 500
	opreport --session-dir "$session" --quality >"$out/quality"
	cat "$out/quality"
	awk '$1 == "truncated" && $3 > 90 { found = 1 } END { exit !found }' "$out/quality"
}

@test "what --callgraph does not know is refused" {
	for how in dward dwarf,12 dwarf,x auto,999999 fp,8192; do
		run -125 operf --session-dir "$session" --callgraph=$how true
		[[ $output == *"--callgraph=$how"* ]]
	done
}
