#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# oprofile info: properties of a recording, compared with perf.

bats_require_minimum_version 1.5.0
load helpers

info()
{
	timeout -k 5 60 "$OPROFILE" info "$@"
}

# ask EXPRESSION FILE...: evaluates it with r, the list of recordings in the JSON of these files.
ask()
{
	local expression=$1
	shift
	info --json "$@" | python3 -c "import json, sys
r = json.load(sys.stdin)['recordings']
$expression"
}

# Prints "name samples" for each event, as perf counts them.
perf_samples()
{
	perf report -i "$1" --stats --stdio 2>/dev/null </dev/null |
		awk '/ stats:$/ && !/Aggregated/ { sub(/ stats:$/, ""); name = $0 }
			name != "" && /SAMPLE events:/ { print name, $3 }' | sort
}

our_samples()
{
	ask 'for e in r[0]["events"]:
    if e["samples"]: print(e["name"], e["samples"])' "$1" | sort
}

@test "info prints the machine and command as perf report --header does" {
	need_data
	info "$DATA/s390x/perf.z.data" >"$BATS_TEST_TMPDIR/out"
	grep -qx '  Byte order: *big' "$BATS_TEST_TMPDIR/out"
	grep -qx '  Os release: *6.1.0-50-s390x' "$BATS_TEST_TMPDIR/out"
	grep -qx '  Arch: *s390x' "$BATS_TEST_TMPDIR/out"
	grep -qx '  Cpu: *IBM/S390' "$BATS_TEST_TMPDIR/out"
	grep -q '  Command: */usr/bin/perf record .* -z' "$BATS_TEST_TMPDIR/out"
	grep -q '  Features: .* CMDLINE .* COMPRESSED' "$BATS_TEST_TMPDIR/out"
	[ "$(ask 'print(r[0]["memory_kb"])' "$DATA/perf-history/perf.data.armv7-3.4")" = 2067704 ]
}

@test "info prints the attributes of an event as perf evlist -v does" {
	need_data
	# perf lists the bits of the sample type in its own order.
	ask 'e = r[0]["events"][0]
print(e["name"], e["frequency_hz"], "|".join(sorted(e["sample_type"].split("|"))))
print(e["read_format"], e["flags"], e["regs_user"], e["attr_bytes"])' \
		"$DATA/arm64/perf.full.data" >"$BATS_TEST_TMPDIR/out"
	diff -u - "$BATS_TEST_TMPDIR/out" <<'END'
cpu-clock 4000 ADDR|CALLCHAIN|CPU|DATA_SRC|IDENTIFIER|IP|PERIOD|REGS_USER|TID|TIME
ID|LOST disabled inherit sample_id_all exclude_guest 0x40000000 128
END
}

@test "info counts the samples of each event as perf report --stats does" {
	need_data
	local f
	for f in "$DATA"/perf-history/perf.data.{armv7-3.4,group_desc-4.14,intel_pt-4.14} \
		"$DATA"/*/perf.{full,tp}.data; do
		perf_samples "$f" >"$BATS_TEST_TMPDIR/perf"
		[ -s "$BATS_TEST_TMPDIR/perf" ]
		our_samples "$f" | diff -u "$BATS_TEST_TMPDIR/perf" -
	done
}

@test "info counts the records of each kind as perf report --stats does" {
	need_data
	local f
	for f in "$DATA"/arm64/perf.{full,z,pipe,tp}.data "$DATA"/s390x/perf.z.data; do
		perf report -i "$f" --stats --stdio 2>/dev/null </dev/null |
			awk '/^Aggregated/ { all = 1; next } / stats:$/ { exit }
				all && / events:/ { print $1, $3 }' |
			sort >"$BATS_TEST_TMPDIR/perf"
		[ -s "$BATS_TEST_TMPDIR/perf" ]
		ask 'print("TOTAL", sum(k["count"] for k in r[0]["records"]))
for k in r[0]["records"]: print(k["kind"], k["count"])' "$f" | sort |
			diff -u "$BATS_TEST_TMPDIR/perf" -
	done
}

@test "info reads a pipe, and several files at once" {
	need_data
	local pipe=$DATA/armhf/perf.pipe.data
	cat "$pipe" | info - >"$BATS_TEST_TMPDIR/pipe"
	info "$pipe" | tail -n +2 | diff - <(tail -n +2 "$BATS_TEST_TMPDIR/pipe")
	[ "$(ask 'print(len(r))' "$pipe" "$DATA/armhf/perf.data")" = 2 ]
}

@test "info reports the missing bytes of a truncated file and exits with 3" {
	need_data
	head -c 100000 "$DATA/arm64/perf.data" >"$BATS_TEST_TMPDIR/cut"
	run info "$BATS_TEST_TMPDIR/cut"
	[ "$status" -eq 3 ]
	[[ "$output" == *"Missing bytes:"*" 363408"* ]]
}

@test "info rejects a file that is not a recording in one line" {
	echo hello, this is a text >"$BATS_TEST_TMPDIR/text"
	run info "$BATS_TEST_TMPDIR/text"
	[ "$status" -eq 1 ]
	[ "$output" = "oprofile info: '$BATS_TEST_TMPDIR/text' is not a perf.data file" ]
	run info "$BATS_TEST_TMPDIR/nothing"
	[ "$status" -eq 1 ]
	[[ "$output" == *"nothing': No such file or directory" ]]
	mkdir "$BATS_TEST_TMPDIR/empty"
	run info "$BATS_TEST_TMPDIR/empty"
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == *"$BATS_TEST_TMPDIR/empty"* ]]
}

@test "info prints the facts of a session" {
	local samples=$BATS_TEST_TMPDIR/oprofile_data/samples
	mkdir -p "$samples/current"
	"$WRITE_SESSION" "$samples/current/segment-000000" <<'END'
info|0|A CPU|somewhere||0|0|
event|TIMER|time on the CPU|1|0|997|0
image|1|/bin/x||0|0|0
thread|7|7|x|0|0|
sample|0|0|0|1000|5|0+16|3
sample|0|0|1|2000|5|0+32|4
END
	run info "$BATS_TEST_TMPDIR/oprofile_data"
	[ "$status" -eq 0 ]
	[[ "$output" == *"session of oprofile"* ]]
	[[ "$output" == *"Host: "*" somewhere"* ]]
	[[ "$output" == *"Event TIMER"* ]]
	[[ "$output" == *"Samples:"*" 7"* ]]
	cd "$BATS_TEST_TMPDIR"
	[ "$(ask 'print(len(r), r[0]["events"][0]["samples"])')" = "1 7" ]
}
