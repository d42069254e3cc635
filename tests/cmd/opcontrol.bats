#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# opcontrol: its arguments, its file and its messages, which are those of OProfile.

load helpers
bats_require_minimum_version 1.5.0

setup()
{
	export OPROFILE_RUN_DIR=$BATS_TEST_TMPDIR/run
	export OPROFILE_SETUP_DIR=$BATS_TEST_TMPDIR/etc
	export OPROFILE_FS_DIR=$BATS_TEST_TMPDIR/fs
	new_session
	rc=$OPROFILE_SETUP_DIR/daemonrc
	daemon=
	public=
}

teardown()
{
	[ -z "$daemon" ] || kill -KILL "$daemon" 2>/dev/null || true
	wait
	! mountpoint -q "$OPROFILE_FS_DIR" || umount -l "$OPROFILE_FS_DIR"
	[ -z "$public" ] || rm -r "$public"
}

opcontrol()
{
	timeout -k 5 60 "$OPROFILE_LINKS/opcontrol" "$@"
}

# stand_in [VERB=REPLY]...: starts a fake daemon with these replies; $asked lists its requests.
stand_in()
{
	need python3
	asked=$BATS_TEST_TMPDIR/asked
	: >"$asked"
	python3 "$SOURCE_ROOT/tests/cmd/stand_in_daemon.py" "$OPROFILE_RUN_DIR" "$asked" "$@" 3>&- &
	daemon=$!
	wait_for "$asked" '^listening'
}

# has KEY VALUE [FILE]: checks that the settings file contains KEY=VALUE.
has()
{
	grep -qxF "$1=$2" "${3:-$rc}" || {
		cat "${3:-$rc}"
		return 1
	}
}

@test "opcontrol stores settings as OProfile did, and keeps unknown ones" {
	need_root
	opcontrol --setup --no-vmlinux --session-dir="$session" --separate=kernel,thread
	has VMLINUX none
	has SESSION_DIR "$session"
	has SEPARATE_LIB 1
	has SEPARATE_KERNEL 1
	has SEPARATE_THREAD 1
	has SEPARATE_CPU 0
	has NR_CHOSEN 0
	[ "$(stat -c %a "$rc")" = 644 ]
	echo MY_OWN=1 >>"$rc"
	opcontrol -p=none --callgraph=12 --buffer-size=65536 --image=/bin/a,/bin/b -i /bin/c
	has SEPARATE_LIB 0
	has SEPARATE_THREAD 0
	has CALLGRAPH 12
	has BUF_SIZE 65536
	has IMAGE_FILTER /bin/a,/bin/b,/bin/c
	has MY_OWN 1
	has VMLINUX none
	opcontrol -i=all -c 0
	has IMAGE_FILTER ''
	has CALLGRAPH 0
}

@test "the metrics address is stored and shown" {
	need_root
	opcontrol --metrics-listen=127.0.0.1:9100
	has METRICS_LISTEN 127.0.0.1:9100
	run opcontrol --metrics-listen=0.0.0.0:9100
	[ "$status" -eq 1 ]
	[ "$output" = 'opcontrol: --metrics-listen: "0.0.0.0:9100": metrics are only served locally, at 127.0.0.1 or [::1]' ]
	has METRICS_LISTEN 127.0.0.1:9100
	stand_in 'status=state paused|ok'
	opcontrol --metrics-listen=none
	grep -q 'METRICS_LISTEN=none' "$asked"
}

@test "new events replace all earlier ones" {
	need_root
	opcontrol --event=page-faults:100 --event=context-switches:7:0:1:0
	has CHOSEN_EVENTS_0 page-faults:100:0:1:1
	has CHOSEN_EVENTS_1 context-switches:7:0:1:0
	has NR_CHOSEN 2
	opcontrol -e=TIMER:0
	has CHOSEN_EVENTS_0 TIMER:0:0:1:1
	has NR_CHOSEN 1
	[ -z "$(grep CHOSEN_EVENTS_1 "$rc")" ]
	opcontrol --event=RTC_INTERRUPTS:1000
	has CHOSEN_EVENTS_0 RTC_INTERRUPTS:1024:0:1:1
	opcontrol --kernel-only=1 --event=page-faults:50
	has CHOSEN_EVENTS_0 page-faults:50:0:1:0
	opcontrol --event=default
	has NR_CHOSEN 0
	[ -z "$(grep CHOSEN_EVENTS_ "$rc")" ]
}

@test "--ctrN options of versions before 0.6 work" {
	need_root
	opcontrol --ctr0-event=page-faults --ctr0-count=300 --ctr0-kernel 0 \
		--ctr1-event=context-switches --ctr1-count 5 --ctr1-user=0 --vmlinux=none
	has CHOSEN_EVENTS_0 page-faults:300:0:0:1
	has CHOSEN_EVENTS_1 context-switches:5:0:1:0
	run opcontrol --ctr3-count=5
	[ "$status" -eq 1 ]
	[[ "$output" == *"counter 3 needs both --ctr3-event and --ctr3-count"* ]]
	run opcontrol --ctr9-event=x
	[ "$status" -eq 1 ]
	run opcontrol --ctr0-colour=x
	[ "$status" -eq 1 ]
}

@test "--pid-filter warns of a process that does not exist" {
	need_root
	sleep 60 &
	local pid=$!
	run -0 opcontrol --no-vmlinux --pid-filter="$pid"
	[ "$output" = "" ]
	kill "$pid"
	wait "$pid" || true
	run -0 opcontrol --no-vmlinux --pid-filter="$pid"
	[[ "$output" == "opcontrol: warning: --pid-filter: process $pid does not exist, so nothing is recorded; "*--pid-filter=none ]]
	grep -qx "PID_FILTER=$pid" "$rc"
	run -0 opcontrol --pid-filter=none
	[ "$output" = "" ]
}

