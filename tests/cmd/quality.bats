#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# oprofile quality: how far recordings can be trusted, and the commands that improve them.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	export DIR="$BATS_FILE_TMPDIR"
	export ID=0123456789abcdef0123456789abcdef01234567
	mkdir -p "$DIR/machine/usr/bin" "$DIR/machine/home/u"
	three_functions 64 | sed /globl/d >"$DIR/t.s"
	gcc -nostdlib -shared -s -Wl,--build-id=0x$ID -o "$DIR/machine/usr/bin/t" "$DIR/t.s"
	cp "$DIR/machine/usr/bin/t" "$DIR/machine/home/u/t"
	recording 1 0 | write_segment "$DIR/s/samples/current"
}

setup() {
	unset DEBUGINFOD_URLS
	export HOME=$BATS_TEST_TMPDIR
}

# recording START_NS WALL_DRIFT_NS: describes a segment of one boot.
recording() {
	cat <<-END
		info|2000|Some CPU|host||$1|0|6.1|boot-1|$((1700000000000000000 + $1 + $2))
		event|CPU_CLK_UNHALTED|cycles|11|0|997|0
		event|PRECISE|precise cycles|35|100000|0|0
		event|TIMER|timer|7|0|99|0
		image|1|/usr/bin/t|$ID
		image|1|/home/u/t|$ID
		image|1|/nonexistent/a b
		image|2|[kernel.kallsyms]
		thread|1|1|t|0|0|
		sample|0|0|0|$1|1|0+64;0+128;T|60
		sample|0|0|0|$1|1|1+64|20
		sample|0|1|0|$1|1|2+64|10
		sample|0|2|0|$1|1|3+64|10
		totals|5|3|0|250000000
		share|0|5000
	END
}

quality() {
	timeout -k 5 60 "$OPROFILE" quality "$@"
}

# ask EXPRESSION: evaluates it with q, the JSON on standard input.
ask() {
	python3 -c "import json, sys
d = json.load(sys.stdin)
q = d['quality']
$1"
}

@test "quality prints the shares of unreliable samples without a report" {
	run -0 --separate-stderr quality --session-dir "$DIR/s" --root "$DIR/machine"
	[ "${lines[0]}" = "Quality of this profile:" ]
	grep -qE '^  lost +5 +4\.7619 %  samples lost' <<<"$output"
	grep -qE '^  throttled +3 ' <<<"$output"
	grep -qE '^  truncated +60 60\.0000 %' <<<"$output"
	grep -qE '^  multiplexed +50\.0000 %  of the time, CPU_CLK_UNHALTED had a counter' <<<"$output"
	grep -qE '^  skid +80 80\.0000 %  of events that are not precise.* record EVENT:pp' <<<"$output"
	grep -qE '^  drift +0\.000 ' <<<"$output"
	grep -qE '^  recorder +0\.250 +CPU seconds used by the recorder' <<<"$output"
}

@test "quality names the command that repairs each unresolved image" {
	run -0 --separate-stderr quality --session-dir "$DIR/s" --root "$DIR/machine"
	grep -A1 "/usr/bin/t (build-id $ID): stripped; install its debug symbols" <<<"$output" |
		grep -qE '^ +fix: export DEBUGINFOD_URLS=https://debuginfod\.[a-z.]+$'
	grep -A1 "/home/u/t (build-id $ID): stripped" <<<"$output" |
		grep -qE '^ +fix: build it with -g -Wl,--build-id, and do not strip it$'
	grep -A1 "/nonexistent/a b (build-id unknown): not found" <<<"$output" |
		grep -qE "^ +fix: oprofile where '/nonexistent/a b'$"
	grep -A1 'no-vmlinux.* kernel symbols were hidden' <<<"$output" |
		grep -qE '^ +fix: sudo sysctl kernel\.kptr_restrict=0$'

	# If the servers do not have the file, the package can.
	export DEBUGINFOD_URLS=http://127.0.0.1:9
	quality --session-dir "$DIR/s" --root "$DIR/machine" --debuginfod-timeout 1 --json 2>/dev/null |
		ask "fixes = {i['image']: i['fix'] for i in q['unresolved_images']}
assert 'DEBUGINFOD_URLS' not in fixes['/usr/bin/t'] and fixes['/usr/bin/t'], fixes
assert '/usr/bin/t' in fixes['/usr/bin/t'] or '$ID'[2:] in fixes['/usr/bin/t'], fixes"
}

