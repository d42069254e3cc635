#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# `oprofile import`: a session has the same contents as the file it was made from.

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
	new_session
}

import()
{
	timeout -k 5 60 "$OPROFILE" import --session-dir "$session" "$@"
}

# same FILE REPORT-OPTION...: checks that the reports of the file and of the session are the same.
same()
{
	local file=$1
	shift
	opreport "$@" "$file" >"$BATS_TEST_TMPDIR/file" 2>/dev/null || [ $? -eq 3 ]
	opreport "$@" --session-dir "$session" 2>/dev/null |
		diff -u "$BATS_TEST_TMPDIR/file" -
}

same_views()
{
	same "$1" --by event,comm,image --csv
	same "$1" --by comm,pid,tid,cpu,symbol --csv --show-total-period
	same "$1" --by app,cgroup,origin,address,time:10ms --csv
	same "$1" --symbols
	same "$1"
	same "$1" --by event,comm --csv --quality
}

@test "an imported recording of another machine has the same counts in every view" {
	need_data
	local f
	for f in "$DATA"/perf-history/perf.data.{armv7-3.4,forkexit-3.8,callgraph_and_branch-3.4} \
		"$DATA"/perf-history/perf.data.piped.* \
		"$DATA"/arm64/perf.{data,pipe.data} "$DATA"/s390x/perf.{data,z.data,pipe.data}; do
		import "$f"
		same_views "$f"
	done
}

@test "an imported recording of this machine has the same counts in every view" {
	need_recording
	local data=$BATS_TEST_TMPDIR/perf.data
	perf_record -g -a -o "$data" -F 1999 -e cpu-clock,page-faults -- \
		sh -c 'for i in 1 2 3 4 5 6 7 8 9; do ls -lR /usr/include >/dev/null; done'
	import "$data"
	same_views "$data"
	# Call chains are kept: samples have more than one frame.
	"$OPROFILE" dump "$session" | grep -q ';.*;'
}

@test "several imported files become one session with all their samples" {
	need_data
	local one=$DATA/arm64/perf.data two=$DATA/s390x/perf.data
	import "$one" "$two"
	[ "$(ls "$session/samples/current")" = "checksums
segment-000001
segment-000002" ]
	opreport --by event,comm,image,host --csv "$one" "$two" >"$BATS_TEST_TMPDIR/files"
	opreport --by event,comm,image,host --csv --session-dir "$session" |
		diff -u "$BATS_TEST_TMPDIR/files" -
}

@test "a profile specification selects the samples to import" {
	need_data
	local file=$DATA/perf-history/perf.data.forkexit-3.8
	import "$file" cpu:0
	opreport --by comm,image,cpu --csv "$file" cpu:0 >"$BATS_TEST_TMPDIR/file"
	opreport --by comm,image,cpu --csv --session-dir "$session" |
		diff -u "$BATS_TEST_TMPDIR/file" -
	run import "$file" comm:nobody
	[ "$status" -eq 1 ]
	[[ "$output" == *"too strict"* ]]
	# The earlier session still exists.
	opreport --session-dir "$session" >/dev/null
}

@test "import handles current, previous, --name and --force" {
	need_data
	import "$DATA/arm64/perf.tp.data"
	import "$DATA/armhf/perf.tp.data"
	[ -e "$session/samples/previous/segment-000001" ]
	import --name tp "$DATA/s390x/perf.tp.data"
	same "$DATA/armhf/perf.tp.data" --by comm --csv
	run import --name tp "$DATA/armhf/perf.tp.data"
	[ "$status" -eq 1 ]
	[[ "$output" == *"--force"* ]]
	import --force --name tp "$DATA/armhf/perf.tp.data"
	opreport --by comm,image --csv "$DATA/armhf/perf.tp.data" >"$BATS_TEST_TMPDIR/file"
	opreport --by comm,image --csv --session-dir "$session" session:tp |
		diff -u "$BATS_TEST_TMPDIR/file" -
	for name in a/b .x current ''; do
		run import --name "$name" "$DATA/armhf/perf.tp.data"
		[ "$status" -eq 1 ]
		[ "${#lines[@]}" -eq 1 ]
	done
	# The failed import leaves no files.
	[ "$(ls -A "$session/samples" | sort | tr '\n' ' ')" = ".lock current previous tp " ]
}

@test "opimport is import, and rejects --abi without --output" {
	need_data
	"$OPROFILE_LINKS/opimport" --session-dir "$session" "$DATA/arm64/perf.tp.data"
	run "$OPROFILE_LINKS/opimport" -a x "$DATA/arm64/perf.tp.data"
	[ "$status" -eq 1 ]
	[[ "$output" == *"--abi is meaningless without --output"* ]]
}

@test "import rejects a file that is not a perf.data in one line and creates no session" {
	for word in /etc/passwd /nowhere; do
		run import "$word"
		[ "$status" -eq 1 ]
		[ "${#lines[@]}" -eq 1 ]
		[[ "$output" == *"$word"* ]]
	done
	[ ! -e "$session/samples/current" ]
}

@test "import reads a truncated file up to the damage and exits with 3" {
	need_data
	head -c 100000 "$DATA/arm64/perf.data" >"$BATS_TEST_TMPDIR/cut"
	run import "$BATS_TEST_TMPDIR/cut"
	[ "$status" -eq 3 ]
	[[ "$output" == *"incomplete"*"363408 bytes missing"* ]]
	same "$BATS_TEST_TMPDIR/cut" --by comm,image --csv
}

@test "import on a full disk exits with 1 in one line and keeps the previous session" {
	need_root
	need_data
	local disk=$BATS_TEST_TMPDIR/disk
	mkdir "$disk"
	mount -t tmpfs -o size=64k none "$disk" || skip "no mount here"
	mkdir "$disk/samples" "$disk/samples/current"
	echo old >"$disk/samples/current/segment-000001"
	run timeout 60 "$OPROFILE" import --session-dir "$disk" \
		"$DATA/perf-history/perf.data.forkexit-3.8"
	local left
	left=$(ls -A "$disk/samples"; cat "$disk/samples/current/segment-000001")
	umount "$disk"
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == *"No space"* ]]
	[ "$left" = ".lock
current
old" ]
}

@test "time: imports an interval; selections that need names are rejected" {
	need_data
	local file=$DATA/arm64/perf.data
	import "$file" time:1s-2s
	opreport --by comm,image --csv "$file" time:1s-2s >"$BATS_TEST_TMPDIR/file"
	opreport --by comm,image --csv --session-dir "$session" |
		diff -u "$BATS_TEST_TMPDIR/file" -
	import "$file" time:20%-40%
	run import "$file" symbol:main
	[ "$status" -eq 1 ]
	[[ "$output" == *"symbol:"* ]]
}