@test "wrong settings change nothing" {
	need_root
	opcontrol --no-vmlinux
	cp "$rc" "$BATS_TEST_TMPDIR/before"
	for words in --buffer-size=many --callgraph=-1 --separate=colour --pid-filter=me --pgrp-filter=me --event=no_such:1 \
		--vmlinux=/no/such/file --kernel-range=5 --kernel-range=20,10 --event= \
		'--vmlinux=/bin/sh --no-vmlinux'; do
		run opcontrol $words
		echo "$words: $output"
		[ "$status" -eq 1 ]
		[ "${#lines[@]}" -le 2 ]
		cmp "$rc" "$BATS_TEST_TMPDIR/before"
	done
	for words in --buffer-size=99999999999 --callgraph=12345678901234567890; do
		run opcontrol $words
		[ "$output" = "opcontrol: Argument for ${words%=*}, ${words#*=}, must be a number from 0 to 2147483647" ]
	done
	for dir in /etc/passwd /etc/passwd/below; do
		run opcontrol --session-dir=$dir
		[ "$status" -eq 1 ]
		[ "$output" = "opcontrol: --session-dir=$dir: Not a directory" ]
		cmp "$rc" "$BATS_TEST_TMPDIR/before"
	done
	run opcontrol --vmlinux=/no/such/file
	[ "$output" = "opcontrol: The specified vmlinux file \"/no/such/file\" doesn't exist." ]
}

@test "options without effect are accepted with a note" {
	need_root
	run opcontrol --xen=/boot/xen --active-domains=1,2 --s390hwsampbufsize=8 --note-table-size=5
	[ "$status" -eq 0 ]
	[[ "$output" == *'"--xen" ignored'* ]]
	[[ "$output" == *'"--active-domains" ignored'* ]]
	[[ "$output" == *'"--s390hwsampbufsize" ignored'* ]]
	has NOTE_SIZE 5
}

@test "a line that is not KEY=VALUE is reported with its file and number" {
	need_root
	mkdir -p "$OPROFILE_SETUP_DIR"
	printf 'VMLINUX=none\nno line\n' >"$rc"
	run opcontrol --status
	[ "$status" -eq 1 ]
	[ "$output" = "opcontrol: $rc:2: 'no line' is not KEY=VALUE" ]
	# Commands that need no settings work.
	stand_in 'status=state paused|pid 17|session_dir /some/where|ok'
	for words in --dump --stop --reset --save=x; do
		opcontrol $words
	done
	run opcontrol --status
	[ "$status" -eq 0 ]
	[[ "$output" == *"warning: $rc:2: 'no line' is not KEY=VALUE"*"Daemon paused: pid 17"* ]]
	for words in --callgraph=5 --start; do
		run opcontrol $words
		[ "$status" -eq 1 ]
		[ "$output" = "opcontrol: $rc:2: 'no line' is not KEY=VALUE" ]
	done
	opcontrol --shutdown
}

@test "--status without a daemon shows the stored settings" {
	need_root
	opcontrol --session-dir="$session" --vmlinux=none --event=page-faults:100 \
		--separate=all --buffer-watershed=64 --cpu-buffer-size=128 --buffer-size=256
	run opcontrol --status
	[ "$status" -eq 0 ]
	diff <(echo "$output") - <<-END
		Daemon not running
		Session-dir: $session
		Event 0: page-faults:100:0:1:1
		Separate options: library kernel thread cpu
		vmlinux file: none
		Image filter: none
		Call-graph depth: whole
		Buffer size: 256
		CPU buffer watershed: 64
		CPU buffer size: 128
	END
}

@test "without a daemon, --stop succeeds, and --dump and --start explain what is missing" {
	need_root
	for action in --stop --shutdown --deinit -t -h; do
		run opcontrol $action
		[ "$status" -eq 0 ]
		[ "$output" = "Daemon not running" ]
	done
	run opcontrol --dump
	[ "$status" -eq 1 ]
	[[ "$output" == *"Unable to complete dump of oprofile data: is the oprofile daemon running?"* ]]
	run opcontrol --start
	[ "$status" -eq 1 ]
	[ "${lines[0]}" = "No vmlinux file specified. You must specify the correct vmlinux file, e.g." ]
	[ "${lines[1]}" = "opcontrol --vmlinux=/path/to/vmlinux" ]
}

@test "sessions are saved and removed without a daemon" {
	need_root
	opcontrol --session-dir="$session"
	run opcontrol --save=one
	[ "$status" -eq 1 ]
	mkdir -p "$session/samples/current"
	touch "$session/samples/current/data"
	opcontrol --save=one
	[ -f "$session/samples/one/data" ]
	mkdir -p "$session/samples/current"
	run opcontrol --save=one
	[ "$status" -eq 1 ]
	[ "$output" = "session one already exists" ]
	for name in '' current .hidden a/b ..; do
		run opcontrol --save="$name"
		[ "$status" -eq 1 ]
	done
	touch "$session/samples/current/data"
	# While operf holds the lock on the samples, opcontrol must not change them.
	need flock
	exec 9>"$session/samples/.lock"
	flock 9
	for words in --reset --save=two; do
		run opcontrol $words
		echo "$words: $output"
		[ "$status" -eq 1 ]
		[[ "$output" == *"another recording is running in $session"* ]]
	done
	exec 9>&-
	[ -f "$session/samples/current/data" ]
	opcontrol --reset
	[ ! -e "$session/samples/current/data" ]
	[ -f "$session/samples/one/data" ]
}