@test "quality and opreport --quality print the same numbers" {
	quality --session-dir "$DIR/s" --json >"$BATS_TEST_TMPDIR/alone"
	opreport --session-dir "$DIR/s" --by image --json --quality >"$BATS_TEST_TMPDIR/footer"
	ask "assert d['schema'] == 'oprofile-quality/1' and q['skid'] == 80 and q['lost'] == 5
assert [e['counted_percent'] for e in q['events'] if e['event'] == 'CPU_CLK_UNHALTED'] == [50]
assert q == json.load(open('$BATS_TEST_TMPDIR/footer'))['quality']" <"$BATS_TEST_TMPDIR/alone"
	diff <(quality --session-dir "$DIR/s") \
		<(opreport --session-dir "$DIR/s" --by image --quality | sed -n '/^Quality/,$p')
}

@test "quality only counts the selected samples" {
	quality --session-dir "$DIR/s" --json lib-image:/usr/bin/t event:CPU_CLK_UNHALTED |
		ask "assert q['samples'] == 60 and q['truncated'] == 60, q"
}

@test "drift is the distance that the clocks of later segments of a boot moved" {
	recording 1000000000 0 | write_segment "$BATS_TEST_TMPDIR/s/samples/current"
	recording 60000000000 -1500000000 |
		"$WRITE_SESSION" "$BATS_TEST_TMPDIR/s/samples/current/segment-000002"
	quality --session-dir "$BATS_TEST_TMPDIR/s" --json |
		ask "assert q['drift_ns'] == 1500000000 and q['segments'] == 2, q"
	quality --session-dir "$BATS_TEST_TMPDIR/s" | grep -qE '^  drift +1\.500 '
}

@test "quality reads perf.data, whose recorder's cost is unknown" {
	need_data
	run -0 --separate-stderr quality "$DATA/armhf/perf.dwarf.data"
	grep -qE '^  truncated +[0-9]+ ' <<<"$output"
	grep -qE '^  recorder +unknown +not in this recording$' <<<"$output"
	run ! grep -q '^  drift' <<<"$output"
}

@test "quality prints the cost of a live recording" {
	need_recording
	mkdir "$BATS_TEST_TMPDIR/live"
	operf --session-dir "$BATS_TEST_TMPDIR/live" -- \
		python3 -c 'import time
t = time.time()
while time.time() < t + 0.5: pass' 2>/dev/null
	quality --session-dir "$BATS_TEST_TMPDIR/live" --json |
		ask "assert 0.4e9 < q['recorded_ns'] < 60e9, q
assert 0 < q['recorder_cpu_ns'] < q['recorded_ns'], q"
	quality --session-dir "$BATS_TEST_TMPDIR/live" |
		grep -qE '^  recorder +[0-9.]+ +CPU seconds used by the recorder \([0-9.]+ % of one CPU\)$'
}

@test "quality fails without samples, and for wrong calls" {
	run -1 --separate-stderr quality --session-dir "$BATS_TEST_TMPDIR/none"
	[ -n "$stderr" ] && [ -z "$output" ]
	run -1 quality --session-dir "$DIR/s" comm:other
	run -1 quality --csv
	printf 'no recording' >"$BATS_TEST_TMPDIR/x.data"
	run -1 quality --input "$BATS_TEST_TMPDIR/x.data"
}

@test "quality prints an incomplete recording with status 3" {
	mkdir -p "$BATS_TEST_TMPDIR/cut/samples/current"
	head -c -1 "$DIR/s/samples/current/segment-000001" \
		>"$BATS_TEST_TMPDIR/cut/samples/current/segment-000001"
	run -3 --separate-stderr quality --session-dir "$BATS_TEST_TMPDIR/cut"
	grep -q '^Quality of this profile:' <<<"$output"
}

@test "quality escapes control characters of image names" {
	{
		printf 'escapes\n'
		recording 1 0 | sed 's,/home/u/t,/home/\\x1b[31m,'
	} | write_segment "$BATS_TEST_TMPDIR/e/samples/current"
	quality --session-dir "$BATS_TEST_TMPDIR/e" >"$BATS_TEST_TMPDIR/out"
	run ! grep -q $'\x1b' "$BATS_TEST_TMPDIR/out"
	grep -q '/home/' "$BATS_TEST_TMPDIR/out"
}

@test "quality -o writes a file" {
	quality --session-dir "$DIR/s" -o "$BATS_TEST_TMPDIR/file"
	diff "$BATS_TEST_TMPDIR/file" <(quality --session-dir "$DIR/s")
}
