#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# oprofiled: samples the system, answers requests on its socket, and recovers after it was killed.

bats_require_minimum_version 1.5.0
load helpers

setup() {
	daemon=
	target=
	readers=
	ask_as=()
	may_refuse=
	need python3
	# A python that starts quickly and that every user can run.
	python=python3
	[ -x "$python" ] || python=python3
	new_session
	# The path of a socket has at most 107 bytes.
	run_dir=$(mktemp -d)
	export OPROFILE_RUN_DIR=$run_dir
	log=$BATS_TEST_TMPDIR/daemon.log
}

teardown() {
	[ -z "$daemon" ] && [ -s "$run_dir/lock" ] && daemon=$(cat "$run_dir/lock")
	for pid in $daemon $target $readers; do
		kill -KILL "$pid" 2>/dev/null || true
	done
	wait
	! mountpoint -q "$session" || umount "$session"
	rm -r "$run_dir"
	# The daemon must not need a system call that its filter refuses.
	[ -n "$may_refuse" ] || ! grep -s --devices=skip 'refused system call' "$log" "$session/samples/oprofiled.log"
}

# start_daemon OPTION...: runs it with --foreground as a background job; $daemon is its pid. Skips
# the test if the kernel does not allow sampling of the system.
start_daemon() {
	: >"$log"
	"$OPROFILE_LINKS/oprofiled" --foreground --session-dir "$session" "$@" \
		>/dev/null 2>"$log" 3>&- &
	daemon=$!
	for ((i = 0; i < 300; i++)); do
		grep -q 'runs as process' "$log" && return 0
		kill -0 "$daemon" 2>/dev/null || break
		sleep 0.1
	done
	cat "$log"
	! grep -q 'perf_event' "$log" || skip "the system cannot be sampled here: NOT TESTED"
	return 1
}

wait_daemon() {
	timeout 20 tail --pid="$daemon" -f /dev/null 3>&- || kill -KILL "$daemon"
	status=0
	wait "$daemon" || status=$?
	daemon=
}

# ask REQUEST: prints the reply; fails if it is an error.
ask() {
	timeout 30 "${ask_as[@]}" "$python" - "$run_dir/control" "$1" <<-'END'
		import socket, sys
		s = socket.socket(socket.AF_UNIX)
		s.connect(sys.argv[1])
		s.sendall(sys.argv[2].encode() + b"\n")
		reply = b""
		while not reply.endswith(b"\n") or not (
		    reply.split(b"\n")[-2] == b"ok" or reply.split(b"\n")[-2].startswith(b"error ")):
		    more = s.recv(65536)
		    if not more:
		        sys.exit("the daemon hung up behind: " + reply.decode())
		    reply += more
		sys.stdout.write(reply.decode())
		sys.exit(not reply.endswith(b"ok\n"))
	END
}

field() {
	ask status | sed -n "s/^$1 //p"
}

# Waits until the daemon has taken this many samples. An idle machine also produces some.
wait_for_samples() {
	for ((i = 0; i < 300; i++)); do
		samples=$(field samples)
		[ "$samples" -lt "$1" ] || return 0
		sleep 0.1
	done
	echo "waited in vain for $1 samples: $samples"
	return 1
}

wait_for_file() {
	for ((i = 0; i < 300; i++)); do
		[ ! -e "$1" ] || return 0
		sleep 0.1
	done
	echo "waited in vain for $1"
	cat "$log"
	return 1
}

start_load() {
	"$WORKLOADS/ratio" 600000 >/dev/null 3>&- &
	target=$!
}

@test "the sampling rate is that of the events" {
	start_daemon --event RTC_INTERRUPTS:1024
	[ "$(field rate)" -eq 1024 ]
	[ "$(field event.0)" = RTC_INTERRUPTS:1024:0:1:1 ]
	grep -q 'sampling RTC_INTERRUPTS at 1024 Hz' "$log"
	ask stop
	ask 'setup CHOSEN_EVENTS_0=page-faults:1000'
	ask start
	[ "$(field rate)" -eq 0 ]
	[[ "$(field governor)" == *"explicit counts"* ]]
	grep -q 'sampling page-faults, one sample per 1000 events' "$log"
	run -0 "$OPROFILE_LINKS/oprofile" status
	[[ "$output" == *"Rate        none: the events have counts"* ]]
	ask stop
	ask 'setup CHOSEN_EVENTS_0=TIMER:0:0:1:1'
	ask start
	[ "$(field rate)" -eq 99 ]
	[ "$(field event.0)" = TIMER:0:0:1:1 ]
	# An explicit rate below the default is also reported.
	ask stop
	ask 'setup CHOSEN_EVENTS_0=RTC_INTERRUPTS:64'
	for verb in start stop; do
		ask "$verb"
		[ "$(field event.0)" = RTC_INTERRUPTS:64:0:1:1 ]
		[ "$(field rate)" -eq 64 ]
	done
	ask 'setup CHOSEN_EVENTS_0=TIMER:50'
	ask start
	[ "$(field event.0)" = TIMER:50:0:1:1 ]
}

@test "a costly rate is lowered, and the kernel's limit is reported" {
	start_daemon --frequency 1999 --max-overhead 0.1%
	start_load
	for _ in {1..90}; do
		[ "$(field rate)" -eq 1999 ] || break
		sleep 0.5
	done
	rate=$(field rate)
	echo "rate $rate, daemon $(field cost_cpu), kernel $(field cost_kernel)"
	[ "$rate" -ge 200 ]
	[ "$rate" -lt 1999 ]
	[[ "$(field governor)" == "the rate is $rate Hz instead of 1999 Hz, to use at most 0.1 "*" of the CPUs' time" ]]
	# A sample costs at least 0.2 us on any machine.
	[[ $(field cost_kernel) > 0.0004 ]]
	ask shutdown
	wait_daemon
}

@test "samples can be read while the daemon runs, and are complete after a dump" {
	start_daemon
	start_load
	[ "$(field state)" = running ]
	[ "$(field rate)" -eq 99 ]
	[ "$(field pid)" -eq "$daemon" ]
	[ "$(field session_dir)" = "$session" ]
	[[ "$(field governor)" == "the rate is the requested one"* ]]
	wait_for_samples 200
	ask dump
	before=$(field samples)
	run -0 --separate-stderr opreport --session-dir "$session" --by image --csv
	echo "stderr: $stderr"
	[ -z "$stderr" ]
	reported=$(reported_samples)
	echo "counted before $before, reported $reported"
	# Samples taken during the dump can be delivered in the next round.
	[ "$reported" -gt 0 ]
	[ "$reported" -ge $((before - 200)) ]
	grep -q "$(basename "$WORKLOADS/ratio")" <<<"$output"
	ask stop
	[ "$(field state)" = paused ]
	counted=$(field samples)
	reported=$(reported_samples)
	echo "counted $counted, reported $reported"
	[ "$reported" -eq "$counted" ]
	ask start
	[ "$(field state)" = running ]
	ask shutdown
	wait_daemon
	cat "$log"
	[ "$status" -eq 0 ]
	[ ! -e "$run_dir/control" ]
	grep -q 'oprofiled exits' "$log"
	counted=$(sed -n 's/.*oprofiled exits: \([0-9]*\) samples.*/\1/p' "$log")
	[ "$(reported_samples)" -eq "$counted" ]
}

@test "samples have callers" {
	start_daemon --frequency 997
	start_load
	wait_for_samples 500
	ask dump
	run -0 opreport --session-dir "$session" --by stack --csv "$WORKLOADS/ratio"
	echo "$output" | head -20
	grep -q 'main' <<<"$output"
}

@test "the daemon detaches, and a second one is refused" {
	start_daemon --paused
	run -1 timeout 20 "$OPROFILE_LINKS/oprofiled" --session-dir "$session" --paused
	echo "$output"
	[[ "$output" == *"oprofiled is already running (pid $daemon,"* ]]
	kill -TERM "$daemon"
	wait_daemon
	[ "$status" -eq 0 ]
	timeout 30 "$OPROFILE_LINKS/oprofiled" --session-dir "$session" --paused 3>&-
	pid=$(cat "$run_dir/lock")
	[ "$(field pid)" -eq "$pid" ]
	[ "$(field state)" = paused ]
	[ "$(ps -o sid= -p "$pid" | tr -d ' ')" -ne "$pid" ]
	[ "$(readlink "/proc/$pid/fd/0")" = /dev/null ]
	grep -q "runs as process $pid" "$session/samples/oprofiled.log"
	ask shutdown
	timeout 20 tail --pid="$pid" -f /dev/null 3>&-
	wait_for "$session/samples/oprofiled.log" 'oprofiled exits'
}

