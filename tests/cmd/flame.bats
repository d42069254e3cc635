#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Commands that record first and then show the result: oprofile ./program, oprofile flame.

bats_require_minimum_version 1.5.0
load helpers

setup()
{
	begin_recording_test
	mkdir "$BATS_TEST_TMPDIR/work"
	cd "$BATS_TEST_TMPDIR/work"
	cp "$WORKLOADS/ratio" ratio
}

teardown()
{
	end_recording_test
}

@test "oprofile ./program records it and prints its hottest functions to stderr" {
	run -0 --separate-stderr "$OPROFILE" ./ratio 300
	# The program's output is unchanged.
	[[ "${lines[0]}" == "share symbol work_a"* ]]
	[ "${#lines[@]}" -eq 3 ]
	[[ "$stderr" == *"Profiling done."*work_b*"Next:"*"oprofile flame ./ratio 300"* ]]
	# The summary is the report.
	opreport --symbols --top 10 2>/dev/null >want
	diff want <(printf '%s\n' "$stderr" | sed -n '/^CPU: /,/^$/p' | sed '/^$/d')
}

@test "oprofile ./program has the status of the program, and no summary if nothing was recorded" {
	printf '#!/bin/sh\nexit 3\n' >fails
	chmod +x fails
	run -3 "$OPROFILE" ./fails --help
	run -127 --separate-stderr "$OPROFILE" ./missing
	[[ "$stderr" == *missing* && "$stderr" != *Next:* ]]
}

@test "a program without a slash is not run, and the message says how to record it" {
	printf '#!/bin/sh\ntouch run\n' >qqtool
	chmod +x qqtool
	run -1 "$OPROFILE" qqtool
	[[ "$output" == *"unknown command 'qqtool'"*"oprofile ./qqtool" ]]
	PATH=$PWD:$PATH run -1 "$OPROFILE" qqtool
	mkdir elsewhere
	cd elsewhere
	PATH=$OLDPWD:$PATH run -1 "$OPROFILE" qqtool
	[[ "$output" == *"oprofile record qqtool" ]]
	run -1 "$OPROFILE" qqtool
	[[ "$output" != *record* ]]
	[ ! -e run ] && [ ! -e ../run ]
}

@test "flame records call stacks and writes the page into the session directory" {
	run -0 --separate-stderr "$OPROFILE" flame --no-browser ./ratio 300
	[[ "$stderr" == *"Flame graph: oprofile_data/flamegraph.html" ]]
	"$OPROFILE" export flamegraph -o want.html
	diff want.html oprofile_data/flamegraph.html
	grep -q work_b want.html
	# The stacks have callers.
	"$OPROFILE" export folded | grep -q 'main;.*work_b'
}

@test "flame passes its options to operf, and has the status of the command" {
	run -3 "$OPROFILE" flame --no-browser -F 499 -g fp --session-dir "$session" -o page.html \
		sh -c './ratio 300; exit 3' --help
	[[ "$output" == *"Flame graph: page.html" ]]
	[ -e page.html ] && [ ! -e oprofile_data ]
	"$OPROFILE" info "$session/samples/current" | grep -w 499
	run -125 "$OPROFILE" flame
	[[ "$output" == *"nothing to record"*"oprofile export flamegraph"* ]]
	run -125 "$OPROFILE" flame --no-browser -o no-such-dir/page.html ./ratio 100
	[[ "$output" == *no-such-dir* ]]
	run -127 "$OPROFILE" flame --no-browser no-such-command
	[[ "$output" != *"Flame graph"* ]]
}

@test "flame opens the page, but not as root" {
	printf '#!/bin/sh\necho "$1" >%q\n' "$PWD/opened.new" >xdg-open
	echo "mv $PWD/opened.new $PWD/opened" >>xdg-open
	chmod 755 xdg-open
	unset SUDO_UID
	if [ "$(id -u)" -eq 0 ]; then
		DISPLAY=:0 PATH=$PWD:$PATH run -0 "$OPROFILE" flame -o page.html ./ratio 100
		[[ "$output" == *"Open it in a browser: file://$PWD/page.html" ]]
		export SUDO_UID=65534
		for dir in "$PWD" "${PWD%/*}" "$BATS_TEST_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_RUN_TMPDIR"; do
			while [ "$dir" != / ] && [ "$dir" != /tmp ]; do
				chmod o+rx "$dir"
				dir=${dir%/*}
				[ -n "$dir" ] || dir=/
			done
		done
		chmod 777 .
	fi
	DISPLAY=:0 PATH=$PWD:$PATH run -0 "$OPROFILE" flame -o page.html ./ratio 100
	[[ "$output" == *"Flame graph: page.html" ]]
	for _ in $(seq 50); do
		[ -e opened ] && break
		sleep 0.1
	done
	[ "$(cat opened)" = "$PWD/page.html" ]
	rm opened
	# Without a desktop.
	run -0 env -u DISPLAY -u WAYLAND_DISPLAY -u BROWSER PATH="$PWD:$PATH" "$OPROFILE" flame ./ratio 100
	[[ "$output" == *"Open it in a browser: file://$PWD/oprofile_data/flamegraph.html" ]]
	[ ! -e opened ]
}
