#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# oprofile script, compared with perf script.

bats_require_minimum_version 1.5.0
load helpers

# Makes bats repeat failed tests, because Debian's perf 6.1 sometimes crashes (stack smashing while
# it writes build-ids).
setup_file()
{
	export BATS_TEST_RETRIES=2
}

setup()
{
	out=$BATS_TEST_TMPDIR
}

script()
{
	timeout -k 5 60 "$OPROFILE" script "$@"
}

# same_as_perf FILE OPTION...: checks that both programs print the same with these options.
same_as_perf()
{
	local file=$1
	shift
	# perf sometimes aborts.
	for i in 1 2 3; do
		status=0
		timeout -k 5 60 perf script -f -i "$file" "$@" >"$out/perf" 2>"$out/perf.err" </dev/null || status=$?
		[ $status -ge 128 ] || break
	done
	[ $status -eq 0 ]
	script "$@" "$file" >"$out/ours" 2>"$out/ours.err"
	[ -s "$out/perf" ]
	cmp -s "$out/perf" "$out/ours" ||
		python3 "$SOURCE_ROOT/tests/perf_data/same_script.py" "$out/perf" "$out/ours"
}

record_here()
{
	need perf
	perf_record "$@" -o "$out/perf.data" -- \
		sh -c 'for i in 1 2 3 4 5; do ls -lR /usr/include >/dev/null; done; seq 200000 | sort >/dev/null' ||
		skip "perf cannot record here: $*"
}

# Does what stackcollapse-perf.pl does, as far as a test needs it: "comm;outermost;...;leaf N".
fold()
{
	awk '/^[^\t ]/ { comm = $0; sub(/ +[0-9]+ .*/, "", comm); stack = ""; next }
		/^\t/ { name = $2; sub(/\+0x[0-9a-f]+$/, "", name); stack = ";" name stack; next }
		/^$/ { n[comm stack]++ }
		END { for (k in n) print k, n[k] }' | sort
}

@test "script prints files of perf 3.2 to 4.14 as perf does" {
	need perf
	need_data
	export PERF_BUILDID_DIR=$out/nothing
	local f
	for f in armv7-3.4 callgraph-3.8 forkexit-3.8 group_desc-4.14 hybrid_topology i686-3.4 \
		lost_samples-4.4 raw-3.4 remmap-3.2 singleprocess-3.4 systemwide.0-3.4; do
		same_as_perf "$DATA/perf-history/perf.data.$f"
	done
	for f in callgraph_and_branch-3.4 callgraph-3.8; do
		same_as_perf "$DATA/perf-history/perf.data.$f" -F comm,tid,pid,time,event,period,ip
		same_as_perf "$DATA/perf-history/perf.data.$f" -G -F -sym,-symoff,+pid --ns
	done
	same_as_perf "$DATA/perf-history/perf.data.callgraph_and_branch-3.4" -F time,brstack
	# Addresses after the end of the kernel do not belong to it, with or without its symbols.
	same_as_perf "$DATA/s390x/perf.data"
	same_as_perf "$DATA/s390x/perf.data" -F ip,dso
}

@test "script prints threads without a name as perf does" {
	need perf
	python3 "$SOURCE_ROOT/tests/perf_data/nameless.py" "$out/perf.data"
	same_as_perf "$out/perf.data"
	same_as_perf "$out/perf.data" --show-task-events
}

# perf on this machine prints the same; it does not look up names here.
@test "script prints a big-endian file like perf on the recording machine" {
	need_data
	export PERF_BUILDID_DIR=$DATA/s390x/debug-cache
	script "$DATA/s390x/perf.data" 2>"$out/err" >"$out/ours"
	zcat "$DATA/s390x/perf.data.script.txt.gz" | cmp - "$out/ours"
}

# Compares only the lines in which perf 6.1 is correct: docs/perf-script.md.
@test "script prints events, addresses and modules of an armhf file as perf does" {
	need_data
	export PERF_BUILDID_DIR=$DATA/armhf/debug-cache
	script "$DATA/armhf/perf.data" 2>"$out/err" >"$out/ours"
	zcat "$DATA/armhf/perf.data.script.txt.gz" >"$out/native"
	[ "$(wc -l <"$out/ours")" -eq "$(wc -l <"$out/native")" ]
	[ "$(diff "$out/native" "$out/ours" | grep -c '^>')" -le 20 ]
}

