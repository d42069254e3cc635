#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# operf and opimport never follow what other users placed in a directory.

bats_require_minimum_version 1.5.0
load helpers

setup()
{
	begin_recording_test
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir -p victim/samples/current victim/samples/previous victim/kernel
	for folder in current previous; do
		echo "$folder" >"victim/samples/$folder/keep"
	done
	echo kernel >victim/kernel/keep
	before=$(find "$BATS_TEST_TMPDIR/victim" | sort)
}

teardown()
{
	end_recording_test
}

refused() # PATH WHY
{
	run -125 --separate-stderr operf -e page-faults:1 true
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ "$stderr" == "operf: $1 $2"* ]]
	[ "$(find "$BATS_TEST_TMPDIR/victim" | sort)" = "$before" ]
	[ "$(cat "$BATS_TEST_TMPDIR/victim/samples/current/keep")" = current ]
}

@test "a symbolic link in place of a session directory is rejected" {
	mkdir place
	cd place
	ln -s ../victim oprofile_data
	refused oprofile_data "is a symbolic link"
	rm oprofile_data
	mkdir oprofile_data
	ln -s ../../victim/samples oprofile_data/samples
	refused oprofile_data/samples "is a symbolic link"
	rm oprofile_data/samples
	ln -s ../../victim/kernel oprofile_data/kernel
	refused oprofile_data/kernel "is a symbolic link"
	rm oprofile_data/kernel
	mkdir -p oprofile_data/samples
	for name in current previous .recording-1; do
		ln -s ../../../victim/samples/current "oprofile_data/samples/$name"
		refused "oprofile_data/samples/$name" "is a symbolic link"
		[ -L "oprofile_data/samples/$name" ]
		rm "oprofile_data/samples/$name"
	done
	run -0 operf -e page-faults:1 true
	[ -d oprofile_data/samples/current ]
}

@test "a directory of another user is rejected" {
	need_root
	mkdir place
	cd place
	run -0 operf -e page-faults:1 true
	run -0 operf -e page-faults:1 true
	mkdir -p oprofile_data/kernel oprofile_data/samples/.recording-1
	for name in . samples samples/current samples/previous samples/.recording-1 kernel; do
		chown 65534 "oprofile_data/$name"
		path=oprofile_data/$name
		refused "${path%/.}" "belongs to user 65534, not to you or root"
		chown 0 "oprofile_data/$name"
	done
	run -0 operf -e page-faults:1 true
}

@test "--session-dir can be a link or another user's, but nothing below it can" {
	ln -s "$session" given
	run -0 operf --session-dir given -e page-faults:1 true
	[ -d "$session/samples/current" ]
	if [ "$(id -u)" -eq 0 ]; then
		chown 65534 "$session"
		run -0 operf --session-dir given -e page-faults:1 true
	fi
	rm -r "$session/samples"
	ln -s "$BATS_TEST_TMPDIR/victim/samples" "$session/samples"
	run -125 operf --session-dir given -e page-faults:1 true
	[[ "$output" == *"given/samples is a symbolic link"* ]]
	[ "$(find "$BATS_TEST_TMPDIR/victim" | sort)" = "$before" ]
}

@test "another user's link to a directory is not followed for writing" {
	need_root
	operf --session-dir "$session" -e page-faults:1 true
	oparchive --session-dir "$session" --output a.oparchive
	mkdir place
	ln -s ../victim place/out
	chown -h 65534 place/out
	for words in "operf --session-dir place/out -e page-faults:1 true" \
		"oparchive --session-dir $session -o place/out" \
		"oparchive --session-dir $session -o place/out/new" \
		"oparchive --session-dir $session --output place/out/new.oparchive" \
		"opimport --session-dir place/out --name=x a.folded" \
		"opannotate --session-dir $session --source -o place/out/new" \
		"env TMPDIR=place/out $OPROFILE_LINKS/opreport a.oparchive"; do
		echo "main;work 10" >a.folded
		# shellcheck disable=SC2086
		PATH=$OPROFILE_LINKS:$PATH run timeout 60 $words
		echo "$words: $output"
		[ "$status" -ne 0 ]
		[[ "$output" == *"place/out"*"the path contains a symbolic link of user 65534: give a path without it"* ]]
	done
	[ "$(find "$BATS_TEST_TMPDIR/victim" | sort)" = "$before" ]
}

@test "opimport removes and renames nothing through a link" {
	echo "main;work 10" >in.folded
	ln -s "$BATS_TEST_TMPDIR/victim/samples" "$session/samples"
	for words in "" "--name=current2" "--name=keep --force"; do
		# shellcheck disable=SC2086
		run -1 timeout 60 "$OPROFILE_LINKS/opimport" --session-dir "$session" $words in.folded
		[[ "$output" == *"$session/samples is a symbolic link"* ]]
	done
	[ "$(find "$BATS_TEST_TMPDIR/victim" | sort)" = "$before" ]
}

@test "opcontrol --reset removes nothing through a link" {
	need_root
	export OPROFILE_RUN_DIR=$BATS_TEST_TMPDIR/run
	export OPROFILE_SETUP_DIR=$BATS_TEST_TMPDIR/etc
	export OPROFILE_FS_DIR=$BATS_TEST_TMPDIR/fs
	timeout 60 "$OPROFILE_LINKS/opcontrol" --setup --no-vmlinux --session-dir="$session"
	rm -rf "$session/samples"
	ln -s "$BATS_TEST_TMPDIR/victim/samples" "$session/samples"
	run -1 timeout 60 "$OPROFILE_LINKS/opcontrol" --reset
	[[ "$output" == *"$session/samples is a symbolic link"* ]]
	[ "$(find "$BATS_TEST_TMPDIR/victim" | sort)" = "$before" ]
}