@test "an action cannot be combined with another" {
	for action in --init --dump --stop --shutdown --reset --deinit --status --list-events; do
		run opcontrol $action --callgraph=5
		[ "$status" -eq 1 ]
		[ "$output" = "Option \"$action\" not valid with other options." ]
	done
	run opcontrol --save=x --start
	[ "$output" = 'Option "--save" not valid with other options.' ]
	run opcontrol --verbose
	[ "$status" -eq 1 ]
	run opcontrol --dump somewhere
	[ "$status" -eq 1 ]
	[ "$output" = 'Unknown option "somewhere". See opcontrol --help' ]
	for words in --bogus --bogus=1 -z '--dump --bogus' '--session-dir x --bogus'; do
		run opcontrol $words
		echo "$words: $output"
		[ "$status" -eq 1 ]
		[[ "$output" == 'Unknown option "-'*'". See opcontrol --help' ]]
	done
	# These arguments are values, not options.
	run opcontrol --ctr0-event --bogus --save --bogus
	[[ "$output" != *"Unknown option"* ]]
}

@test "help, version and events need no privileges" {
	run opcontrol
	[ "$status" -eq 0 ]
	[[ "$output" == *"--start"* ]]
	run opcontrol -v
	[ "$status" -eq 0 ]
	opcontrol --list-events >"$BATS_TEST_TMPDIR/events" 2>/dev/null || true
	"$OPROFILE_LINKS/ophelp" >"$BATS_TEST_TMPDIR/ophelp" 2>/dev/null || true
	cmp "$BATS_TEST_TMPDIR/events" "$BATS_TEST_TMPDIR/ophelp"
}

@test "users who are not root can only dump and list events" {
	need_root
	need_nobody
	for words in --start --stop --shutdown --reset --save=x --no-vmlinux --init --setup \
		--start-daemon; do
		run setpriv --reuid=65534 --regid=65534 --clear-groups \
			"$OPROFILE_LINKS/opcontrol" $words
		echo "$words: $output"
		[ "$status" -eq 1 ]
		[ "${#lines[@]}" -eq 1 ]
		[[ "$output" == "Normal users are limited to either '--dump' or '--list-events'."* ]]
	done
}

@test "opcontrol sends requests to a running daemon" {
	stand_in
	run opcontrol --start
	[ "$status" -eq 0 ]
	[ "$output" = "Profiler running." ]
	run opcontrol --dump
	[ "$status" -eq 0 ]
	[ "$output" = "Signalling daemon... done" ]
	run opcontrol --stop
	[ "$output" = "Stopping profiling." ]
	run opcontrol --reset
	[ "$output" = "Signalling daemon... done" ]
	opcontrol --save=tuesday
	run opcontrol --shutdown
	[ "$status" -eq 0 ]
	diff <(echo "$output") - <<-END
		Stopping profiling.
		Killing daemon.
	END
	diff "$asked" - <<-END
		listening
		start
		dump
		stop
		reset
		save tuesday
		stop
		shutdown
	END
	run opcontrol --shutdown
	[ "$output" = "Daemon not running" ]
}

@test "--status shows the values of a running daemon" {
	stand_in 'status=state paused|pid 17|session_dir /some/where|event.0 TIMER:0:0:1:1|separate library cpu|vmlinux none|image_filter|callgraph 7|buffer_size 0|cpu_buffer_size 99|ok'
	run opcontrol --status
	[ "$status" -eq 0 ]
	diff <(echo "$output") - <<-END
		Daemon paused: pid 17
		Session-dir: /some/where
		Event 0: TIMER:0:0:1:1
		Separate options: library cpu
		vmlinux file: none
		Image filter: none
		Call-graph depth: 7
		CPU buffer size: 99
	END
}

@test "settings that need a restart are stored for it" {
	need_root
	opcontrol --no-vmlinux --callgraph=3
	stand_in 'setup=restart 1|ok'
	run opcontrol --callgraph=9
	[ "$status" -eq 0 ]
	diff <(echo "$output") - <<-END
		The profiling daemon is currently active, so changes to the configuration
		will be used the next time you restart oprofile after a --shutdown or --deinit.
	END
	grep -q '^setup .*CALLGRAPH=9' "$asked"
	has CALLGRAPH 3
	has CALLGRAPH 9 "${rc}_new"
	has VMLINUX none "${rc}_new"
	# Later settings are added to the earlier ones.
	opcontrol --buffer-size=64
	has CALLGRAPH 9 "${rc}_new"
	has BUF_SIZE 64 "${rc}_new"
}

@test "settings that the daemon rejects are not stored" {
	need_root
	opcontrol --no-vmlinux --callgraph=3
	stand_in 'setup=error EINVAL CALLGRAPH=9: too deep' 'save=error EEXIST there is one' \
		'reset=error EPERM only members of group oprofile may'
	run opcontrol --callgraph=9
	[ "$status" -eq 1 ]
	[ "$output" = "opcontrol: CALLGRAPH=9: too deep" ]
	has CALLGRAPH 3
	[ ! -e "${rc}_new" ]
	run opcontrol --save=x
	[ "$status" -eq 1 ]
	[ "$output" = "session x already exists" ]
	run opcontrol --reset
	[ "$status" -eq 1 ]
	[[ "$output" == *"Normal users are limited"*"only members of group oprofile may"* ]]
}

@test "an error of a file is not reported as an error of the setting" {
	stand_in 'reset=error EACCES /some/where: Permission denied'
	run opcontrol --reset
	[ "$status" -eq 1 ]
	[ "${lines[0]}" = "Signalling daemon... " ]
	[ "${lines[1]}" = "opcontrol: /some/where: Permission denied" ]
}

@test "a running daemon gets the changed settings" {
	need_root
	stand_in
	opcontrol --callgraph=5
	opcontrol --event=page-faults:10 --separate=none
	opcontrol --image=all --no-vmlinux
	diff "$asked" - <<-END
		listening
		setup CALLGRAPH=5
		setup CHOSEN_EVENTS_0=page-faults:10:0:1:1 SEPARATE_LIB=0 SEPARATE_KERNEL=0 SEPARATE_THREAD=0 SEPARATE_CPU=0 NR_CHOSEN=1
		setup VMLINUX=none IMAGE_FILTER=
	END
}