@test "sessions are saved and reset under load, and no sample counts twice" {
	start_daemon --frequency 997
	start_load
	wait_for_samples 50
	ask 'save one'
	run -1 ask 'save one'
	[[ "$output" == *"EEXIST session one already exists"* ]]
	run -1 ask 'save ../two'
	[[ "$output" == *"is not a valid session name"* ]]
	for name in previous current oprofiled.log a%0Ab .lock; do
		run -1 ask "save $name"
		[[ "$output" == *"is not a valid session name"* ]]
	done
	one=$(opreport --session-dir "$session" --by event --csv session:one |
		awk -F, 'NR > 1 { sum += $2 } END { print sum + 0 }')
	[ "$one" -gt 0 ]
	ask stop
	counted=$(field samples)
	rest=$(reported_samples || true)
	echo "counted $counted: saved $one, since then $rest"
	[ "$counted" -eq $((one + rest)) ]
	ask start
	wait_for_samples $((counted + 50))
	counted=$(field samples)
	ask reset
	ask stop
	[ "$(opreport --session-dir "$session" --by event --csv session:one |
		awk -F, 'NR > 1 { sum += $2 } END { print sum + 0 }')" -eq "$one" ]
	rest=$(reported_samples || true)
	all=$(field samples)
	echo "before the reset $counted, at the end $all: there are $rest"
	[ "$all" -ge "$counted" ]
	[ "$rest" -le $((all - counted)) ]
}

@test "after repeated SIGKILL, dumped samples are there exactly once" {
	start_load
	complete=0
	for turn in 1 2 3 4; do
		start_daemon --frequency 499
		wait_for_samples 30
		ask dump
		dumped=$(reported_samples || true)
		echo "turn $turn: before $complete, dumped $dumped"
		[ "$dumped" -gt "$complete" ]
		counted=$(field samples)
		kill -KILL "$daemon"
		wait_daemon
		complete=$(reported_samples || true)
		echo "after SIGKILL: $complete, the daemon counted $counted"
		[ "$complete" -ge "$dumped" ]
	done
	[ "$(find "$session/samples/current" -name 'segment-*' | wc -l)" -le 4 ] # after a minute the daemon merges segments
	# No two samples have the same time and CPU.
	"$OPROFILE" script --session-dir "$session" --fields time,cpu 2>/dev/null |
		sort >"$BATS_TEST_TMPDIR/times" || true
	[ "$(wc -l <"$BATS_TEST_TMPDIR/times")" -eq "$complete" ]
	uniq -d "$BATS_TEST_TMPDIR/times" | head
	[ "$(uniq -d "$BATS_TEST_TMPDIR/times" | wc -l)" -eq 0 ]
}

@test "segments are rotated, and no sample is lost or duplicated" {
	start_daemon --rotate 300ms --callgraph fp --frequency 997
	start_load
	wait_for_samples 4000
	ask stop
	counted=$(field samples)
	reported=$(reported_samples)
	segments=$(find "$session/samples/current" -name 'segment-*' | wc -l)
	echo "counted $counted, reported $reported, $segments segments"
	[ "$reported" -eq "$counted" ]
	[ "$segments" -gt 2 ]
}

@test "a program below a chroot has the same name in all segments" {
	need_root
	inside=$BATS_TEST_TMPDIR/ctr
	mkdir -p "$inside/bin"
	cp "$WORKLOADS/inner_first" "$inside/bin/inside"
	start_daemon --frequency 997 --rotate 1s
	chroot "$inside" /bin/inside 600000 >/dev/null 3>&- &
	target=$!
	wait_for_file "$session/samples/current/segment-000003"
	wait_for_samples $(($(field samples) + 200))
	# The daemon also continues after its root directory was renamed.
	mv "$inside" "$inside-2"
	wait_for_file "$session/samples/current/segment-000005"
	wait_for_samples $(($(field samples) + 200))
	ask stop
	run -0 opreport --session-dir "$session" --csv --by image
	echo "$output"
	[ "$(grep -c '^/bin/inside,' <<<"$output")" -eq 1 ]
	[ "$(grep -c 'bin/inside' <<<"$output")" -eq 1 ]
}

@test "a rotation that failed is tried again soon" {
	start_daemon --callgraph none
	mv "$session/samples/current" "$session/samples/moved"
	touch "$session/samples/current"
	kill -HUP "$daemon"
	wait_for "$log" 'Not a directory'
	rm "$session/samples/current"
	wait_for_file "$session/samples/current/segment-000001"
}

@test "samples are read while a save waits for a slow disk" {
	export SLOW_DISK=$BATS_TEST_TMPDIR/slow
	touch "$SLOW_DISK"
	LD_PRELOAD=${SLOW_DISK_SO:-$BUILD_ROOT/tests/cmd/slow_disk.so} start_daemon --callgraph none \
		--frequency 997 --max-overhead none --rotate 1s
	start_load
	wait_for_file "$SLOW_DISK.begun"
	rm "$SLOW_DISK"
	ask 'save slow' >"$BATS_TEST_TMPDIR/saved" 3>&- &
	saver=$!
	sleep 0.5
	segment=$(find "$session/samples/current" -name 'segment-*' | sort | tail -1)
	before=$(stat -c %s "$segment")
	sleep 2.5
	after=$(stat -c %s "$segment")
	echo "$segment: $before bytes, $after 2.5 s later"
	kill -0 "$saver"
	[ "$after" -gt "$before" ]
	wait "$saver"
	[ "$(field lost)" -eq 0 ]
	"$OPROFILE" report --session-dir "$session" session:slow --csv >/dev/null
}

@test "a session is kept within its size limit" {
	start_daemon --rotate 500ms --retain 40K --callgraph fp --frequency 997
	start_load
	wait_for "$log" 'old segments were removed'
	[ "$(field oldest)" -gt 0 ]
	ask stop
	[ "$(reported_samples)" -gt 0 ]
	[ "$(reported_samples)" -lt "$(field samples)" ]
}

