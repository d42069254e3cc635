# SPDX-License-Identifier: GPL-2.0-or-later
# ocount with the kernel's software events, which need no hardware counters.
bats_require_minimum_version 1.5.0
load helpers

ocount()
{
	timeout -k 5 60 "$OPROFILE_LINKS/ocount" "$@"
}

setup()
{
	ocount -e page-faults true >"$BATS_TEST_TMPDIR/probe" 2>&1 && return 0
	cat "$BATS_TEST_TMPDIR/probe"
	grep -q perf_event "$BATS_TEST_TMPDIR/probe" || return 1
	skip "counting is not possible here"
}

@test "ocount prints OProfile's table and exits with the command's status" {
	run -7 --separate-stderr ocount -e page-faults,task-clock:0:1:1 sh -c 'exit 7'
	echo "$output"
	[[ ${lines[0]} == 'Events were actively counted for '*'.' ]]
	[ "${lines[1]}" = 'Event counts (actual) for sh:' ]
	[ "${lines[2]}" = "	Event                      Count                    % time counted" ]
	[[ ${lines[3]} =~ ^'	page-faults                '[0-9,]+' '+100.00$ ]]
	[[ ${lines[4]} =~ ^'	task-clock:0x0:1:1         '[0-9,]+' '+100.00$ ]]
	run -143 ocount -e page-faults sh -c 'kill -TERM $$'
	run -127 ocount -e page-faults no-such-command-here
	[[ $output == *'no-such-command-here cannot be found in your PATH'* ]]
}

# A child of the command touches each page once, so there are at least that many faults.
@test "ocount counts children of the command, and -b prints brief rows" {
	run -0 --separate-stderr ocount -b -e page-faults,context-switches \
		sh -c 'python3 -c "b = bytearray(40 << 20)"; true'
	echo "$output"
	[[ ${lines[0]} =~ ^page-faults,([0-9]+),100.00$ ]]
	[ "${BASH_REMATCH[1]}" -gt 100 ]
	[[ ${lines[1]} =~ ^context-switches,[0-9]+,100.00$ ]]
}

@test "ocount prints CPUs separately, and stops after the given number of intervals" {
	ocount -s -e task-clock true 2>/dev/null && false
	ocount --system-wide -e task-clock -c -b -i 100:2 >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" || {
		grep -q perf_event "$BATS_TEST_TMPDIR/err" && skip "no rights to count the system"
		false
	}
	cat "$BATS_TEST_TMPDIR/out"
	[ "$(grep -c '^timestamp,[0-9.]*$' "$BATS_TEST_TMPDIR/out")" -eq 2 ]
	[ "$(grep -c '^0,task-clock,[0-9]*,100.00$' "$BATS_TEST_TMPDIR/out")" -eq 2 ]
}

# The intervals are much longer than the command runs.
@test "the last, partial interval is shown" {
	local out=$BATS_TEST_TMPDIR/out
	ocount -i 2000000 -b -e page-faults,task-clock true >"$out"
	cat "$out"
	[ "$(grep -c '^timestamp,[0-9.]*$' "$out")" -eq 1 ]
	[ "$(grep -cE '^page-faults,[1-9][0-9]*,100.00$' "$out")" -eq 1 ]
	# The printed time is the elapsed time.
	ocount -i 2000000 --json -e task-clock true >"$out"
	cat "$out"
	python3 -c 'import json, sys; d = json.load(sys.stdin)["duration_ns"]; assert 0 < d < 2e12, d' <"$out"
	# Ctrl-C within the first interval.
	sleep 60 &
	pid=$!
	run -0 --separate-stderr timeout --preserve-status -s INT 3 "$OPROFILE_LINKS/ocount" -i 2000000 -b -e task-clock -p "$pid"
	kill "$pid"
	echo "$output"
	[ "$(grep -c '^task-clock,[0-9]*,' <<<"$output")" -eq 1 ]
}

@test "ocount counts a process with its threads until it ends" {
	sleep 3 &
	pid=$!
	run -0 --separate-stderr ocount -p "$pid" -t -e task-clock,context-switches
	echo "$output"
	[[ $output == *'for the specified process(es):'* ]]
	[[ $output =~ 'Event'' '+'Task ID'' '+'Count' ]]
	[[ $output =~ context-switches' '+$pid' '+[0-9] ]]
	! kill -0 "$pid" 2>/dev/null
	run -1 ocount -r 999999999 -e task-clock
	[[ $output == *'No valid tasks to monitor'* ]]
}