@test "a shutdown stops the daemon and reports lost samples" {
	for verb in stop shutdown; do
		stand_in "$verb=error ENOSPC segment-000001: No space left on device"
		run opcontrol --shutdown
		[ "$status" -eq 1 ]
		diff <(echo "$output") - <<-END
			Stopping profiling.
			Killing daemon.
			opcontrol: segment-000001: No space left on device
		END
		run opcontrol --shutdown
		[ "$output" = "Daemon not running" ]
	done
}

@test "concurrent calls are serialized" {
	need_root
	stand_in SLOW=stop
	for i in 1 2 3; do
		opcontrol --stop 3>&- &
	done
	for ((i = 0; i < 300; i++)); do
		[ "$(grep -c '^end' "$asked")" -lt 3 ] || break
		sleep 0.1
	done
	cat "$asked"
	[ "$(grep -v listening "$asked" | paste -s -d ' ')" = \
		"stop begin end stop begin end stop begin end" ]
}

@test "a stale lock file is emptied" {
	need_root
	mkdir -p "$OPROFILE_RUN_DIR"
	echo 99999999 >"$OPROFILE_RUN_DIR/lock"
	run opcontrol --stop
	[ "$status" -eq 0 ]
	diff <(echo "$output") - <<-END
		Detected stale lock file. Removing.
		Daemon not running
	END
	[ ! -s "$OPROFILE_RUN_DIR/lock" ]
}

@test "a daemon without a socket is reported with the command that ends it" {
	need_root
	opcontrol --no-vmlinux
	stand_in
	rm "$OPROFILE_RUN_DIR/control"
	for words in --status --shutdown --start; do
		run opcontrol $words
		echo "$words: $output"
		[ "$status" -eq 1 ]
		[ "$output" = "opcontrol: oprofiled is running (pid $daemon), but does not listen at $OPROFILE_RUN_DIR/control: it is exiting, or its socket was removed; \"kill -TERM $daemon\" stops it cleanly" ]
	done
}

@test "a daemon that does not answer is reported" {
	need_root
	stand_in
	kill -STOP "$daemon"
	opcontrol --dump 2>"$BATS_TEST_TMPDIR/dump.err" >"$BATS_TEST_TMPDIR/dump" 3>&- &
	dump=$!
	run opcontrol --status
	[ "$status" -eq 1 ]
	[ "$output" = "opcontrol: the daemon (pid $daemon) does not answer" ]
	run "$OPROFILE" status
	[ "$status" -eq 1 ]
	[ "$output" = "oprofile status: the daemon does not answer" ]
	# A dump can take long, but completes.
	kill -CONT "$daemon"
	wait "$dump"
	[ "$(cat "$BATS_TEST_TMPDIR/dump.err")" = "opcontrol: waiting for the daemon (pid $daemon) ..." ]
	[ "$(cat "$BATS_TEST_TMPDIR/dump")" = "Signalling daemon... done" ]
}

# ---- the real daemon ----

# Prepares a real daemon for the test, which ends with the test.
begin_real()
{
	need_root
	need_recording
	rm -rf "$session"
	opcontrol --no-vmlinux --session-dir="$session"
}

# end_real: sets $daemon to the pid of the daemon, or to nothing if none was started.
end_real()
{
	daemon=$(cat "$OPROFILE_RUN_DIR/lock" 2>/dev/null || true)
}

# Waits until the process has ended, whether or not its parent reaped it.
is_gone()
{
	for ((i = 0; i < 200; i++)); do
		[ -d "/proc/$1" ] || return 0
		! grep -q '^State:.*Z' "/proc/$1/status" 2>/dev/null || return 0
		sleep 0.1
	done
	return 1
}

@test "opcontrol starts the daemon, samples, reads samples and shuts it down" {
	begin_real
	opcontrol --start-daemon >"$BATS_TEST_TMPDIR/out"
	end_real
	diff <(sed '1s/: .*/: X/' "$BATS_TEST_TMPDIR/out") - <<-END
		Using default event: X
		Using 2.6+ OProfile kernel interface.
		Using log file $session/samples/oprofiled.log
		Daemon started.
	END
	run opcontrol --status
	[ "${lines[0]}" = "Daemon paused: pid $daemon" ]
	[ "${lines[1]}" = "Session-dir: $session" ]
	run opcontrol --start
	[ "$output" = "Profiler running." ]
	run opcontrol --start-daemon
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	run opcontrol --status
	[ "${lines[0]}" = "Daemon running: pid $daemon" ]
	# Repeat until a dump leaves samples to read.
	for ((i = 0; i < 100; i++)); do
		timeout 0.2 sh -c 'while :; do :; done' || true
		[ "$(opcontrol --dump)" = "Signalling daemon... done" ]
		[ "$(reported_samples)" -eq 0 ] || break
	done
	[ "$(reported_samples)" -gt 0 ]
	run opcontrol --stop
	[ "$output" = "Stopping profiling." ]
	opcontrol --save=first
	[ "$(reported_samples session:first)" -gt 0 ]
	run opcontrol --save=first
	[ "$status" -eq 1 ]
	[ "$output" = "session first already exists" ]
	run opcontrol --shutdown
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "Stopping profiling." ]
	[ "${lines[1]}" = "Killing daemon." ]
	is_gone "$daemon"
	run opcontrol --status
	[ "${lines[0]}" = "Daemon not running" ]
}