# has_copy_of FILE SESSION: checks that the session has a copy of this binary. Other binaries of
# this machine can be replaced in the meantime.
has_copy_of() {
	for image in "$session/samples/$2"/images/*[0-9a-f]; do
		! cmp -s "$image" "$1" || return 0
	done
	return 1
}

@test "deleted binaries are copied while recording and are part of a saved session" {
	cp "$WORKLOADS/ratio" "$BATS_TEST_TMPDIR/ratio"
	start_daemon --frequency 997
	"$BATS_TEST_TMPDIR/ratio" 600000 >/dev/null 3>&- &
	target=$!
	wait_for_samples 50
	rm "$BATS_TEST_TMPDIR/ratio"
	kill -HUP "$daemon"
	for ((i = 0; i < 200; i++)); do
		! has_copy_of "$WORKLOADS/ratio" current || break
		sleep 0.1
	done
	has_copy_of "$WORKLOADS/ratio" current
	# The status includes the copy in the disk usage.
	for ((i = 0; i < 100; i++)); do
		[ "$(field disk)" -lt "$(stat -c %s "$WORKLOADS/ratio")" ] || break
		sleep 0.1
	done
	[ "$(field disk)" -ge "$(stat -c %s "$WORKLOADS/ratio")" ]
	wait_for_samples $(($(field samples) + 50))
	ask reset
	[ ! -e "$session/samples/current/images" ]
	wait_for_samples $(($(field samples) + 50))
	ask "save one"
	has_copy_of "$WORKLOADS/ratio" one
	[ -s "$session/samples/one/images/checksums" ]
	wait_for_samples $(($(field samples) + 50))
	ask stop
	has_copy_of "$WORKLOADS/ratio" current
	! grep -q warning "$log"
}

@test "a new session is started after one was renamed" {
	start_daemon --frequency 997
	start_load
	wait_for_samples 20
	mv "$session/samples/current" "$session/samples/moved"
	kill -HUP "$daemon"
	for ((i = 0; i < 200; i++)); do
		[ ! -e "$session/samples/current/segment-000001" ] || break
		sleep 0.1
	done
	wait_for_samples $(($(field samples) + 50))
	ask dump
	cat "$log"
	[ "$(reported_samples)" -gt 0 ]
	! grep -q warning "$log"
}

@test "settings changed while sampling apply at the next start" {
	start_daemon --rotate 500ms --event page-faults:100
	start_load
	run ask "setup SESSION_DIR=$run_dir/other"
	[[ "$output" == *"restart 1"* ]]
	ask "setup CHOSEN_EVENTS_0=context-switches:50 SEPARATE_THREAD=1 IMAGE_FILTER=/no/program"
	# A rotation or another session does not count as a removal.
	wait_for_file "$session/samples/current/segment-000003"
	ask 'save one'
	[ -e "$session/samples/one/segment-000001" ]
	[ "$(field session_dir)" = "$session" ]
	[ "$(field event.0)" = page-faults:100:0:1:1 ]
	[ "$(field separate)" = none ]
	[ "$(field image_filter)" = none ]
	wait_for_file "$session/samples/current/segment-000002"
	[ ! -e "$run_dir/other" ]
	ask stop
	[ "$(field session_dir)" = "$run_dir/other" ]
	[ "$(field event.0)" = context-switches:50:0:1:1 ]
	ask start
	[ "$(field separate)" = thread ]
	[ "$(field image_filter)" = /no/program ]
	[ -e "$run_dir/other/samples/current/segment-000001" ]
}

@test "a recording that cannot restart is tried again" {
	need_root
	mount -t tmpfs -o nr_inodes=64 none "$session" || skip "nothing can be mounted here"
	start_daemon
	start_load
	wait_for_samples 20
	i=0
	while : >"$session/fill-$i"; do
		i=$((i + 1))
	done 2>"$BATS_TEST_TMPDIR/full"
	run -1 ask 'save one'
	echo "$output"
	[[ "$output" == *"error ENOSPC the session was saved as one, but the next one cannot start: "* ]]
	[[ "$output" == *"No space left on device" ]]
	[ -e "$session/samples/one/segment-000001" ]
	[ "$(field state)" = paused ]
	rm "$session"/fill-*
	for ((i = 0; i < 300; i++)); do
		[ "$(field state)" = paused ] || break
		sleep 0.1
	done
	cat "$log"
	[ "$(field state)" = running ]
	[ -e "$session/samples/current/segment-000001" ]
	ask shutdown
	wait_daemon
	umount "$session"
}

@test "samples of a recording that ran out of memory are counted as lost" {
	start_daemon --frequency 997
	start_load
	wait_for_samples 20
	# From now on no memory can be mapped: opening a ring, or growing a table, fails.
	prlimit --pid "$daemon" --as="$(awk '/^VmSize:/ { print 1024 * $2 ":" }' "/proc/$daemon/status")"
	for ((i = 0; i < 300; i++)); do
		! grep -q 'recording restarts' "$log" || break
		"$WORKLOADS/deep_random" 1 >/dev/null 2>&1 3>&- || true
	done
	prlimit --pid "$daemon" --as=unlimited:
	cat "$log"
	grep -E 'warning: [^;]+; recording restarts' "$log"
	! grep -E 'warning: (;|$)' "$log"
	lost=$(sed -n 's/.*warning: \([0-9]*\) samples were lost/\1/p' "$log" | paste -s -d +)
	lost=$((${lost:-0}))
	[ "$lost" -gt 0 ]
	[ "$(field lost)" -eq "$lost" ]
	for ((i = 0; i < 300; i++)); do
		[ "$(field state)" = paused ] || break
		sleep 0.1
	done
	[ "$(field state)" = running ]
	ask shutdown
	wait_daemon
	grep -E "oprofiled exits: [0-9]+ samples, $lost lost" "$log"
	run -3 --separate-stderr opreport --session-dir "$session"
	echo "$stderr"
	[[ "$stderr" == *"segments not finished"* ]]
	[[ "$stderr" == *"warning: $lost samples were dropped during the recording: memory was short"* ]]
	opreport --session-dir "$session" --quality 2>/dev/null | grep -E "^ +$lost +samples dropped: "
	run -3 --separate-stderr "$OPROFILE" script --session-dir "$session"
	[[ "$stderr" == *"$lost samples were dropped"* ]]
}

@test "a recording that cannot start is reported once" {
	start_daemon --callgraph none --no-vmlinux
	mv "$session/samples" "$session/moved"
	touch "$session/samples"
	kill -HUP "$daemon"
	wait_for "$log" 'Not a directory'
	sleep 11
	cat "$log"
	# At most two messages: for the signal, and for the first of the later attempts.
	[ "$(grep -c 'cannot create' "$log")" -le 2 ]
}

@test "partial files of a killed daemon are removed" {
	mkdir -p "$session/samples/current/images"
	torn=("$session/samples/current/segment-000001.17.new" "$session/samples/current/vdso-1.part"
		"$session/samples/current/images/0a.part" "$session/samples/current/.merging")
	touch "${torn[@]}" "$session/samples/current/images/0a"
	start_daemon
	for file in "${torn[@]}"; do
		[ ! -e "$file" ]
	done
	[ -e "$session/samples/current/images/0a" ]
}

@test "a log that is not a regular file is rejected" {
	mkdir -p "$session/samples"
	mkfifo "$session/samples/oprofiled.log"
	run timeout 10 "$OPROFILE_LINKS/oprofiled" --session-dir "$session" --paused 3>&-
	[ "$status" -ne 0 ] && [ "$status" -ne 124 ]
	[[ "$output" == *oprofiled.log* ]]
}

# The reply reports that a session was removed, unless the daemon noticed it first in a regular
# round; then the log reports it.
reports_removal() # NUMBER_IN_LOG COMMAND
{
	local text="'$session/samples/current/segment-000001' was removed while the daemon wrote to it: its samples are lost"
	run ask "$2"
	[[ "$status" -eq 1 && "$output" == *"error ENOENT $text"* ]] ||
		[ "$(grep -c -F "$text" "$log")" -eq "$1" ]
}

@test "a removed session is reported once and replaced" {
	start_daemon --frequency 997
	start_load
	wait_for_samples 200
	rm -r "$session/samples/current"
	reports_removal 1 dump
	wait_for_samples $(($(field samples) + 200))
	ask dump
	[ "$(reported_samples)" -gt 0 ]
	rm -r "$session/samples"
	wait_for_file "$session/samples/current/segment-000001"
	wait_for_samples $(($(field samples) + 200))
	ask dump
	[ "$(reported_samples)" -gt 0 ]
	[ "$(grep -c 'was removed while the daemon wrote to it' "$log")" -eq 2 ]
	rm -r "$session/samples/current"
	reports_removal 3 stop
}

@test "a removed session is reported in the new log" {
	start_daemon
	ask shutdown
	wait_daemon
	"$OPROFILE_LINKS/oprofiled" --session-dir "$session" --frequency 997 3>&-
	daemon=$(cat "$run_dir/lock")
	start_load
	wait_for_samples 100
	rm -r "$session/samples"
	wait_for_file "$session/samples/current/segment-000001"
	wait_for_samples $(($(field samples) + 100))
	grep 'was removed while the daemon wrote to it.*recording restarts' "$session/samples/oprofiled.log"
	grep 'sampling .* at 997 Hz' "$session/samples/oprofiled.log"
	ask shutdown
	daemon=
}

# fill_disk LINES: fills the disk until the log has this many lines about waiting samples. It
# repeats this, because an incomplete file, such as the kernel's symbols, is removed again, which
# frees space.
fill_disk() {
	for ((i = 0; i < 300; i++)); do
		dd if=/dev/zero of="$session/fill" bs=4k oflag=append conv=notrunc \
			2>"$BATS_TEST_TMPDIR/dd" || true
		[ "$(grep -c 'samples are held until there is space' "$log")" -lt "$1" ] || return 0
		sleep 0.1
	done
	cat "$log"
	return 1
}

@test "the daemon waits for space on a full disk and reports lost samples" {
	need_root
	mount -t tmpfs -o size=32m none "$session" || skip "nothing can be mounted here"
	start_daemon --rotate 300ms --callgraph none --frequency 997
	start_load
	wait_for_samples 20
	# A new segment can be refused while the last page of the old one still has space.
	fill_disk 1
	# Rotations become due in the meantime.
	sleep 1
	rm "$session/fill"
	wait_for "$log" 'space is available again'
	wait_for_samples $(($(field samples) + 20))
	ask stop
	counted=$(field samples)
	reported=$(reported_samples)
	echo "counted $counted, reported $reported"
	cat "$log"
	[ "$reported" -eq "$counted" ]
	ask start
	wait_for_samples $((counted + 20))
	fill_disk $(($(grep -c 'samples are held until there is space' "$log") + 1))
	wait_for_samples $(($(field samples) + 50))
	before=$(field samples)
	run -1 ask stop
	echo "$output"
	[[ "$output" == *"error ENOSPC"* ]]
	echo "before $before, now $(field samples), lost $(field lost)"
	[ "$(field samples)" -lt "$before" ]
	[ $(($(field samples) + $(field lost))) -ge "$before" ]
	[ "$(reported_samples)" -eq "$(field samples)" ]
	ask shutdown
	wait_daemon
	umount "$session"
}

@test "other users can dump and query, and get a reason for refusals" {
	need_root
	need setpriv
	chmod 755 "$run_dir"
	setpriv --reuid=65534 --regid=65534 --clear-groups "$python" -c '' ||
		skip "nobody cannot run python3"
	start_daemon --group no-such-group
	cat >"$run_dir/ask.py" <<-'END'
		import socket, sys
		s = socket.socket(socket.AF_UNIX)
		s.connect(sys.argv[1])
		f = s.makefile()
		for verb in sys.argv[2:]:
		    s.sendall(verb.encode() + b"\n")
		    for line in f:
		        if line == "ok\n" or line.startswith("error"):
		            print(verb, line, end="")
		            break
	END
	chmod 644 "$run_dir/ask.py"
	run -0 setpriv --reuid=65534 --regid=65534 --clear-groups "$python" "$run_dir/ask.py" \
		"$run_dir/control" status dump 'set enable 0' stop reset 'save x' shutdown \
		'cookie 1'
	echo "$output"
	[ "${lines[0]}" = "status ok" ]
	[ "${lines[1]}" = "dump ok" ]
	for i in 2 3 4 5 6 7; do
		[[ "${lines[$i]}" == *"error EPERM \""*'" is restricted to root, the daemon'*"no-such-group"* ]]
	done
	[ "$(field state)" = running ]
}

@test "only the owner and the controlling group can read a recording" {
	need_root
	group=$(getent group 65534 | cut -d: -f1)
	[ -n "$group" ] || skip "no group has the number 65534"
	start_daemon --group "$group"
	"$WORKLOADS/ratio" 300 >/dev/null
	ask dump
	current=$session/samples/current
	[ "$(stat -c '%a %g' "$current" "$session/kernel" | sort -u)" = "750 65534" ]
	[ "$(find "$current" "$session/kernel" -type f -exec stat -c '%a %g' {} + | sort -u)" = "640 65534" ]
	kill -TERM "$daemon"
	wait_daemon
	[ "$status" -eq 0 ]
}

@test "members of the group can control the daemon, but not where it writes" {
	need_root
	need setpriv
	chmod 755 "$run_dir"
	setpriv --reuid=65534 --regid=65534 --clear-groups "$python" -c '' ||
		skip "nobody cannot run python3"
	group=$(getent group 65534 | cut -d: -f1)
	[ -n "$group" ] || skip "no group has the number 65534"
	start_daemon --paused --group "$group"
	member() (
		ask_as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
		ask "$1"
	)
	member "setup SEPARATE_LIB=1 SESSION_DIR=$session"
	run -1 member "setup SEPARATE_KERNEL=1 SESSION_DIR=$run_dir"
	echo "$output"
	[[ "$output" == *"error EPERM SESSION_DIR=$run_dir: only root"* ]]
	[ "$(field session_dir)" = "$session" ]
	[ "$(field separate)" = library ]
	ask "setup SESSION_DIR=$run_dir"
	[ "$(field session_dir)" = "$run_dir" ]
}

@test "other users cannot hold the daemon's locks, and it follows no links" {
	touch "$run_dir/lock" "$BATS_TEST_TMPDIR/elsewhere"
	mkdir -p "$session/samples"
	touch "$session/samples/.lock"
	chmod 644 "$run_dir/lock" "$session/samples/.lock"
	start_daemon --frequency 9
	[ "$(stat -c %a "$run_dir/lock")" = 600 ]
	[ "$(stat -c %a "$session/samples/.lock")" = 600 ]
	ask shutdown
	wait_daemon
	ln -sf "$BATS_TEST_TMPDIR/elsewhere" "$session/samples/oprofiled.log"
	run -1 timeout 20 "$OPROFILE_LINKS/oprofiled" --session-dir "$session" --paused 3>&-
	echo "$output"
	[[ "$output" == *"oprofiled.log': "* ]]
	[ ! -s "$BATS_TEST_TMPDIR/elsewhere" ]
}

@test "settings are checked, and used at the next start" {
	need_recording --system-wide
	start_daemon --paused
	ask 'setup CHOSEN_EVENTS_0=page-faults:1:0:1:1 NR_CHOSEN=1 SEPARATE_LIB=1 CALLGRAPH=0'
	[ "$(field event.0)" = page-faults:1:0:1:1 ]
	[ "$(field separate)" = library ]
	run -1 ask 'setup CHOSEN_EVENTS_0=page-fauts:1 NR_CHOSEN=1'
	echo "$output"
	[[ "$output" == *"error EINVAL"*page-fauts* ]]
	run -1 ask 'setup BUF_SIZE=many'
	[[ "$output" == *"error EINVAL invalid value 'many' of BUF_SIZE: expected a number"* ]]
	[ "$(field event.0)" = page-faults:1:0:1:1 ]
	ask start
	"$WORKLOADS/faults" >/dev/null 2>&1 || true
	[[ "$(ask 'setup NR_CHOSEN=0')" == *"restart 1"* ]]
	ask stop
	[ "$(field samples)" -gt 0 ]
	run -0 opreport --session-dir "$session" --by event --csv
	grep -q '^page-faults,' <<<"$output"
}

value() {
	ask "get $1" | sed -n 's/^value //p'
}

@test "the control files configure, start, dump, count and stop" {
	need_recording --system-wide
	start_daemon --paused
	ask list | grep -q '^0/count 0644$'
	[ "$(value enable)" -eq 0 ]
	[ -n "$(value cpu_type)" ]
	[ "$(value 0/enabled)" -eq 0 ]
	ask 'set 0/event TIMER'
	ask 'set 0/count 2000000'
	ask 'set 0/enabled 1'
	ask 'set buffer_size 65536'
	ask 'set enable 1'
	run -1 ask 'set enable 1'
	[[ "$output" == *"error EINVAL enable: the daemon is already sampling"* ]]
	[[ "$(value last_error)" == "enable: the daemon is already sampling" ]]
	[ "$(field event.0)" = TIMER:2000000:0:1:1 ]
	start_load
	wait_for_samples 100
	ask 'set dump 1'
	ask 'set enable 0'
	received=0
	for cpu in $(ask list | sed -n 's,^stats/\(cpu[0-9]*\)/sample_received.*,\1,p'); do
		received=$((received + $(value "stats/$cpu/sample_received")))
	done
	echo "received $received, reported $(reported_samples)"
	[ "$received" -eq "$(reported_samples)" ]
	ask 'set 1/event NO_SUCH'
	run -1 ask 'set 1/enabled 1'
	run -1 ask 'set stats/cpu0/sample_received 0'
	[[ "$output" == *"error EACCES"* ]]
	run -1 ask 'get nothing'
	[[ "$output" == *"error ENOENT"* ]]
}

# follow NAME: starts a client that reads the samples into the file NAME; adds its process to
# $readers.
follow() {
	"$python" "$SOURCE_ROOT/tests/cmd/read_stream.py" follow "$run_dir/control" "$1" \
		>"$1.log" 2>&1 3>&- &
	readers="$readers $!"
	wait_for "$1.log" reading
}

# received NAME WHAT: prints the count of WHAT in the samples that the client NAME received.
received() {
	"$python" "$SOURCE_ROOT/tests/cmd/read_stream.py" summarize "$1" >"$1.summary"
	awk -v what="$2" '$1 == what && NF == 2 { n = $2 } END { print n + 0 }' "$1.summary"
}

@test "the buffer of the control files has the reported samples, and its cookies are binaries" {
	need_recording --system-wide
	need readelf
	stream=$BATS_TEST_TMPDIR/stream
	start_daemon --paused --frequency 499
	# One client is stopped and does not read.
	follow "$BATS_TEST_TMPDIR/asleep"
	kill -STOP ${readers##* }
	follow "$stream"
	ask 'set 3/event TIMER'
	ask 'set 3/enabled 1'
	ask start
	start_load
	wait_for_samples 400
	ask stop
	samples=$(($(field samples) - $(value stats/sample_lost_no_mapping)))
	for ((i = 0; i < 100; i++)); do
		[ "$(received "$stream" samples)" -lt "$samples" ] || break
		sleep 0.1
	done
	echo "samples $samples"
	cat "$stream.summary"
	[ "$(received "$stream" samples)" -eq "$samples" ]
	[ "$(received "$stream" lost)" -eq 0 ]
	[ "$(received "$stream" callers)" -gt 0 ]
	grep -qx "counter 3 $samples" "$stream.summary"
	# The binary with the most samples in the stream has as many in the report.
	cookie=$(awk '$1 == "cookie" && $2 > 0 && $3 > most { most = $3; c = $2 } END { print c }' \
		"$stream.summary")
	run -0 ask "cookie $cookie"
	echo "$output"
	path=$(sed -n 's/^path //p' <<<"$output")
	[ ! -e "$path" ] || readelf -n "$path" | grep -q "Build ID: $(
		sed -n 's/^build_id //p' <<<"$output")"
	run -0 opreport --session-dir "$session" --by image --csv
	echo "$output"
	reported=$(awk -F, -v image="$path" '{ gsub("\"", "", $1) } $1 == image { print $2 }' \
		<<<"$output")
	grep -qx "cookie $cookie $reported" "$stream.summary"
	grep -q '^app [1-9]' "$stream.summary"
	for no in 0 99999 x; do
		run -1 ask "cookie $no"
		[[ "$output" == "error ENOENT no binary has the cookie $no"* ]]
	done
	ask shutdown
	wait_daemon
}

@test "filters restrict the recording to binaries, a process and a stack depth" {
	need_recording --system-wide
	ratio=$(realpath "$WORKLOADS/ratio")
	start_daemon --paused --frequency 499
	start_load
	run -1 ask 'setup PID_FILTER=me'
	[[ "$output" == *"error EINVAL PID_FILTER=me: not a process id"* ]]
	ask "setup IMAGE_FILTER=/no/such,$ratio CALLGRAPH=2"
	[ "$(field image_filter)" = "/no/such,$ratio" ]
	ask start
	wait_for_samples 50
	ask stop
	counted=$(field samples)
	run -0 opreport --session-dir "$session" --by app --csv
	echo "$output"
	[ "$(tail -n +2 <<<"$output" | grep -vc "$(basename "$ratio")")" -eq 0 ]
	[ "$(reported_samples)" -eq "$counted" ]
	# The deepest stack has the sampled address and two callers.
	run -0 --separate-stderr "$OPROFILE" script --session-dir "$session"
	awk 'BEGIN { n = -1 } NF == 0 { if (n > most) most = n; n = -1; next } { n++ } END { print "deepest", most; exit most != 3 }' \
		<<<"$output"
	ask reset
	ask "setup IMAGE_FILTER=all PID_FILTER=$target"
	[ "$(field pid_filter)" = "$target" ]
	ask start
	wait_for_samples $((counted + 50))
	ask stop
	[ "$(reported_samples)" -eq $(($(field samples) - counted)) ]
	[ "$(reported_samples "tgid:$target")" -eq "$(reported_samples)" ]
	# A process group: its leader and the processes that it forks, also short-lived ones.
	ask reset
	setsid bash -c 'while :; do /bin/true; for ((i = 0; i < 3000; i++)); do :; done; done' 3>&- &
	readers=$!
	counted=$(field samples)
	ask "setup PID_FILTER=none PGRP_FILTER=$readers"
	[ "$(field pgrp_filter)" = "$readers" ]
	ask start
	wait_for_samples $((counted + 100))
	ask stop
	run -0 opreport --session-dir "$session" --by comm --csv
	echo "$output"
	[ "$(tail -n +2 <<<"$output" | grep -vcE '(bash|true)')" -eq 0 ]
	grep -q true <<<"$output"
	grep -q bash <<<"$output"
	run -1 ask 'setup PGRP_FILTER=-1'
}

# Does what a service manager does: listens for notifications, and on the control socket.
manage() {
	cat <<-'END'
		import os, socket, subprocess, sys
		run, log, program = sys.argv[1:4]
		notes = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
		notes.bind(run + "/notify")
		control = socket.socket(socket.AF_UNIX)
		control.bind(run + "/control")
		control.listen(5)
		pid = os.fork()
		if not pid:
		    os.dup2(control.fileno(), 3)
		    os.set_inheritable(3, True)
		    os.environ.update(NOTIFY_SOCKET=run + "/notify", LISTEN_FDS="1",
		        LISTEN_PID=str(os.getpid()), WATCHDOG_USEC="2000000")
		    os.execv(program, [program] + sys.argv[4:])
		notes.settimeout(60)
		with open(log, "w", buffering=1) as out:
		    while True:
		        note = notes.recv(4096).decode()
		        print(note, file=out)
		        if "STOPPING=1" in note:
		            break
		sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	END
}

@test "a removed socket is created again" {
	start_daemon
	for verb in stop start; do
		rm "$run_dir/control"
		wait_for_file "$run_dir/control"
		ask "$verb"
		[ "$(stat -c %a "$run_dir/control")" = 666 ]
	done
	[ "$(grep -c 'the control socket had been removed: created it again' "$log")" -eq 2 ]
	ask shutdown
	wait_daemon
	[ "$status" -eq 0 ]
	[ ! -e "$run_dir/control" ]
}

@test "the service manager is notified, and its socket is used" {
	start_daemon
	ask shutdown
	wait_daemon
	manage >"$run_dir/manage.py"
	notes=$BATS_TEST_TMPDIR/notes
	timeout 120 "$python" "$run_dir/manage.py" "$run_dir" "$notes" \
		"$OPROFILE_LINKS/oprofiled" --foreground --session-dir "$session" \
		>/dev/null 2>"$log" 3>&- &
	manager=$!
	wait_for "$notes" '^READY=1$'
	grep -q '^STATUS=sampling$' "$notes"
	wait_for "$notes" '^WATCHDOG=1$'
	[ "$(field state)" = running ]
	[ "$(field pid)" -eq "$(sed -n 's/^MAINPID=//p' "$notes")" ]
	ask shutdown
	wait "$manager"
	grep -q '^STOPPING=1$' "$notes"
	# The socket belongs to the manager.
	[ -e "$run_dir/control" ]
}

has_empty_bound() # PID
{
	for set in CapBnd CapAmb CapInh; do
		grep -q "^$set:[[:space:]]*0*\$" "/proc/$1/status"
	done
}

@test "started by root, the daemon keeps only the capabilities that it needs" {
	need_root
	start_daemon
	caps=$(sed -n 's/^CapEff:[[:space:]]*//p' "/proc/$daemon/status")
	permitted=$(sed -n 's/^CapPrm:[[:space:]]*//p' "/proc/$daemon/status")
	echo "effective $caps, permitted $permitted"
	[ "$caps" = "$permitted" ]
	# Neither CAP_CHOWN (0), CAP_DAC_OVERRIDE (1), CAP_SETUID (7), CAP_NET_ADMIN (12) nor
	# CAP_SYS_MODULE (16).
	[ $((0x$caps & 0x11083)) -eq 0 ]
	grep -q '^NoNewPrivs:[[:space:]]*1' "/proc/$daemon/status"
	# A program that the daemon executes cannot gain any capability.
	has_empty_bound "$daemon"
	start_load
	wait_for_samples 100
	ask dump
	run -0 opreport --session-dir "$session" --by image --csv
	grep -q "$(basename "$WORKLOADS/ratio")" <<<"$output"
}