# PATTERN matches the paths that other users could redirect. Lists the system calls that change
# something there by path.
changed_by_path()
{
	grep -E '^[0-9]+ +(rename|renameat|renameat2|unlink|unlinkat|mkdir|mkdirat|link|linkat|rmdir|chmod|fchmodat|utimensat|symlinkat|openat)\(' \
		"$BATS_TEST_TMPDIR/calls" | grep -vE 'openat.*O_RDONLY|openat.*O_PATH' |
		grep -E "\"[^\"]*$1" | grep -v ENOENT || true
}

@test "operf cannot be redirected by renaming the session while it records" {
	need strace
	strace -f -o "$BATS_TEST_TMPDIR/calls" -e trace=file true || skip "strace is not permitted"
	mkdir place
	cd place
	for words in "" "--append"; do
		# shellcheck disable=SC2086
		timeout 60 strace -f -o "$BATS_TEST_TMPDIR/calls" -e trace=file \
			"$OPROFILE_LINKS/operf" $words -e page-faults:1 ls
		grep -q 'renameat2\?(.*segment' "$BATS_TEST_TMPDIR/calls"
		[ -z "$(changed_by_path oprofile_data/)" ]
	done
}

@test "oprofiled and opcontrol cannot be redirected by renaming the session" {
	need_root
	need strace
	export OPROFILE_RUN_DIR=$BATS_TEST_TMPDIR/run
	export OPROFILE_SETUP_DIR=$BATS_TEST_TMPDIR/etc
	export OPROFILE_FS_DIR=$BATS_TEST_TMPDIR/fs
	mkdir place
	timeout 60 "$OPROFILE_LINKS/opcontrol" --setup --no-vmlinux --session-dir="$PWD/place"
	timeout 60 strace -f -o "$BATS_TEST_TMPDIR/calls" -e trace=file \
		"$OPROFILE_LINKS/oprofiled" --session-dir="$PWD/place" 3>&- &
	recorder=$!
	for ((i = 0; i < 100; i++)); do
		[ -S "$OPROFILE_RUN_DIR/control" ] && break
		sleep 0.1
	done
	for words in --dump --save=one --reset --shutdown; do
		timeout 60 "$OPROFILE_LINKS/opcontrol" "$words"
	done
	wait "$recorder"
	recorder=
	[ -d place/samples/one ]
	[ -f place/samples/oprofiled.log ]
	[ -z "$(changed_by_path "$PWD/place/samples")" ]
	timeout 60 "$OPROFILE_LINKS/operf" --session-dir place -e page-faults:1 true
	timeout 60 strace -f -o "$BATS_TEST_TMPDIR/calls" -e trace=file "$OPROFILE_LINKS/opcontrol" --save=two
	[ -d place/samples/two ]
	[ -z "$(changed_by_path "$PWD/place/samples")" ]
	run -1 timeout 60 "$OPROFILE_LINKS/opcontrol" --save=three
	[[ "$output" == *"cannot save '$PWD/place/samples/current': No such file or directory"* ]]
}

@test "a session that is repeatedly replaced by a link never redirects writes" {
	need_root
	need python3
	mkdir place
	chown 65534 place
	echo "main;work 10" >in.folded
	operf --session-dir "$session" -e page-faults:1 true
	cd place
	run -0 operf -e page-faults:1 true
	ln -s ../victim lure
	# The recorder's own file names are links to a file of its caller.
	echo secret >"$BATS_TEST_TMPDIR/secret"
	for name in kallsyms.zst modules modules.part segment-000002; do
		ln -s "$BATS_TEST_TMPDIR/secret" "../victim/samples/current/$name"
	done
	before=$(find "$BATS_TEST_TMPDIR/victim" | sort)
	chown -h 65534 lure
	python3 "$BATS_TEST_DIRNAME/swap_loop.py" 65534 oprofile_data lure 3>&- &
	target=$!
	for ((i = 0; i < 40; i++)); do
		# Both outcomes are correct: the recording succeeds, or the link is detected.
		operf -e page-faults:1 true 2>"$BATS_TEST_TMPDIR/said" ||
			grep -qE 'symbolic link|belongs to user|No such file|Not a directory' "$BATS_TEST_TMPDIR/said"
		operf --append -e page-faults:1 true 2>"$BATS_TEST_TMPDIR/said" ||
			grep -qE 'symbolic link|belongs to user|No such file|Not a directory' "$BATS_TEST_TMPDIR/said"
	done
	kill "$target"
	wait "$target" || true
	rm -rf lure
	ln -s ../victim lure
	chown -h 65534 lure
	rm -rf out
	mkdir out
	python3 "$BATS_TEST_DIRNAME/swap_loop.py" 65534 out lure 3>&- &
	target=$!
	for ((i = 0; i < 10; i++)); do
		oparchive --session-dir "$session" -x -o out || true
		TMPDIR=$PWD/out opreport ../in.folded || true
	done 2>/dev/null >&2
	kill "$target"
	wait "$target" || true
	[ "$(find "$BATS_TEST_TMPDIR/victim" | sort)" = "$before" ]
	[ "$(cat "$BATS_TEST_TMPDIR/secret")" = secret ]
	[ "$(cat "$BATS_TEST_TMPDIR/victim/samples/current/keep")" = current ]
}