@test "script prints flat, system-wide and chain recordings of perf as perf does" {
	record_here -F 1999 -e cpu-clock,page-faults
	same_as_perf "$out/perf.data"
	same_as_perf "$out/perf.data" -F +pid,+misc,-cpu --ns
	record_here -a -F 999 -e cpu-clock
	same_as_perf "$out/perf.data"
	record_here -a -g -F 999 -e cpu-clock
	same_as_perf "$out/perf.data"
	same_as_perf "$out/perf.data" -G
	same_as_perf "$out/perf.data" -F comm,ip,sym
}

@test "script resolves data addresses to what was mapped there" {
	need perf
	need_data
	same_as_perf "$DATA/arm64/perf.full.data" -F +addr
	same_as_perf "$DATA/armhf/perf.full.data" -F +addr
	grep -q -F '([stack])' "$out/ours"
	[ "$(grep -c -F '(//anon)' "$out/ours")" -gt 100 ]
}

@test "the kernel is named if only the mappings have its build-id" {
	record_here --buildid-mmap -F 999 -e cpu-clock
	same_as_perf "$out/perf.data"
	same_as_perf "$out/perf.data" --show-mmap-events
	grep -q '\[kernel.kallsyms\]_text' "$out/ours"
}

@test "without build-ids, the vdso is taken from this machine if the kernel is the same" {
	need perf
	perf_record -B -F 1999 -e cpu-clock -o "$out/perf.data" -- \
		python3 -c 'import time
for i in range(3000000): time.time()' || skip "perf cannot record here"
	same_as_perf "$out/perf.data"
	! grep -q ' __vdso_.*(\[vdso\])' "$out/perf" || grep -q ' __vdso_.*(\[vdso\])' "$out/ours"
}

# The file of a killed perf: the header has no data size, and nothing follows the data.
@test "a recording that was killed on this machine has the names of a complete one" {
	record_here -F 999 -e cpu-clock
	script "$out/perf.data" >"$out/whole" 2>/dev/null
	python3 - "$out/perf.data" <<-'END'
		import struct, sys
		with open(sys.argv[1], "r+b") as f:
		    at, size = struct.unpack_from("<QQ", f.read(56), 40)
		    f.truncate(at + size)
		    f.seek(48)
		    f.write(bytes(8))
	END
	run -3 --separate-stderr script "$out/perf.data"
	[[ $stderr == *interrupted* ]]
	[[ $stderr != *"another machine"* ]]
	printf '%s\n' "$output" | diff "$out/whole" -
}

@test "script output folds to the same stacks as perf's" {
	record_here -g -F 1999 -e cpu-clock
	same_as_perf "$out/perf.data"
	fold <"$out/perf" | grep -v @plt >"$out/perf.folded"
	fold <"$out/ours" | grep -v @plt >"$out/ours.folded"
	[ "$(wc -l <"$out/ours.folded")" -gt 10 ]
	grep -q '^sort;.*;.* [0-9]*$' "$out/ours.folded"
	# The outputs are equal except for a few stacks that perf dropped.
	[ "$(comm -3 "$out/perf.folded" "$out/ours.folded" | wc -l)" -le 8 ]
}

@test "script prints the same lines from a pipe, and with one or two threads" {
	need_data
	local f=$DATA/perf-history/perf.data.forkexit-3.8
	script "$f" >"$out/file" 2>/dev/null
	script - <"$f" >"$out/pipe" 2>/dev/null
	cmp "$out/file" "$out/pipe"
	script --threads 1 -i "$f" >"$out/one" 2>/dev/null
	script --threads 2 -i "$f" >"$out/two" 2>/dev/null
	cmp "$out/one" "$out/two"
	cmp "$out/file" "$out/one"
	# All threads unwind stacks.
	f=$DATA/s390x/perf.dwarf.data
	script --threads 1 "$f" >"$out/one" 2>/dev/null
	script --threads 3 "$f" >"$out/two" 2>/dev/null
	[ "$(grep -c . "$out/one")" -gt 1000 ]
	cmp "$out/one" "$out/two"
	script --threads 3 - <"$f" >"$out/pipe" 2>/dev/null
	cmp "$out/one" "$out/pipe"
}