@test "the command lines of OProfile's manual work unchanged" {
	begin_real
	opcontrol --init
	opcontrol --no-vmlinux
	opcontrol --setup --no-vmlinux --separate=library
	opcontrol --event=CPU_CLK_UNHALTED:400000 --event=default
	opcontrol --list-events >/dev/null 2>&1 || true
	opcontrol --separate=all
	opcontrol --start-daemon
	end_real
	opcontrol --start
	opcontrol --dump
	opcontrol --stop
	opcontrol --reset
	opcontrol --start
	opcontrol --dump
	opcontrol --save=session_name
	[ -d "$session/samples/session_name" ]
	opcontrol --shutdown
	opcontrol --start --verbose --event=RTC_INTERRUPTS:1024
	end_real
	run opcontrol --status
	[[ "$output" == *"Event 0: RTC_INTERRUPTS:"* ]]
	[[ "$output" == *"Separate options: library kernel thread cpu"* ]]
	opcontrol --deinit
	is_gone "$daemon"
}

@test "--init mounts the control files, and --deinit unmounts them" {
	need_root
	"$OPROFILE" --version | grep -q 'libfuse3 *[0-9]' || skip "built without libfuse3: NOT TESTED"
	[ -r /dev/fuse ] && [ -w /dev/fuse ] || skip "/dev/fuse cannot be used here: NOT TESTED"
	grep -q fuse /proc/filesystems || skip "the kernel has no FUSE: NOT TESTED"
	begin_real
	opcontrol --init
	mountpoint "$OPROFILE_FS_DIR"
	# Repeated calls mount it only once.
	opcontrol --init
	[ "$(grep -c " $OPROFILE_FS_DIR " /proc/self/mounts)" -eq 1 ]
	opcontrol --start-daemon
	end_real
	[ "$(cat "$OPROFILE_FS_DIR/enable")" = 0 ]
	opcontrol --deinit
	is_gone "$daemon"
	[ ! -e "$OPROFILE_FS_DIR" ]
	# If it cannot be mounted, opcontrol reports that.
	touch "$OPROFILE_FS_DIR"
	run opcontrol --init
	[ "$status" -eq 0 ]
	[[ "$output" == *"no control files at $OPROFILE_FS_DIR; everything else works" ]]
}

@test "settings changed during a recording apply after the next start" {
	begin_real
	opcontrol --event=page-faults:100
	opcontrol --start
	end_real
	run opcontrol --event=page-faults:200
	[[ "$output" == *"will be used the next time"* ]]
	has CHOSEN_EVENTS_0 page-faults:100:0:1:1
	run opcontrol --status
	[[ "$output" == *"Event 0: page-faults:100:0:1:1"* ]]
	opcontrol --shutdown
	opcontrol --start
	end_real
	has CHOSEN_EVENTS_0 page-faults:200:0:1:1
	[ ! -e "${rc}_new" ]
	run opcontrol --status
	[[ "$output" == *"Event 0: page-faults:200:0:1:1"* ]]
	opcontrol --shutdown
}

@test "--start with settings also uses the stored ones" {
	begin_real
	opcontrol --start --event=page-faults:100
	end_real
	opcontrol --callgraph=0
	has CALLGRAPH 0 "${rc}_new"
	opcontrol --shutdown
	opcontrol --start --buffer-size=64
	end_real
	has CALLGRAPH 0
	has BUF_SIZE 64
	[ ! -e "${rc}_new" ]
	opcontrol --shutdown
}

@test "the daemon never samples with settings that differ from the file" {
	begin_real
	opcontrol --event=page-faults:777 --callgraph=3
	echo BUF_SIZE=abc >>"$rc"
	for i in 1 2; do
		run opcontrol --start
		end_real
		[ "$status" -eq 1 ]
		[[ "$output" == *"opcontrol: invalid value 'abc' of BUF_SIZE: expected a number" ]]
		[ -z "$daemon" ]
		run opcontrol --status
		[ "${lines[0]}" = "Daemon not running" ]
	done
	opcontrol --buffer-size=0
	# The state after an opcontrol that was killed before it sent the settings.
	"$OPROFILE_LINKS/oprofiled" --paused --session-dir="$session" 3>&-
	end_real
	echo "a daemon without its settings" >"$OPROFILE_RUN_DIR/opcontrol.lock"
	opcontrol --start
	run opcontrol --status
	[[ "$output" == *"Daemon running: pid $daemon"*"Event 0: page-faults:777:0:1:1"*"depth: 3"* ]]
	[ ! -s "$OPROFILE_RUN_DIR/opcontrol.lock" ]
	opcontrol --shutdown
}

@test "a daemon that was started by hand keeps its settings" {
	begin_real
	opcontrol --event=context-switches:50
	mkdir "$session"
	"$OPROFILE_LINKS/oprofiled" --paused --session-dir="$session" --event=page-faults:777 \
		--separate-thread=1 3>&-
	end_real
	opcontrol --start --callgraph=5
	run opcontrol --status
	[[ "$output" == *"Event 0: page-faults:777:0:1:1"*"options: thread"*"depth: 5"* ]]
	opcontrol --shutdown
}