# Waits for the process that manages the workers, and sets $supervisor to its pid.
helper() {
	for ((i = 0; i < 100; i++)); do
		supervisor=$(pgrep -P "$daemon" -x oprofile-tables) || true
		worker=$([ -z "$supervisor" ] || pgrep -P "$supervisor") || true
		[ -z "$worker" ] || return 0
		sleep 0.1
	done
	echo "there is no helper"
	return 1
}

is_confined() {
	grep -E '^(Uid|Cap|NoNewPrivs|Seccomp)' "/proc/$1/status"
	for set in CapInh CapPrm CapEff CapAmb; do
		grep -q "^$set:[[:space:]]*0*\$" "/proc/$1/status"
	done
	grep -q '^NoNewPrivs:[[:space:]]*1' "/proc/$1/status"
}

# callers_of PROGRAM: prints how many stacks of its samples have main among the callers.
callers_of() {
	ask dump >/dev/null
	opreport --session-dir "$session" --by stack --csv "$1" 2>/dev/null | grep -c main || true
}

@test "binaries are read by a confined helper process" {
	start_daemon --frequency 997
	start_load
	wait_for_samples 300
	helper
	is_confined "$supervisor"
	is_confined "$worker"
	! grep -q '^Seccomp:' /proc/self/status || grep -q '^Seccomp:[[:space:]]*2' "/proc/$worker/status"
	if [ "$EUID" -eq 0 ]; then
		# Another user's process could stop it otherwise.
		uid=$(awk '/^Uid:/ { print $2 }' "/proc/$worker/status")
		[ "$uid" -ge 1879048192 ] || ! grep -qE '^ *0 +0 +4294967295' /proc/self/uid_map
		[ "$uid" -ne 0 ]
		run ! setpriv --reuid=65534 --regid=65534 --clear-groups bash -c "kill -STOP $worker"
		has_empty_bound "$supervisor"
		has_empty_bound "$worker"
		local tries=0 # one more descriptor is open while it reads a binary
		until [ "$(ls "/proc/$worker/fd" | wc -l)" -eq 4 ]; do
			[ $((++tries)) -lt 100 ]
			sleep 0.1
		done
	fi
	[ "$(callers_of "$WORKLOADS/ratio")" -gt 0 ]
}

