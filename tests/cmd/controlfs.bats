#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# oprofile controlfs: the daemon's keys as files.

bats_require_minimum_version 1.5.0
load helpers

setup()
{
	export OPROFILE_RUN_DIR=$BATS_TEST_TMPDIR/run
	export OPROFILE_SETUP_DIR=$BATS_TEST_TMPDIR/etc
	daemon=
	mounted=
	# A directory that other users can search.
	public=$(mktemp -d)
	chmod 755 "$public"
	fs=$public/oprofile
	mkdir "$fs"
}

teardown()
{
	[ -z "$mounted" ] || umount "$fs"
	rmdir "$fs" "$public"
	[ -z "$daemon" ] || kill -KILL "$daemon" 2>/dev/null || true
	wait
}

need_fuse()
{
	need_root
	need python3
	need umount
	"$OPROFILE" --version | grep -q 'libfuse3 *[0-9]' || skip "built without libfuse3: NOT TESTED"
	[ -r /dev/fuse ] && [ -w /dev/fuse ] || skip "/dev/fuse cannot be used here: NOT TESTED"
	mkdir -p "$BATS_TEST_TMPDIR/mount"
	mount -t tmpfs none "$BATS_TEST_TMPDIR/mount" || skip "nothing can be mounted here: NOT TESTED"
	umount "$BATS_TEST_TMPDIR/mount"
}

start_stand_in()
{
	asked=$BATS_TEST_TMPDIR/asked
	: >"$asked"
	python3 "$SOURCE_ROOT/tests/cmd/stand_in_daemon.py" "$OPROFILE_RUN_DIR" "$asked" \
		key:enable=0644:0 key:dump=0666:0 key:cpu_type=0444:timer \
		key:0/event=0644:60 key:0/count=0644:100000 key:last_error=0444: \
		key:stats/cpu0/sample_received=0444:41 key:stats/event_lost_overflow=0444:0 \
		3>&- &
	daemon=$!
	wait_for "$asked" '^listening'
}

mount_files()
{
	"$OPROFILE" controlfs "$fs" 3>&- || {
		grep -q fuse /proc/filesystems || skip "the kernel has no FUSE: NOT TESTED"
		return 1
	}
	mounted=1
}

@test "the control files are those of OProfile's kernel module" {
	need_fuse
	start_stand_in
	mount_files
	diff <(cd "$fs" && find . -printf '%M %P\n' | sort -k 2) - <<-END
		drwxr-xr-x 
		drwxr-xr-x 0
		-rw-r--r-- 0/count
		-rw-r--r-- 0/event
		-r-------- buffer
		-r--r--r-- cpu_type
		drwxr-xr-x dcookies
		-rw-rw-rw- dump
		-rw-r--r-- enable
		-r--r--r-- last_error
		drwxr-xr-x stats
		drwxr-xr-x stats/cpu0
		-r--r--r-- stats/cpu0/sample_received
		-r--r--r-- stats/event_lost_overflow
	END
	[ "$(cat "$fs"/stats/cpu*/sample_received)" = 41 ]
	[ "$(cat "$fs/cpu_type")" = timer ]
	[ ! -e "$fs/colour" ]
	[ ! -e "$fs/0/colour" ]
	run -1 "$OPROFILE" controlfs "$fs"
	[ "$output" = "oprofile controlfs: '$fs': the control files are already mounted there" ]
}

@test "writing a control file changes the setting, and last_error explains a failure" {
	need_fuse
	start_stand_in
	mount_files
	echo 1 >"$fs/enable"
	[ "$(cat "$fs/enable")" = 1 ]
	printf 2500 >"$fs/0/count"
	[ "$(cat "$fs/0/count")" = 2500 ]
	run bash -c 'echo lots >"$1/0/count"' - "$fs"
	[ "$status" -eq 1 ]
	[[ "$output" == *"Invalid argument"* ]]
	[ "$(cat "$fs/last_error")" = "0/count: lots is no number" ]
	[ "$(cat "$fs/0/count")" = 2500 ]
	run bash -c 'echo 1 >"$1/new"' - "$fs"
	[ "$status" -eq 1 ]
	grep -qx 'set enable 1' "$asked"
}

