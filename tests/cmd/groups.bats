# SPDX-License-Identifier: GPL-2.0-or-later
# Event groups whose first event is sampled, and whose other events are read at each sample:
# {a,b}:S.
bats_require_minimum_version 1.5.0
load helpers

setup()
{
	begin_recording_test
	# Touches 5000 pages, then runs for at least half a second.
	cat >"$BATS_TEST_TMPDIR/touch.py" <<'EOF'
import mmap, time
m = mmap.mmap(-1, 5000 * mmap.PAGESIZE)
if hasattr(mmap, "MADV_NOHUGEPAGE"):
    m.madvise(mmap.MADV_NOHUGEPAGE)
for i in range(5000):
    m[i * mmap.PAGESIZE] = 1
end = time.process_time() + 0.5
while time.process_time() < end:
    pass
EOF
}

teardown()
{
	end_recording_test
}

# Prints EVENT,SAMPLES,PERIOD from perf report of the file $1. perf 6.1 sometimes crashes.
by_perf()
{
	for try in 1 2 3 none; do
		[ "$try" != none ] || return 1
		timeout 60 perf report -i "$1" --stdio --no-group --no-children -g none -n -s comm \
			-F sample,period,comm -t ';' >"$BATS_TEST_TMPDIR/perf.txt" 2>"$BATS_TEST_TMPDIR/perf.err" &&
			break
	done
	awk -F';' '/ of events? / { e = $0; sub(/.* of events? ./, "", e); sub(/\x27.*/, "", e) }
		/^ *[0-9]/ { samples[e] += $1; period[e] += $2 }
		END { for (e in period) printf "%s,%d,%d\n", e, samples[e], period[e] }' \
		"$BATS_TEST_TMPDIR/perf.txt" | sort
}

# Prints EVENT,SAMPLES,PERIOD from opreport.
by_event()
{
	opreport "$@" --by event --csv | sed 1d | cut -d, -f1-3 | sort
}

# Prints the sum of the periods of event $1 in $BATS_TEST_TMPDIR/ours.
period()
{
	awk -F, -v e="$1" '$1 == e { sum += $3 } END { print sum + 0 }' "$BATS_TEST_TMPDIR/ours"
}

@test "counts of groups are the same in a session and in perf.data" {
	operf -d "$session" -e '{cpu-clock:1000000,page-faults,context-switches}:S' \
		--perf-data "$BATS_TEST_TMPDIR/p.data" python3 "$BATS_TEST_TMPDIR/touch.py"
	by_event --session-dir "$session" >"$BATS_TEST_TMPDIR/ours"
	cat "$BATS_TEST_TMPDIR/ours"
	# Each page causes a fault, but faults have no samples of their own.
	[ "$(period page-faults)" -ge 5000 ]
	[ "$(period page-faults)" -lt 500000 ]
	[ "$(period cpu-clock)" -ge 400000000 ]
	samples=$(awk -F, '$1 == "page-faults" { n += $2 } END { print n }' "$BATS_TEST_TMPDIR/ours")
	[ "$samples" -lt 5000 ]
	opreport --session-dir "$session" >"$BATS_TEST_TMPDIR/text"
	grep -q '^page-faults was read at the samples of the first event of its group' "$BATS_TEST_TMPDIR/text"
	by_event "$BATS_TEST_TMPDIR/p.data" |
		diff "$BATS_TEST_TMPDIR/ours" -
	need perf
	by_perf "$BATS_TEST_TMPDIR/p.data" >"$BATS_TEST_TMPDIR/perf" || skip "perf cannot report here"
	diff "$BATS_TEST_TMPDIR/ours" "$BATS_TEST_TMPDIR/perf"
}

@test "counts of children in a group are exact" {
	operf -d "$session" -e '{cpu-clock:1000000,page-faults}:S' --callgraph \
		--perf-data "$BATS_TEST_TMPDIR/p.data" \
		sh -c "python3 '$BATS_TEST_TMPDIR/touch.py' & python3 '$BATS_TEST_TMPDIR/touch.py'; wait" 2>"$BATS_TEST_TMPDIR/err"
	cat "$BATS_TEST_TMPDIR/err"
	grep -q 'before Linux 6.12' "$BATS_TEST_TMPDIR/err" && skip "this kernel reads groups of one thread"
	by_event --session-dir "$session" >"$BATS_TEST_TMPDIR/ours"
	cat "$BATS_TEST_TMPDIR/ours"
	[ "$(period page-faults)" -ge 10000 ]
	[ "$(period page-faults)" -lt 1000000 ]
	need perf
	by_perf "$BATS_TEST_TMPDIR/p.data" >"$BATS_TEST_TMPDIR/perf" || skip "perf cannot report here"
	diff "$BATS_TEST_TMPDIR/ours" "$BATS_TEST_TMPDIR/perf"
}

@test "groups recorded by perf have its counts, in reports and in script" {
	need perf
	local file=$BATS_TEST_TMPDIR/perf.data
	for try in 1 2 3 none; do
		[ "$try" != none ] || skip "perf cannot record here"
		perf_record -o "$file" -c 1000000 -e '{cpu-clock,page-faults,context-switches}:S' \
			python3 "$BATS_TEST_TMPDIR/touch.py" && break
	done
	by_perf "$file" >"$BATS_TEST_TMPDIR/perf" || skip "perf cannot report here"
	cat "$BATS_TEST_TMPDIR/perf"
	[ "$(grep -c . "$BATS_TEST_TMPDIR/perf")" -ge 2 ]
	by_event "$file" | diff "$BATS_TEST_TMPDIR/perf" -
	for try in 1 2 3 none; do
		[ "$try" != none ] || skip "perf cannot print here"
		timeout 60 perf script -i "$file" -F comm,tid,time,period,event 2>/dev/null >"$BATS_TEST_TMPDIR/a" && break
	done
	timeout -k 5 60 "$OPROFILE" script "$file" -F comm,tid,time,period,event >"$BATS_TEST_TMPDIR/b"
	[ -s "$BATS_TEST_TMPDIR/a" ]
	diff "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b"
	# A session that is imported from the file has the same counts.
	timeout -k 5 60 "$OPROFILE_LINKS/opimport" --session-dir "$session" "$file"
	by_event --session-dir "$session" | diff "$BATS_TEST_TMPDIR/perf" -
}

@test ":S without a second event in the group is rejected" {
	for events in 'cpu-clock:1000000:S' '{cpu-clock:1000000,page-faults:S}'; do
		run -125 operf -d "$session" -e "$events" true
		echo "$output"
		[[ $output == *'write {'*',OTHER-EVENT}:S' ]]
	done
}

@test "software events of groups are counted system-wide" {
	timeout -k 5 60 "$OPROFILE_LINKS/ocount" -s -b -i 300:3 -e '{cpu-clock,page-faults}' >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" || {
		grep -q perf_event "$BATS_TEST_TMPDIR/err" && skip "no rights to count the system"
		cat "$BATS_TEST_TMPDIR/err"
		false
	} &
	recorder=$!
	while kill -0 $recorder 2>/dev/null; do sleep 0.05; done
	wait $recorder
	recorder=
	cat "$BATS_TEST_TMPDIR/out"
	grep -q '^page-faults,[1-9][0-9]*,100.00$' "$BATS_TEST_TMPDIR/out"
}