# Skips the test if the daemon has no filter of system calls, which its log must report.
need_filter() {
	if grep 'system calls are not restricted' "$log"; then
		[[ "$(uname -m)" != x86_64 && "$(uname -m)" != aarch64 ]] ||
			grep -q -e sanitizers -e seccomp "$log"
		skip "the daemon has no filter of system calls: NOT TESTED"
	fi
}

@test "after the start, system calls that the daemon does not need are refused" {
	may_refuse=1
	export FORBIDDEN_CALLS=$BATS_TEST_TMPDIR/calls
	LD_PRELOAD=${FORBIDDEN_CALLS_SO:-$BUILD_ROOT/tests/cmd/forbidden_calls.so} start_daemon
	need_filter
	grep -q '^Seccomp:[[:space:]]*2' "/proc/$daemon/status"
	run ! grep 'refused system call' "$log"
	: >"$FORBIDDEN_CALLS"
	wait_for_file "$FORBIDDEN_CALLS.results"
	cat "$FORBIDDEN_CALLS.results"
	# EPERM is 1.
	[ "$(grep -c . "$FORBIDDEN_CALLS.results")" -ge 35 ]
	for name in execve ptrace init_module mount; do
		grep -q "^$name [0-9]* 1\$" "$FORBIDDEN_CALLS.results"
	done
	run ! grep -v ' 1$' "$FORBIDDEN_CALLS.results"
	# The log contains each refused system call once.
	start_load
	wait_for_samples 100
	sed -n 's/.*refused system call \([0-9]*\),.*/\1/p' "$log" | sort >logged
	cut -d ' ' -f 2 "$FORBIDDEN_CALLS.results" | sort | diff - logged
	ask shutdown
	wait_daemon
	[ "$status" -eq 0 ]
}