@test "comm:, tid:, time:, cpu: and symbol: select samples" {
	need_data
	local f=$DATA/perf-history/perf.data.forkexit-3.8
	script -F comm,tid,time,ip,sym "$f" 2>/dev/null >"$out/all"
	local comm tid
	comm=$(awk '{ print $1 }' "$out/all" | sort | uniq -c | sort -n | awk 'END { print $2 }')
	tid=$(awk '{ print $2 }' "$out/all" | sort | uniq -c | sort -n | awk 'END { print $2 }')
	script -F comm,tid,time,ip,sym "$f" "comm:$comm" 2>/dev/null >"$out/comm"
	awk -v c="$comm" '$1 == c' "$out/all" | cmp - "$out/comm"
	script -F comm,tid,time,ip,sym "$f" "tid:$tid" 2>/dev/null >"$out/tid"
	awk -v t="$tid" '$2 == t' "$out/all" | cmp - "$out/tid"
	[ -s "$out/comm" ]
	[ "$(wc -l <"$out/comm")" -lt "$(wc -l <"$out/all")" ]
	run -1 script -F time "$f" time:0%-50% # an old file does not contain its time span
	f=$DATA/armhf/perf.full.data
	script -G -F comm,tid,time,ip,sym "$f" 2>/dev/null >"$out/all"
	script -G -F comm,tid,time,ip,sym "$f" time:0%-50% 2>/dev/null >"$out/half"
	head -n "$(wc -l <"$out/half")" "$out/all" | cmp - "$out/half"
	[ "$(wc -l <"$out/half")" -lt "$(wc -l <"$out/all")" ]
	[ -s "$out/half" ]
	run -1 script "$f" symbol:no_such_function
	[[ "${lines[-1]}" == *"too strict ?"* ]]
}

@test "script prints each sample of a session once, in time order, with chains" {
	new_session
	need_recording
	operf --session-dir "$session" --callgraph sh -c 'seq 300000 | sort >/dev/null'
	script --session-dir "$session" >"$out/lines"
	script --session-dir "$session" -F time >"$out/times"
	grep -v '^$' "$out/times" | sort -c -n
	[ "$(grep -c '^$' "$out/lines")" -eq \
		"$("$OPROFILE" dump --session-dir "$session" | wc -l)" ]
	grep -q '^sort  *[0-9]* \[00[0-9]\]  *[0-9]*\.[0-9]\{6\}:  *[0-9]* [^ ]*: $' "$out/lines"
	grep -q "^	 *[0-9a-f]* [^ ]*+0x[0-9a-f]* (/.*)$" "$out/lines"
	fold <"$out/lines" | grep -q '^sort;'
	script "$session/samples/current" | cmp - "$out/lines"
	script --session-dir "$session" comm:seq >"$out/seq"
	run ! grep -q '^sort ' "$out/seq"
}

@test "script rejects unknown fields and suggests known ones" {
	need_data
	local f=$DATA/perf-history/perf.data.singleprocess-3.4
	run -1 --separate-stderr script -F comm,tdi "$f"
	[[ $stderr == *"unknown field 'tdi': did you mean 'tid'?"* ]]
	[ -z "$output" ]
	run -1 --separate-stderr script -F +brstack "$f"
	[[ $stderr == *"do not have BRANCH_STACK attribute set. Cannot print 'brstack' field."* ]]
	run -1 --separate-stderr script -i /nowhere
	[[ $stderr == *"/nowhere: No such file or directory"* ]]
}

@test "script prints all readable samples of a truncated file and exits with 3" {
	need_data
	head -c 500000 "$DATA/perf-history/perf.data.forkexit-3.8" >"$out/cut"
	run -3 --separate-stderr script "$out/cut"
	[ "${#lines[@]}" -gt 1000 ]
	[[ $stderr == *"the input is incomplete"*"samples written"* ]]
}

@test "script ends silently when its reader closes the pipe" {
	need_data
	script "$DATA/perf-history/perf.data.forkexit-3.8" 2>"$out/err" | head -n 1 >"$out/first"
	[ -s "$out/first" ]
	run ! grep -q 'written' "$out/err"
}

# The options with which perf2bolt calls perf; perf prints the same.
@test "script prints mappings and task events among the samples as perf does" {
	need perf
	need_data
	local f option
	for f in "$DATA"/arm64/perf.data "$DATA"/armhf/perf.data "$DATA/armhf/perf.full.data" \
		"$DATA/perf-history/perf.data.forkexit-3.8"; do
		for option in --show-mmap-events --show-task-events \
			"--show-mmap-events --show-task-events"; do
			# $option is one or two words.
			# shellcheck disable=SC2086
			script $option -f -i "$f" 2>/dev/null | grep PERF_RECORD >"$out/ours"
			# shellcheck disable=SC2086
			perf script $option -f -i "$f" 2>/dev/null | grep PERF_RECORD |
				diff "$out/ours" -
			[ -s "$out/ours" ]
		done
	done
	# They are printed between the samples, in order of time.
	script --show-task-events -F time "$DATA/arm64/perf.data" 2>/dev/null |
		sed -n 's/^ *\([0-9.]*\): .*/\1/p' | sort -c -n
	run -1 --separate-stderr script -F pid,event,addr,ip -f -i "$DATA/arm64/perf.data"
	[[ $stderr == *"event do not have ADDR attribute set. Cannot print 'addr' field."* ]]
}