@test "the daemon does not inherit umask, open files or directory of the caller" {
	need flock
	begin_real
	rm -r "$OPROFILE_RUN_DIR" "$OPROFILE_SETUP_DIR"
	cd "$BATS_TEST_TMPDIR"
	OPROFILE_RUN_DIR=${OPROFILE_RUN_DIR##*/}
	(
		umask 077
		exec 9>held
		flock 9
		opcontrol --start --no-vmlinux --session-dir="$session"
	)
	end_real
	flock -n held true
	[ "$(stat -c %a "$OPROFILE_RUN_DIR" "$OPROFILE_SETUP_DIR" "$session" | sort -u)" = 755 ]
	opcontrol --shutdown
}

# Sets up a daemon whose directories other users can reach; as_other ARGUMENT... runs as another
# user there.
begin_others()
{
	begin_real
	need_nobody
	as_other() { timeout 60 setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
	chmod 755 "$BATS_TEST_TMPDIR"
	as_other test -x "$BATS_TEST_TMPDIR" || {
		public=$(mktemp -d)
		chmod 755 "$public"
		OPROFILE_RUN_DIR=$public
	}
}

@test "members of the group change the named settings without access to the file" {
	begin_others
	group=$(getent group 65534 | cut -d: -f1)
	[ -n "$group" ] || skip "no group has the number 65534"
	chmod 700 "$OPROFILE_SETUP_DIR"
	mkdir "$session"
	"$OPROFILE_LINKS/oprofiled" --paused --session-dir="$session" --group "$group" \
		--event=page-faults:777 --image=/bin/sh --separate-thread=1 3>&-
	end_real
	as_other "$OPROFILE_LINKS/opcontrol" --init
	as_other "$OPROFILE_LINKS/opcontrol" --start --callgraph=5
	run opcontrol --status
	diff <(echo "$output") - <<-END
		Daemon running: pid $daemon
		Session-dir: $session
		Event 0: page-faults:777:0:1:1
		Separate options: thread
		vmlinux file: none
		Image filter: $(realpath /bin/sh)
		Call-graph depth: 5
	END
	as_other "$OPROFILE_LINKS/opcontrol" --shutdown
}

@test "other users can dump, and get a refusal that names the rule" {
	begin_others
	opcontrol --start
	end_real
	run as_other "$OPROFILE_LINKS/opcontrol" --dump
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = "Signalling daemon... done" ]
	run as_other "$OPROFILE_LINKS/opcontrol" --status
	[ "${lines[0]}" = "Daemon running: pid $daemon" ]
	for words in --stop --shutdown --reset --save=x --start --deinit --init --setup \
		--start-daemon --event=bogus:1 --callgraph=5; do
		run as_other "$OPROFILE_LINKS/opcontrol" $words
		echo "$words: $output"
		[ "$status" -eq 1 ]
		[ "$words" != --reset ] || [ "${lines[0]}" = "Signalling daemon... " ]
		[ "$words" = --reset ] || [ "${#lines[@]}" -eq 1 ]
		[[ "$output" == *"Normal users are limited to either '--dump' or '--list-events'. \"${words%%=*}\" is restricted to root, the daemon's user and members of group oprofile"* ]]
	done
	run as_other "$OPROFILE_LINKS/opcontrol" --no-vmlinux --start
	[[ "$output" == *'. "--start" is restricted to root'* ]]
	[ "${#lines[@]}" -eq 1 ]
	run opcontrol --status
	[ "${lines[0]}" = "Daemon running: pid $daemon" ]
	opcontrol --shutdown
}

@test "a failed start is reported once, with the log if there is one" {
	begin_real
	# The session directory is a file.
	touch "$session"
	"$OPROFILE_LINKS/oprofiled" --session-dir="$session" 2>"$BATS_TEST_TMPDIR/err" 3>&- && false
	[ "$(cat "$BATS_TEST_TMPDIR/err")" = "oprofiled: cannot create '$session': Not a directory" ]
	"$OPROFILE_LINKS/oprofiled" --session-dir="$BATS_TEST_TMPDIR" --foreground --frequency 99999999 \
		2>"$BATS_TEST_TMPDIR/err" 3>&- && false
	cat "$BATS_TEST_TMPDIR/err"
	[ "$(grep -c max_sample_rate "$BATS_TEST_TMPDIR/err")" -eq 1 ]
	rm "$session"
	mkdir -p "$session/samples/oprofiled.log"
	run opcontrol --start
	echo "$output"
	[ "$status" -eq 1 ]
	[ "$(grep -c "oprofiled.log': Is a directory" <<<"$output")" -eq 1 ]
	rmdir "$session/samples/oprofiled.log" "$session/samples"
	mount -t tmpfs -o ro none "$session" || skip "nothing can be mounted here"
	run opcontrol --start
	umount "$session"
	echo "$output"
	[ "$status" -eq 1 ]
	[[ "$output" == *"oprofiled: cannot create '$session/samples': Read-only file system"*"Couldn't start oprofiled." ]]
	[ "$(grep -c 'Read-only' <<<"$output")" -eq 1 ]
}

@test "files of a killed daemon do not prevent a start" {
	begin_real
	opcontrol --start
	end_real
	kill -KILL "$daemon"
	is_gone "$daemon"
	inode=$(stat -c %i "$OPROFILE_RUN_DIR/lock")
	run opcontrol --start
	echo "$output"
	[ "$status" -eq 0 ]
	# The lock file must be the same: a process that waits for it must not get the lock at the
	# same time as the new daemon.
	[ "$(stat -c %i "$OPROFILE_RUN_DIR/lock")" -eq "$inode" ]
	[ "${lines[0]}" = "Detected stale lock file. Removing." ]
	[[ "$output" == *"Profiler running." ]]
	end_real
	opcontrol --shutdown
}

@test "--shutdown ends a daemon whose socket was removed" {
	begin_real
	opcontrol --start
	end_real
	rm "$OPROFILE_RUN_DIR/control"
	opcontrol --shutdown
	is_gone "$daemon"
}

@test "reports and --status work while the daemon runs" {
	begin_real
	opcontrol --start
	end_real
	for ((i = 0; i < 100; i++)); do
		timeout 0.2 sh -c 'while :; do :; done' || true
		opcontrol --dump
		[ "$(reported_samples)" -eq 0 ] || break
	done
	[ "$(reported_samples --since=10m)" -gt 0 ]
	[ "$(reported_samples --between=1d,0)" -gt 0 ]
	# The recording had not started at that time.
	run opreport --session-dir "$session" --between=2d,1d
	[ "$status" -eq 1 ]
	"$OPROFILE" status >"$BATS_TEST_TMPDIR/status"
	cat "$BATS_TEST_TMPDIR/status"
	grep -qx "Daemon      running, pid $daemon" "$BATS_TEST_TMPDIR/status"
	grep -qx "Session     $session" "$BATS_TEST_TMPDIR/status"
	grep -q '^Samples     [1-9]' "$BATS_TEST_TMPDIR/status"
	grep -q '^Memory ' "$BATS_TEST_TMPDIR/status"
	grep -q '^Disk ' "$BATS_TEST_TMPDIR/status"
	grep -q '^Oldest data .* ago)' "$BATS_TEST_TMPDIR/status"
	opcontrol --shutdown
}

@test "many concurrent calls start one daemon" {
	begin_real
	for i in 1 2 3 4 5 6; do
		opcontrol --start >"$BATS_TEST_TMPDIR/start.$i" 2>&1 3>&- &
	done
	wait
	end_real
	cat "$BATS_TEST_TMPDIR"/start.*
	# One call started the daemon, and all of them started profiling.
	[ "$(cat "$BATS_TEST_TMPDIR"/start.* | grep -c '^Daemon started.')" -eq 1 ]
	[ "$(cat "$BATS_TEST_TMPDIR"/start.* | grep -c '^Profiler running.')" -eq 6 ]
	for i in 1 2 3; do
		opcontrol --dump >"$BATS_TEST_TMPDIR/dump.$i" 2>&1 3>&- &
		opcontrol --status >"$BATS_TEST_TMPDIR/status.$i" 2>&1 3>&- &
	done
	opcontrol --stop
	wait
	[ "$(cat "$BATS_TEST_TMPDIR"/dump.* | grep -c 'done$')" -eq 3 ]
	[ "$(cat "$BATS_TEST_TMPDIR"/status.* | grep -c "pid $daemon\$")" -eq 3 ]
	opcontrol --shutdown
}

# Prints the size in bytes of the daemon's largest ring buffer.
largest_ring()
{
	awk '/perf_event/ { split($1, at, "-"); print at[1], at[2] }' "/proc/$daemon/maps" |
		while read -r from to; do echo $((0x$to - 0x$from)); done | sort -n | tail -n 1
}

@test "the buffer sizes set the size of the rings" {
	begin_real
	opcontrol --start
	end_real
	usual=$(largest_ring)
	opcontrol --shutdown
	opcontrol --cpu-buffer-size=16 --start
	end_real
	small=$(largest_ring)
	opcontrol --shutdown
	opcontrol --buffer-size=1000000 --start
	end_real
	large=$(largest_ring)
	opcontrol --shutdown
	echo "$small $usual $large"
	[ "$small" -lt "$usual" ]
	[ "$usual" -lt "$large" ]
}

# ---- stored settings ----

@test "--image resolves relative paths and links in the caller's directory" {
	need_root
	cd "$BATS_TEST_TMPDIR"
	here=$(realpath .)
	cp /bin/sh file
	ln -s file link
	ln -s "$here" dir
	run opcontrol --image=./link,file -i "$here/dir/link" -i vmlinux
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	has IMAGE_FILTER "$here/file,$here/file,$here/file,vmlinux"
	# A missing binary can appear later, so opcontrol only warns.
	run opcontrol --image=/no/such/file,./none --image=no_module
	echo "$output"
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 3 ]
	[[ "${lines[0]}" == *"/no/such/file does not exist"* ]]
	has IMAGE_FILTER "/no/such/file,$here/none,no_module"
	run opcontrol --image=/tmp
	[[ "$output" == *"/tmp is not a file"* ]]
}

# make_kernel FILE BUILD-ID: makes a file that is accepted as a kernel image; object.o is one of
# its object files.
make_kernel()
{
	need gcc
	printf '.text\n.globl _text\n_text: nop\n.section .note.GNU-stack,"",%%progbits\n' >"$1.s"
	gcc -c -o object.o "$1.s"
	gcc -nostdlib -static -no-pie -Wl,-e,_text,--build-id="$2" -o "$1" object.o
}

@test "--vmlinux accepts an ELF kernel image, and no user program" {
	need_root
	cd "$BATS_TEST_TMPDIR"
	make_kernel vmlinux none
	opcontrol --no-vmlinux
	for file in /tmp /etc/passwd /dev/null; do
		run opcontrol --vmlinux="$file"
		echo "$output"
		[ "$status" -eq 1 ]
		[ "${#lines[@]}" -eq 1 ]
		[[ "$output" == *"vmlinux file ($file) does not seem to be valid"* ]]
		has VMLINUX none
	done
	for file in "$(realpath /bin/sh)" "$(realpath object.o)"; do
		run opcontrol --vmlinux="$file"
		echo "$output"
		[ "$status" -eq 1 ]
		[ "$output" = "opcontrol: The specified vmlinux file ($file) does not seem to be valid: it is a program, a module or a dump, not a kernel" ]
		has VMLINUX none
	done
	ln -s vmlinux kernel
	run opcontrol --vmlinux=kernel
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	has VMLINUX "$(realpath .)/kernel"
	# The image of another kernel is accepted also.
	"$OPROFILE" buildid-list --kernel >running || skip "the kernel has no build-id: NOT TESTED"
	make_kernel same "0x$(cat running)"
	run opcontrol --vmlinux=same
	[ -z "$output" ]
	make_kernel other 0x1234567890
	run opcontrol --vmlinux=other
	[ "$status" -eq 0 ]
	[ "$output" = "opcontrol: warning: --vmlinux: other is not the running kernel: the build-ids differ" ]
	has VMLINUX "$(realpath .)/other"
}

# On a machine without counters, like most virtual machines. kept EVENTS... -- OPTIONS: checks
# that opcontrol with these options stores these events.
kept()
{
	local i=0 wanted=()
	while [ "$1" != -- ]; do
		wanted+=("$1")
		shift
	done
	shift
	run opcontrol "$@"
	echo "$*: $output"
	[ "$status" -eq 0 ]
	has NR_CHOSEN "${#wanted[@]}"
	for event in "${wanted[@]}"; do
		has "CHOSEN_EVENTS_$i" "$event"
		i=$((i + 1))
	done
}

@test "TIMER replaces all time events once and keeps their flags" {
	need_root
	opcontrol --event=cycles:100000 2>&1 | grep -q 'no performance counters' || skip "there are counters here"
	kept TIMER:0:0:1:1 -- --event=CPU_CLK_UNHALTED:100000 --event=cycles:200000
	[[ "$output" == *"cycles: "*"using the event TIMER instead (sampled once for all of them)"* ]]
	kept TIMER:0:0:0:1 -- --event=CPU_CLK_UNHALTED:100000:0:0:1
	kept TIMER:0:0:1:0 -- --event=CPU_CLK_UNHALTED:100000 --kernel-only
	kept TIMER:0:0:0:1 -- --ctr0-event=CPU_CLK_UNHALTED --ctr0-count=100000 --ctr0-kernel=0
	kept TIMER:0:0:0:1 TIMER:0:0:1:0 -- --event=cycles:100000:u --event=CPU_CLK_UNHALTED:100000:0:1:0
	kept TIMER:0:0:1:1 page-faults:1000:0:1:1 -- --event=default --event=page-faults:1000
	kept TIMER:0:0:1:1 -- --event=default --event=cycles:100000
	kept TIMER:250:0:1:1 page-faults:1000:0:1:1 -- --event=TIMER:250 --event=page-faults:1000
	kept RTC_INTERRUPTS:128:0:1:1 page-faults:1000:0:1:1 -- --event=RTC_INTERRUPTS:128 --event=page-faults:1000
	kept TIMER:0:0:1:0 -- --event=default --kernel-only
}

@test "kernel and user flags of an event are stored" {
	need_root
	kept TIMER:0:0:1:0 -- --event=TIMER --kernel-only
	kept TIMER:0:0:0:1 -- --event=TIMER:0:0:0:1
	kept page-faults:1000:0:1:1 -- --event=page-faults:1000 --kernel-only=0
	kept page-faults:1000:0:1:0 -- --event=page-faults:1000:0:1:1 --kernel-only=1
	kept page-faults:k -- --event=page-faults --kernel-only
	kept page-faults:1000:u -- --event=page-faults:1000:u
	kept RTC_INTERRUPTS:1024:0:1:0 -- --event=RTC_INTERRUPTS:1000:0:1:0
	cp "$rc" "$BATS_TEST_TMPDIR/before"
	for words in --event=TIMER:0:0:0:0 --event=RTC_INTERRUPTS:8:0:0:0 --event=RTC_INTERRUPTS:0 \
		--event=TIMER:0:1:1:1 '--event=page-faults:9 --kernel-only=abc' --kernel-only \
		'--event=page-faults:9:u --kernel-only'; do
		run opcontrol $words
		echo "$words: $output"
		[ "$status" -eq 1 ]
		[ "${#lines[@]}" -eq 1 ]
		cmp "$rc" "$BATS_TEST_TMPDIR/before"
	done
}

@test "--image follows a link, and --kernel-only limits the timer to the kernel" {
	begin_real
	cp "$(command -v bash)" "$BATS_TEST_TMPDIR/spinner"
	ln -s spinner "$BATS_TEST_TMPDIR/link"
	opcontrol --event=TIMER --kernel-only --image="$BATS_TEST_TMPDIR/link"
	opcontrol --start
	end_real
	run opcontrol --status
	[[ "$output" == *"Event 0: TIMER:0:0:1:0"* ]]
	for ((i = 0; i < 100; i++)); do
		timeout 0.2 "$BATS_TEST_TMPDIR/link" -c 'while :; do echo; done >/dev/null' || true
		opcontrol --dump
		[ "$(reported_samples)" -lt 10 ] || break
	done
	opcontrol --shutdown
	run opreport --session-dir "$session" --by app --csv
	echo "$output"
	[[ "$output" == *spinner* ]]
	[ "$(tail -n +2 <<<"$output" | grep -vc spinner)" -eq 0 ]
	# The program and the libraries have no samples.
	run opreport --session-dir "$session" --by image --csv
	echo "$output"
	[[ "$output" == *kernel* ]]
	[ "$(tail -n +2 <<<"$output" | grep -c '^"*/')" -eq 0 ]
}

@test "the default event can be combined with others if the daemon chooses it" {
	begin_real
	opcontrol --event=page-faults:100
	sed -i -e 's/^NR_CHOSEN=.*/NR_CHOSEN=2/' -e '$aCHOSEN_EVENTS_1=default:0:0:1:0' "$rc"
	opcontrol --start
	end_real
	run opcontrol --status
	echo "$output"
	[[ "$output" == *"Event 0: page-faults:100:0:1:1"* ]]
	[[ "$output" == *"Event 1: "*:0:0:1:0* ]]
	opcontrol --shutdown
}

@test "oprofiled resolves paths in the caller's directory, and warns about an unknown group" {
	need_root
	need_recording
	cd "$BATS_TEST_TMPDIR"
	make_kernel file none
	ln -s file link
	for words in --vmlinux=/no/such/file --vmlinux=/tmp; do
		run timeout 60 "$OPROFILE_LINKS/oprofiled" --session-dir="$session" $words
		echo "$output"
		[ "$status" -eq 1 ]
		[ "${#lines[@]}" -eq 1 ]
		[[ "$output" == *"${words#*=}"* ]]
	done
	run timeout 60 "$OPROFILE_LINKS/oprofiled" --session-dir="$session" --paused --vmlinux=link \
		--image=./link --group=no_such_group
	end_real
	echo "$output"
	[ "$status" -eq 0 ]
	run opcontrol --status
	[[ "$output" == *"vmlinux file: $(realpath .)/link"* ]]
	[[ "$output" == *"Image filter: $(realpath .)/file"* ]]
	grep 'warning: .*there is no group no_such_group' "$session/samples/oprofiled.log"
	opcontrol --shutdown
}