@test "a dump during the making of an unwind table loses no later stacks" {
	cd "$BATS_TEST_TMPDIR"
	cat >deep.c <<-'END'
		__attribute__((noinline)) static unsigned long work(unsigned int depth, unsigned long n)
		{
			for (unsigned int i = 0; i < 100000 && !depth; i++)
				__asm__ volatile("" : "+r"(n));
			n = depth ? work(depth - 1, n + 1) : n;
			__asm__ volatile("" : "+r"(n));
			return n + 1;
		}
		int main(void)
		{
			for (unsigned long n = 0;;)
				n = work(9, n);
		}
	END
	gcc -O1 -fomit-frame-pointer -o deep deep.c
	start_daemon --frequency 997 --max-overhead none
	start_load
	wait_for_samples 100
	helper
	kill -STOP "$worker"
	./deep 3>&- &
	readers=$!
	wait_for_samples $(($(field samples) + 200))
	ask dump
	kill -CONT "$worker"
	wait_for_samples $(($(field samples) + 3000))
	ask dump
	opreport --session-dir "$session" --by stack --csv "$PWD/deep" 2>/dev/null |
		awk -F, 'NR > 1 { all += $(NF - 1); if (/main/) whole += $(NF - 1) }
			END { print whole, all; exit !(all > 300 && whole * 2 > all) }'
}

@test "a helper that dies is replaced, and stacks stay complete" {
	start_daemon --frequency 997
	start_load
	wait_for_samples 100
	helper
	first=$worker
	# Kill the worker between two binaries, and later in the middle of one, when it has a
	# request and does not answer.
	kill -SEGV "$worker"
	cp "$WORKLOADS/ratio" "$BATS_TEST_TMPDIR/after"
	"$BATS_TEST_TMPDIR/after" 600000 >/dev/null 3>&- &
	readers=$!
	wait_for_samples "$(($(field samples) + 1000))"
	helper
	[ "$worker" != "$first" ]
	[ "$(callers_of "$BATS_TEST_TMPDIR/after")" -gt 0 ]
	second=$worker
	kill -STOP "$worker"
	cp "$WORKLOADS/ratio" "$BATS_TEST_TMPDIR/during"
	"$BATS_TEST_TMPDIR/during" 600000 >/dev/null 3>&- &
	readers+=" $!"
	wait_for_samples "$(($(field samples) + 500))"
	# A dump does not wait for the stopped worker.
	ask dump
	"$OPROFILE" report --session-dir "$session" --by image --csv | grep '/during,'
	grep 'State:.*stopped' "/proc/$worker/status"
	kill -SEGV "$worker"
	kill -CONT "$worker"
	wait_for_samples "$(($(field samples) + 1000))"
	[ "$(callers_of "$BATS_TEST_TMPDIR/during")" -gt 0 ]
	helper
	[ "$worker" != "$second" ]
	# Kill the manager of the workers; the daemon restarts it.
	kill -KILL "$supervisor"
	cp "$WORKLOADS/ratio" "$BATS_TEST_TMPDIR/again"
	"$BATS_TEST_TMPDIR/again" 600000 >/dev/null 3>&- &
	readers+=" $!"
	wait_for_samples "$(($(field samples) + 1000))"
	[ "$(callers_of "$BATS_TEST_TMPDIR/again")" -gt 0 ]
	helper
	is_confined "$worker"
	cat "$log"
	! grep -q 'crashed' "$log"
	kill -TERM "$daemon"
	wait_daemon
	[ "$status" -eq 0 ]
	[ ! -e "/proc/$supervisor" ]
}

# Waits until the governor has run once more.
wait_for_look() {
	before=$(field cost_cpu)
	for ((i = 0; i < 300; i++)); do
		[ "$(field cost_cpu)" = "$before" ] || return 0
		sleep 0.2
	done
	echo "waited in vain for a look of the governor"
	return 1
}

@test "programs that keep changing names fill neither memory nor the session" {
	cd "$BATS_TEST_TMPDIR"
	start_daemon --verbose
	wait_for_samples 10
	"$WORKLOADS/flood" 200000 3>&-
	ask dump
	kill -TERM "$daemon"
	wait_daemon
	cat "$log"
	[ "$status" -eq 0 ]
	! grep -q 'recording restarts' "$log"
	names=$(sed -n 's/.*the session contains \([0-9]*\) names.*/\1/p' "$log" | tail -1)
	[ "$names" -lt 20000 ]
	[ "$(du -sk "$session/samples/current"/segment-* | awk '{ n += $1 } END { print n }')" -lt 300 ]
}

@test "a user who maps very many files loses names of own code only" {
	need_root
	cd "$BATS_TEST_TMPDIR"
	mkdir files
	chown 65534 files
	# Another user can reach neither this directory by its path nor, perhaps, the sources.
	script=$(cat "$SOURCE_ROOT/tests/cmd/map_files.py")
	(cd files && setpriv --reuid=65534 --regid=65534 --clear-groups python3 -c pass) ||
		skip "another user cannot run python3 here: NOT TESTED"
	start_daemon --max-memory 48M
	wait_for_samples 10
	mkfifo hold
	(cd files && exec setpriv --reuid=65534 --regid=65534 --clear-groups \
		python3 -c "$script" 4 3000 <../hold >../mapped 3>&-) &
	readers+=" $!"
	exec 5>hold
	for ((tries = 0; tries < 600; tries++)); do
		! grep -q "processes of user 65534 use too much memory" "$log" || break
		sleep 0.1
	done
	"$WORKLOADS/ratio" 300 >/dev/null 3>&- 5>&-
	ask dump
	exec 5>&-
	opreport --session-dir "$session" --by symbol --csv >symbols
	kill -TERM "$daemon"
	wait_daemon
	cat "$log"
	[ "$status" -eq 0 ]
	grep -q "processes of user 65534 use too much memory" "$log"
	! grep -q "processes of user 0 " "$log"
	! grep -q 'recording restarts' "$log"
	grep -q '^work_b,' symbols
}

@test "costly stacks of one user do not lower other users' rates" {
	need_root
	[ "$(uname -m)" = x86_64 ] || skip "the program is made for x86_64: NOT TESTED"
	cd "$BATS_TEST_TMPDIR"
	cp "$WORKLOADS/deep_random" .
	chmod 755 deep_random
	start_daemon --max-overhead 4%
	wait_for_look
	for i in 1 2; do
		setpriv --reuid=65534 --regid=65534 --clear-groups ./deep_random 60 3>&- &
		readers+=" $!"
	done
	for ((tries = 0; tries < 300; tries++)); do
		! grep -q "user 65534 have very many different stacks" "$log" || break
		sleep 0.2
	done
	wait_for_look
	wait_for_look
	kill -KILL $readers
	ask dump
	ask status
	cat "$log"
	[ "$(field rate)" -eq 99 ]
	[ "$(grep -c "user 65534 have very many different stacks: their stacks are cut" "$log")" -eq 1 ]
	! grep -q 'recording restarts' "$log"
	# The functions of the program are still known.
	opreport --session-dir "$session" --by symbol --csv comm:deep_random >symbols
	grep -q '^random_spin,' symbols
}