@test "other users can read all control files, and write only dump" {
	need_fuse
	need setpriv
	start_stand_in
	mount_files
	others() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
	[ "$(others cat "$fs/cpu_type")" = timer ]
	others bash -c 'echo 1 >"$1/dump"' - "$fs"
	grep -qx 'set dump 1' "$asked"
	# Many requests use up their common budget, which root does not need.
	run others bash -c 'for i in {1..2000}; do cat "$1/cpu_type" >/dev/null || exit 1; done' - "$fs"
	[ "$status" -eq 1 ]
	[[ "$output" == *"Resource temporarily unavailable"* ]]
	for i in {1..50}; do
		[ "$(cat "$fs/cpu_type")" = timer ]
	done
	run others bash -c 'echo 1 >"$1/enable"' - "$fs"
	[ "$status" -ne 0 ]
	for file in buffer dcookies/7; do
		run others cat "$fs/$file"
		[ "$status" -ne 0 ]
		[[ "$output" == *"Permission denied"* ]]
	done
}

@test "the buffer contains samples, and dcookies names their binaries" {
	need_fuse
	start_stand_in
	mount_files
	# One record is available; no more arrive, and the reader can be interrupted.
	timeout 20 head -c 32 "$fs/buffer" >"$BATS_TEST_TMPDIR/words"
	[ "$(od -An -v -t u8 -w8 "$BATS_TEST_TMPDIR/words" | tr -d ' ' | paste -s -d ' ')" = \
		"18446744073709551615 2 1 4198400" ]
	diff "$fs/dcookies/7" - <<-END
		/bin/a b
		0abc
	END
	run cat "$fs/dcookies/8"
	[ "$status" -eq 1 ]
}

@test "a blocked reader does not block others" {
	need_fuse
	start_stand_in
	mount_files
	cat "$fs/buffer" >"$BATS_TEST_TMPDIR/words" 3>&- &
	reader=$!
	wait_for "$asked" '^stream'
	[ "$(timeout 20 cat "$fs/cpu_type")" = timer ]
	kill "$reader"
	wait "$reader" || true
	[ "$(stat -c %s "$BATS_TEST_TMPDIR/words")" -eq 32 ]
}

@test "the control files work when the daemon starts later or restarts" {
	need_fuse
	mount_files
	[ -z "$(ls "$fs")" ]
	start_stand_in
	wait_for "$fs/cpu_type" timer
	kill -KILL "$daemon"
	wait "$daemon" || true
	rm "$OPROFILE_RUN_DIR/control"
	run cat "$fs/cpu_type"
	[ "$status" -eq 1 ]
	start_stand_in
	wait_for "$fs/cpu_type" timer
}

@test "a stale mount of a dead server is replaced" {
	need_fuse
	start_stand_in
	mount_files
	pkill -KILL -f "oprofile controlfs $fs\$"
	for ((i = 0; i < 50; i++)); do
		[ -e "$fs/enable" ] || break
		sleep 0.1
	done
	[ ! -e "$fs/enable" ]
	"$OPROFILE" controlfs "$fs" 2>"$BATS_TEST_TMPDIR/said" 3>&-
	[ ! -s "$BATS_TEST_TMPDIR/said" ]
	[ "$(cat "$fs/enable")" = 0 ]
	[ "$(grep -c " $fs " /proc/self/mounts)" -eq 1 ]
}

@test "in the foreground, a signal unmounts the control files" {
	need_fuse
	start_stand_in
	"$OPROFILE" controlfs --foreground "$fs" 3>&- &
	pid=$!
	wait_for "$fs/cpu_type" timer
	kill -TERM "$pid"
	wait "$pid"
	[ -z "$(ls "$fs")" ]
	[ -z "$(grep "$fs " /proc/self/mounts)" ]
}

@test "a failed mount is reported with its reason" {
	run "$OPROFILE" controlfs
	[ "$status" -eq 1 ]
	run "$OPROFILE" controlfs "$BATS_TEST_TMPDIR/none"
	[ "$status" -eq 1 ]
	[ "$output" = "oprofile controlfs: cannot stat '$BATS_TEST_TMPDIR/none': No such file or directory" ]
	touch "$BATS_TEST_TMPDIR/file"
	run "$OPROFILE" controlfs "$BATS_TEST_TMPDIR/file"
	[ "$status" -eq 1 ]
}

# ---- the daemon itself ----

# begin_real OPTION...
begin_real()
{
	need_fuse
	need_recording
	"$OPROFILE_LINKS/oprofiled" --paused --session-dir "$session" "$@" 3>&-
	daemon=$(cat "$OPROFILE_RUN_DIR/lock")
	mount_files
}

# value FILE
value()
{
	cat "$fs/$1"
}