@test "an event that is named twice is counted once" {
	sleep 60 &
	pid=$!
	run -0 --separate-stderr ocount -p "$pid,$pid" -t -b -i 100:1 -e task-clock
	echo "$output"
	[ "$(grep -c "^$pid,task-clock," <<<"$output")" -eq 1 ]
	run -0 --separate-stderr ocount -r "$pid,$pid" -t -b -i 100:1 -e task-clock
	echo "$output"
	kill "$pid"
	[ "$(grep -c "^$pid,task-clock," <<<"$output")" -eq 1 ]
	ocount -C 0,0-0,0 -c -b -i 100:1 -e cpu-clock >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" || {
		grep -q perf_event "$BATS_TEST_TMPDIR/err" && skip "no rights to count the system"
		false
	}
	cat "$BATS_TEST_TMPDIR/out"
	[ "$(grep -c '^0,cpu-clock,' "$BATS_TEST_TMPDIR/out")" -eq 1 ]
}

@test "--repeat prints the minimum, median and maximum; --json prints valid JSON" {
	ocount --repeat 5 --json -e page-faults,task-clock true >"$BATS_TEST_TMPDIR/repeat.json"
	ocount --json --metrics -e page-faults,task-clock true >"$BATS_TEST_TMPDIR/one.json"
	ocount --repeat 4 --metrics --json -e page-faults,task-clock true >"$BATS_TEST_TMPDIR/several.json"
	ocount --repeat 4 --metrics -e page-faults,task-clock true >"$BATS_TEST_TMPDIR/several"
	cat "$BATS_TEST_TMPDIR/several"
	grep -q '^Metrics (median, least, most):$' "$BATS_TEST_TMPDIR/several"
	grep -qE '^	CPUs used +[0-9.e+-]+ +[0-9.e+-]+ +[0-9.e+-]+ *$' "$BATS_TEST_TMPDIR/several"
	python3 - "$BATS_TEST_TMPDIR" <<-'END'
	import json, sys
	data = json.load(open(sys.argv[1] + "/repeat.json"))
	assert data["runs"] == 5
	for row in data["rows"]:
	    assert 0 < row["min"] <= row["median"] <= row["max"], row
	one = json.load(open(sys.argv[1] + "/one.json"))
	faults, clock = one["rows"]
	metric = {m["name"]: m["value"] for m in one["metrics"]}
	rate = faults["count"] / clock["count"] * 1e9
	assert abs(metric["page faults"] - rate) < rate / 1000, (metric, rate)
	used = clock["count"] / one["duration_ns"]
	assert abs(metric["CPUs used"] - used) < used / 1000 + 1e-6, (metric, used)
	several = json.load(open(sys.argv[1] + "/several.json"))
	assert {m["name"] for m in several["metrics"]} == set(metric), several
	for m in several["metrics"]:
	    assert 0 < m["min"] <= m["median"] <= m["max"], m
	END
}

@test "ocount rejects wrong arguments in one line each" {
	run -1 ocount -s -C 0
	[[ $output == 'ocount: give only one of a command'* ]]
	run -1 ocount
	[[ $output == 'ocount: nothing to count'* ]]
	run -1 ocount -C 0-x
	[[ $output == 'ocount: Invalid cpu range.' ]]
	run -1 ocount -C 9999
	[[ $output == 'ocount: Specified CPU 9999 is not valid' ]]
	run -1 ocount -e page-fautls true
	[[ $output == *'(Did you mean page-faults?)'* ]]
	run -1 ocount -i 0 -s
	[[ $output == *'--time-interval 0: expected'* ]]
	run -1 ocount -c true
	[[ $output == *'--separate-cpu requires'* ]]
}

@test "-f writes the table to a file, and nothing into the command's output" {
	run -0 --separate-stderr ocount -f "$BATS_TEST_TMPDIR/file" -e page-faults echo hello
	[ "$output" = hello ]
	grep -q 'page-faults' "$BATS_TEST_TMPDIR/file"
}

@test "counts agree with perf stat" {
	need perf
	script='i=0; while [ $i -lt 60 ]; do /bin/true; i=$((i+1)); done'
	for i in 1 2 3; do
		ocount -b -e page-faults sh -c "$script" | cut -d, -f2 >>"$BATS_TEST_TMPDIR/ours"
		perf stat -x, -e page-faults sh -c "$script" 2>&1 | cut -d, -f1 >>"$BATS_TEST_TMPDIR/perfs"
	done
	ours=$(sort -n "$BATS_TEST_TMPDIR/ours" | sed -n 2p)
	perfs=$(sort -n "$BATS_TEST_TMPDIR/perfs" | sed -n 2p)
	echo "ours $ours, perf $perfs"
	[ "$ours" -gt $((perfs * 9 / 10)) ]
	[ "$ours" -lt $((perfs * 11 / 10)) ]
}