@test "costly binaries of one user do not lower other users' rates" {
	need_root
	[ "$(uname -m)" = x86_64 ] || skip "the program is made for x86_64: NOT TESTED"
	cd "$BATS_TEST_TMPDIR"
	printf '%s\n' 'int main(void) { for (volatile unsigned long n = 0;; n++) ; }' >spin.c
	gcc -O1 -fcf-protection=none -o spin spin.c
	python3 "$SOURCE_ROOT/tests/cmd/costly_unwind.py" spin costly1 30000000
	chmod 755 costly1
	chown 65534 costly1
	for i in {2..6}; do
		cp -p costly1 "costly$i"
	done
	start_daemon --max-overhead 2%
	wait_for_look # what runs already does not count
	[ "$(field rate)" -eq 99 ]
	[ "$(field tables_refused)" -eq 0 ]
	for i in {1..6}; do
		"./costly$i" 3>&- &
		readers+=" $!"
	done
	for ((tries = 0; tries < 300; tries++)); do
		[ "$(field tables_refused)" -eq 0 ] || break
		sleep 0.2
	done
	kill -KILL $readers
	wait_for_look
	wait_for_look
	ask status
	cat "$log"
	[ "$(field rate)" -eq 99 ]
	[[ "$(field governor)" == "the rate is the requested one"* ]]
	refused=$(field tables_refused)
	[ "$refused" -ge 1 ]
	[ "$(grep -c 'unwind tables for binaries of user id 65534: CPU time used up' "$log")" -eq 1 ]
	run -0 "$OPROFILE_LINKS/oprofile" status
	[[ "$output" == *"Tables      $refused not made"* ]]
	# Other programs have their stacks; those of the refused binaries use frame pointers.
	ask dump
	run -0 opreport --session-dir "$session" --by image --csv
	[[ "$output" == *costly* ]]
	kill -TERM "$daemon"
	wait_daemon
	[ "$status" -eq 0 ]
}

@test "processes that keep renaming themselves do not lower rates" {
	need_root
	cd "$BATS_TEST_TMPDIR"
	printf '%s\n' '#include <stdio.h>' '#include <sys/prctl.h>' 'int main(void)' '{' \
		'	char name[16];' '	for (unsigned long n = 0;; n++) {' \
		'		snprintf(name, sizeof(name), "n%lu", n);' '		prctl(PR_SET_NAME, name);' '	}' '}' >names.c
	gcc -O1 -o names names.c
	chmod 755 . names
	start_daemon --max-overhead 2%
	wait_for_look # what runs already does not count
	[ "$(field rate)" -eq 99 ]
	setpriv --reuid=65534 --regid=65534 --clear-groups "$PWD/names" 3>&- &
	readers+=" $!"
	wait_for_look
	wait_for_look
	kill -KILL $readers
	ask status
	cat "$log"
	[ "$(field rate)" -eq 99 ]
	[[ "$(field governor)" == "the rate is the requested one"* ]]
	kill -TERM "$daemon"
	wait_daemon
	[ "$status" -eq 0 ]
}

# In a mount namespace, which every user can create, any file can be at any path.
@test "two files with the same build-id at the same path have separate unwind tables" {
	need "${CC:-cc}"
	load same_build_id
	cd "$BATS_TEST_TMPDIR"
	same_build_id "$PWD/one" 16
	same_build_id "$PWD/two" 1000
	unshare --mount true || skip "NOT TESTED: namespaces cannot be made here"
	start_daemon --frequency 997
	./one first 3>&- &
	readers=$!
	unshare --mount sh -c "mount --bind '$PWD/two' '$PWD/one' && exec '$PWD/one' second" 3>&- &
	readers="$readers $!"
	wait $readers
	readers=
	ask stop
	expect_whole first
	expect_whole second
}

@test "wrong arguments are rejected in one line" {
	run -1 "$OPROFILE_LINKS/oprofiled" --session-dir "$session/none" --foreground
	[[ "$output" == *"--session-dir: $session/none does not exist; "*"mkdir -p '$session/none'"* ]]
	ln -s "$session/none" "$BATS_TEST_TMPDIR/link"
	run -1 "$OPROFILE_LINKS/oprofiled" --session-dir "$BATS_TEST_TMPDIR/link" --foreground
	[[ "$output" == *"link"*": No such file"* ]]
	run -1 "$OPROFILE_LINKS/oprofiled" --separate-lib=2 --foreground
	[[ "$output" == *"--separate-lib=2: give 0 or 1"* ]]
	run -1 "$OPROFILE_LINKS/oprofiled" --events nothing:5 --foreground
	[[ "$output" == *"nothing"* ]]
	run -1 "$OPROFILE_LINKS/oprofiled" --retain 2X --foreground
	[[ "$output" == *"give a size and an age"* ]]
	run -1 "$OPROFILE_LINKS/oprofiled" --max-overhead 200% --foreground
	[[ "$output" == *"--max-overhead \"200%\": give a share of the CPUs' time"* ]]
	run -1 "$OPROFILE_LINKS/oprofiled" --max-memory 1d --foreground
	[[ "$output" == *"--max-memory \"1d\": give a size"* ]]
	run -1 "$OPROFILE_LINKS/oprofiled" word
	[[ "$output" == *"unexpected argument 'word'"* ]]
	run -1 "$OPROFILE_LINKS/oprofiled" --xen-image x
	[[ "$output" == *"Xen"* ]]
}

@test "perf can record at the same time" {
	need perf
	need_root
	start_daemon
	wait_for "$log" 'sampling'
	# perf 6.1 sometimes crashes while it collects build-ids.
	perf_record --no-buildid -o "$BATS_TEST_TMPDIR/perf.data" -F 999 -e cpu-clock -- \
		sh -c 'for i in 1 2 3; do ls -lR /usr/include >/dev/null; done'
	perf report -f -i "$BATS_TEST_TMPDIR/perf.data" --stdio --sort comm 2>/dev/null | grep -q ' ls'
	ask shutdown
	wait_daemon
}

# scrape [PATH]: prints the reply of the metrics port, whose address is in the log.
scrape() {
	"$python" - "$(sed -n 's,.*metrics are at http://\(.*\)/metrics$,\1,p' "$log" | tail -1)" "${1:-/metrics}" <<-'END'
		import socket, sys
		host, port = sys.argv[1].rsplit(":", 1)
		s = socket.create_connection((host.strip("[]"), int(port)), 20)
		s.sendall(b"GET " + sys.argv[2].encode() + b" HTTP/1.1\r\nHost: here\r\n\r\n")
		reply = b""
		while more := s.recv(65536):
		    reply += more
		sys.stdout.write(reply.decode())
	END
}

# A file of the test lists the CPUs that are online.
@test "a CPU that comes online is sampled soon" {
	taskset -c 1 true || skip "there is one CPU: NOT TESTED"
	echo 0 >"$BATS_TEST_TMPDIR/online"
	unshare --mount mount --bind "$BATS_TEST_TMPDIR/online" /sys/devices/system/cpu/online ||
		skip "nothing can be mounted here: NOT TESTED"
	taskset -c 1 "$WORKLOADS/ratio" 60000 >/dev/null 3>&- &
	target=$!
	cat >"$BATS_TEST_TMPDIR/oprofiled" <<-END
		#!/bin/bash
		exec unshare --mount bash -c 'mount --bind "\$1" /sys/devices/system/cpu/online &&
			exec "\$2" daemon "\${@:3}"' - '$BATS_TEST_TMPDIR/online' '$OPROFILE' "\$@"
	END
	chmod +x "$BATS_TEST_TMPDIR/oprofiled"
	OPROFILE_LINKS=$BATS_TEST_TMPDIR
	start_daemon --frequency 997
	sleep 1
	ask dump
	run -0 "$OPROFILE" report --session-dir "$session" --by cpu,comm --csv
	grep '^0,' <<<"$output"
	run -1 grep '^1,' <<<"$output"
	echo 0-1 >"$BATS_TEST_TMPDIR/online"
	for ((i = 0; i < 100; i++)); do
		! grep 'CPU 1 has come online' "$log" || break
		sleep 0.1
	done
	sleep 1
	ask dump
	"$OPROFILE" report --session-dir "$session" --by cpu,comm --csv | grep '^1,.*ratio'
	# Once.
	[ "$(grep -c 'has come online' "$log")" -eq 1 ]
}

@test "a CPU that was offline for a moment is sampled soon" {
	need_root
	[ -n "${TEST_CPU_HOTPLUG-}" ] ||
		skip "takes CPU 1 away from others for a moment: set TEST_CPU_HOTPLUG: NOT TESTED"
	online=/sys/devices/system/cpu/cpu1/online
	[ -w $online ] || skip "CPU 1 cannot go offline: NOT TESTED"
	start_daemon --frequency 997 --max-overhead none
	sleep 1
	echo 0 >$online
	sleep 0.2
	echo 1 >$online
	wait_for "$log" 'CPU 1 was briefly offline'
	taskset -c 1 "$WORKLOADS/ratio" 60000 >/dev/null 3>&- &
	target=$!
	sleep 2
	ask dump
	"$OPROFILE" report --session-dir "$session" --by cpu,comm --csv | grep '^1,.*ratio'
	sleep 7
	# The message is printed once, and not for an idle CPU.
	[ "$(grep -c 'briefly offline' "$log")" -eq 1 ]
}