@test "a script can profile with the control files alone" {
	new_session
	begin_real
	[ "$(value enable)" = 0 ]
	[ -n "$(value cpu_type)" ]
	[ "$(value pointer_size)" = "$(($(getconf LONG_BIT) / 8))" ]
	echo TIMER >"$fs/0/event"
	echo 1 >"$fs/0/enabled"
	echo 1 >"$fs/0/user"
	echo 1 >"$fs/0/kernel"
	echo 16 >"$fs/backtrace_depth"
	[ "$(value backtrace_depth)" = 16 ]
	run bash -c 'echo deep >"$1/backtrace_depth"' - "$fs"
	[ "$status" -eq 1 ]
	[[ "$(value last_error)" == *deep* ]]
	cat "$fs/buffer" >"$BATS_TEST_TMPDIR/words" 3>&- &
	reader=$!
	echo 1 >"$fs/enable"
	[ "$(value enable)" = 1 ]
	# Repeat until a dump has samples.
	for ((i = 0; i < 100; i++)); do
		timeout 0.2 sh -c 'while :; do :; done' || true
		echo 1 >"$fs/dump"
		received=$(cat "$fs"/stats/cpu*/sample_received | awk '{ sum += $1 } END { print sum }')
		[ "$received" -eq 0 ] || [ ! -s "$BATS_TEST_TMPDIR/words" ] || break
	done
	cat "$fs"/stats/cpu*/*
	[ "$received" -gt 0 ]
	[ "$(reported_samples)" -gt 0 ]
	echo 0 >"$fs/enable"
	[ "$(value enable)" = 0 ]
	# The first word is the escape code of a CPU switch.
	for ((i = 0; i < 300; i++)); do
		[ ! -s "$BATS_TEST_TMPDIR/words" ] || break
		sleep 0.1
	done
	od -An -v -t u8 -w8 "$BATS_TEST_TMPDIR/words" | head -24
	[ "$(od -An -v -t u8 -w8 -N16 "$BATS_TEST_TMPDIR/words" | tr -d ' ' | paste -s -d ' ')" = \
		"18446744073709551615 2" ] || [ "$(getconf LONG_BIT)" -eq 32 ]
	value dcookies/1 | grep -q '^[/[]'
	"$OPROFILE_LINKS/opcontrol" --shutdown
	# The stream ends with the daemon.
	wait "$reader"
}


@test "events that the script does not write keep their settings" {
	new_session
	begin_real --event page-faults --event context-switches:10,minor-faults:30,major-faults:40 \
		--event cpu-migrations:50,alignment-faults:60,emulation-faults:70,cgroup-switches:80 \
		--event page-faults:90:0:1:0
	echo 6 >"$fs/1/count"
	echo 0 >"$fs/2/enabled"
	echo 1 >"$fs/2/enabled"
	"$OPROFILE" status --json >"$BATS_TEST_TMPDIR/status"
	python3 -c '
import json, sys
print(*json.load(open(sys.argv[1]))["events"], sep="\n")' "$BATS_TEST_TMPDIR/status" | diff - <(cat <<-END
		page-faults:0:0:1:1
		context-switches:6:0:1:1
		minor-faults:30:0:1:1
		major-faults:40:0:1:1
		cpu-migrations:50:0:1:1
		alignment-faults:60:0:1:1
		emulation-faults:70:0:1:1
		cgroup-switches:80:0:1:1
		page-faults:k:90:0:1:0
	END
	)
	"$OPROFILE_LINKS/opcontrol" --shutdown
}

@test "an invalid value is rejected with a reason" {
	new_session
	begin_real
	echo page-faults >"$fs/0/event"
	echo 77 >"$fs/0/count"
	run ! bash -c 'printf "a\0b" >"$1/0/event"' - "$fs"
	[[ "$(value last_error)" == '0/event: expected the name of an event, not "a,b,"' ]]
	run ! bash -c 'head -c 3000 /dev/zero | tr "\0" 1 >"$1/0/count"' - "$fs"
	[[ "$(value last_error)" == '0/count: expected a number, not "1111'* ]]
	run ! bash -c 'exec 5>"$1/0/count"; echo 78 >&5; echo 79 >&5' - "$fs"
	[[ "$(value last_error)" == '0/count: expected a number, not "79'* ]]
	[ "$(value 0/count)" = 78 ]
	[ "$(value 0/event)" = page-faults ]
	"$OPROFILE_LINKS/opcontrol" --shutdown
}
