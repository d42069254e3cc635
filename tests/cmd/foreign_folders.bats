#!/usr/bin/env bats
# operf, opimport: what others laid in a folder leads nowhere.

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

@test "a symbolic link in place of the session's folders is refused" {
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

@test "a folder of somebody else is refused" {
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

@test "a given --session-dir may be a link or another's, what is in it not" {
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