# take_port: starts another program that listens on $port; $taker is its pid.
take_port() {
	mkfifo "$BATS_TEST_TMPDIR/port"
	"$python" - >"$BATS_TEST_TMPDIR/port" 3>&- <<-'END' &
		import signal, socket
		s = socket.create_server(("127.0.0.1", 0))
		print(s.getsockname()[1], flush=True)
		signal.pause()
	END
	taker=$!
	readers+=" $taker"
	read -r port <"$BATS_TEST_TMPDIR/port"
}

@test "a metrics port that is in use disables metrics, not sampling" {
	take_port
	start_daemon --metrics-listen "$port"
	grep "warning.*metrics at $port: cannot listen: Address already in use; retrying once a minute" "$log"
	start_load
	wait_for_samples 100
	[ -z "$(field metrics)" ]
	# The old port stays open until the new one works; another spelling of the same address
	# changes nothing.
	ask 'setup METRICS_LISTEN=0'
	ask stop
	ask start
	at=$(field metrics)
	ask "setup METRICS_LISTEN=$port"
	ask stop
	ask start
	[ "$(field metrics)" = "$at" ]
	[[ "$(scrape)" == *"oprofile_sampling 1"* ]]
	kill "$taker"
	wait "$taker" || true
	ask stop
	ask start
	[ "$(field metrics)" = "127.0.0.1:$port" ]
	ask "setup METRICS_LISTEN=localhost:$port"
	ask stop
	ask start
	[ "$(field metrics)" = "127.0.0.1:$port" ]
	[[ "$(scrape)" == *"oprofile_sampling 1"* ]]
}

@test "metrics have the values of status and listen on this machine only" {
	start_daemon --metrics-listen 0
	start_load
	wait_for_samples 100
	ask stop
	run -0 scrape
	echo "$output"
	[[ "$output" == "HTTP/1.0 200 OK"* ]]
	[[ "$output" == *"text/plain; version=0.0.4"* ]]
	for row in rate:oprofile_rate_hertz samples:oprofile_samples_total \
		lost:oprofile_lost_samples_total oldest:oprofile_oldest_sample_timestamp_seconds; do
		grep -qx "${row#*:} $(field "${row%%:*}")" <<<"$output"
		grep -q "^# HELP ${row#*:} ." <<<"$output"
		grep -qE "^# TYPE ${row#*:} (counter|gauge)\$" <<<"$output"
	done
	grep -qx 'oprofile_sampling 0' <<<"$output"
	grep -qE '^oprofile_cpu_seconds_total [0-9]+\.[0-9]+$' <<<"$output"
	of_cpus=$(sed -n 's/^oprofile_cpu_samples_total{.*} //p' <<<"$output" | paste -sd+ | bc)
	[ "$of_cpus" -eq "$(field samples)" ]
	[[ "$(scrape /)" == "HTTP/1.0 404"* ]]
	# New metrics are available every second. A new address moves the port, and an empty one
	# closes it.
	ask 'setup METRICS_LISTEN=[::1]:0'
	ask start
	wait_for_samples "$(($(field samples) + 100))"
	sleep 1.1
	[[ "$(scrape)" == *"oprofile_sampling 1"* ]] || [ ! -e /proc/net/if_inet6 ]
	run -1 ask 'setup METRICS_LISTEN=0.0.0.0:9100'
	[[ "$output" == *"error EINVAL METRICS_LISTEN: \"0.0.0.0:9100\": metrics are only served locally"* ]]
	ask 'setup METRICS_LISTEN=none'
	ask stop
	ask start
	run ! scrape
	[ -z "$(field metrics)" ]
	run -1 "$OPROFILE_LINKS/oprofiled" --foreground --session-dir "$session" --metrics-listen 192.0.2.1:9100
	[[ "$output" == *"METRICS_LISTEN: \"192.0.2.1:9100\": metrics are only served locally, at 127.0.0.1 or [::1]" ]]
}

@test "a clock that jumps by an hour and back loses nothing, and times are correct" {
	export FAKE_CLOCK=$BATS_TEST_TMPDIR/offset
	echo 0 >"$FAKE_CLOCK"
	LD_PRELOAD=${FAKE_CLOCK_SO:-$BUILD_ROOT/tests/cmd/fake_clock.so} start_daemon --callgraph fp --frequency 997 \
		--max-overhead none
	start_load
	wait_for_samples 500
	for offset in 3600 0; do
		echo $offset >"$FAKE_CLOCK"
		[ $offset -gt 0 ] && step=+3600 || step=-3600
		wait_for "$log" "($step s): starting a new segment"
		before=$(field samples)
		day=$(($(date +%s) + offset))
		wait_for_samples $((before + 1500))
		ask dump
		recent=$(reported_samples --between @$day,@$((day + 60)))
		echo "offset $offset: $recent since the step, of $(field samples); $before before it"
		[ "$recent" -ge 1000 ]
		[ "$recent" -le $(($(field samples) - 400)) ]
	done
	ask stop
	counted=$(field samples)
	reported=$(reported_samples)
	echo "counted $counted, reported $reported"
	[ "$reported" -eq "$counted" ]
	[ "$(find "$session/samples/current" -name 'segment-*' | wc -l)" -eq 3 ]
}

@test "a clock that jumps while the disk is full leaves correct times" {
	need_root
	export FAKE_CLOCK=$BATS_TEST_TMPDIR/offset
	echo 0 >"$FAKE_CLOCK"
	mount -t tmpfs -o size=32m none "$session" || skip "nothing can be mounted here"
	LD_PRELOAD=${FAKE_CLOCK_SO:-$BUILD_ROOT/tests/cmd/fake_clock.so} start_daemon --callgraph none \
		--frequency 997 --max-overhead none
	start_load
	wait_for_samples 20
	fill_disk 1
	echo 3600 >"$FAKE_CLOCK"
	wait_for "$log" '(+3600 s): starting a new segment'
	# Each request makes the daemon check whether a rotation is due while it cannot write.
	for i in 1 2 3 4 5 6 7 8; do
		field samples
		sleep 0.1
	done
	rm "$session/fill"
	wait_for "$log" 'space is available again'
	day=$(($(date +%s) + 3600))
	wait_for_samples $(($(field samples) + 1500))
	ask dump
	recent=$(reported_samples --between @$day,@$((day + 60)))
	echo "$recent since there was room, of $(field samples)"
	[ "$recent" -ge 1000 ]
	ask stop
	counted=$(field samples)
	reported=$(reported_samples)
	echo "counted $counted, reported $reported"
	[ "$reported" -eq "$counted" ]
	[ "$(find "$session/samples/current" -name 'segment-*' | wc -l)" -eq 2 ]
	ask shutdown
	wait_daemon
	umount "$session"
}

@test "a server that does not answer for a file or for memory delays nothing else" {
	mkdir "$BATS_TEST_TMPDIR/hung" "$BATS_TEST_TMPDIR/good"
	cp "$WORKLOADS/deep" "$BATS_TEST_TMPDIR/hung/hung_deep"
	cp "$WORKLOADS/deep" "$BATS_TEST_TMPDIR/good/good_deep"
	"$BATS_TEST_TMPDIR/hung/hung_deep" 3000 60000 >/dev/null 3>&- &
	local hung=$!
	LD_PRELOAD="$HANG_SO" HANG_PATH=/hung/ HANG_MEMORY=1 \
		start_daemon --callgraph dwarf --rotate 1s --frequency 199 --max-overhead none
	for ((i = 0; i < 5; i++)); do
		"$BATS_TEST_TMPDIR/good/good_deep" 3000 300 >/dev/null 3>&-
		ask dump >/dev/null
	done
	# Each rotation looks up the file of the hung process, but does not wait for it.
	wait_for_file "$session/samples/current/segment-000004"
	ask stop >/dev/null
	kill "$hung"
	ask status >"$BATS_TEST_TMPDIR/status"
	grep -qx 'lost 0' "$BATS_TEST_TMPDIR/status"
	kill -TERM "$daemon"
	wait_daemon
	[ "$status" -eq 0 ]
	"$OPROFILE" report --session-dir "$session" --csv --by comm,image >"$BATS_TEST_TMPDIR/csv" 2>"$BATS_TEST_TMPDIR/said" || cat "$BATS_TEST_TMPDIR/said"
	cat "$BATS_TEST_TMPDIR/csv"
	[ "$(sed -n 's/^good_deep,[^,]*good_deep,\([0-9]*\),.*/\1/p' "$BATS_TEST_TMPDIR/csv")" -ge 100 ]
	[ "$(sed -n 's/^hung_deep,[^,]*hung_deep,\([0-9]*\),.*/\1/p' "$BATS_TEST_TMPDIR/csv")" -ge 100 ]
}
