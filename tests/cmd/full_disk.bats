# SPDX-License-Identifier: GPL-2.0-or-later
# A full disk: the error names it, the status is not 0, and no incomplete file remains.
load helpers

bats_require_minimum_version 1.5.0

setup_file()
{
	export DIR=$BATS_FILE_TMPDIR
	mkdir "$DIR/rec"
	operf --session-dir "$DIR/rec" sh -c 'ls -lR /usr/lib; gzip -c /bin/sh' >/dev/null 2>"$DIR/log" || true
}

setup()
{
	need_root
	need_recording
	cd "$BATS_TEST_TMPDIR"
	disk=$BATS_TEST_TMPDIR/disk
	mkdir disk
}

teardown()
{
	umount "$disk" 2>/dev/null || true
}

# full_disk KIB: mounts a file system of this size on $disk.
full_disk()
{
	mount -t tmpfs -o "size=${1}k,mode=700" none "$disk" || skip "nothing can be mounted here"
}

# Runs a command that fills $disk, and checks: status 1, one line with the reason, and no file.
fills() # COMMAND...
{
	run -1 --separate-stderr "$@"
	echo "$stderr"
	[ "$(grep -c 'No space left on device$' <<<"$stderr")" -eq 1 ]
	[ -z "$(find "$disk" -type f)" ]
}

@test "operf exits with 125 on a full disk, and the saved samples can be read" {
	full_disk 8
	run -125 --separate-stderr operf --session-dir "$disk" "$WORKLOADS/ratio" 3000
	echo "$stderr"
	[[ "$stderr" == *"No space left on device; recording stops"* ]]
	run opreport --session-dir "$disk"
	[ "$status" -eq 0 ] || [ "$status" -eq 3 ]
	[[ "$output" == *ratio* ]]
}

@test "a perf.data for which the disk was too small is not taken as complete" {
	full_disk 8
	new_session
	run -125 --separate-stderr operf --callgraph=fp --session-dir "$session" --perf-data "$disk/p.data" "$WORKLOADS/ratio" 2000
	echo "$stderr"
	[[ "$stderr" == *"cannot write the perf.data file: No space left on device"* ]]
	# 1: not even one sample fitted.
	for command in "opreport -l" "$OPROFILE script"; do
		run --separate-stderr sh -c "PATH=$OPROFILE_LINKS:\$PATH; $command $disk/p.data"
		echo "$stderr"
		[ "$status" -eq 3 ] || [ "$status" -eq 1 ]
		[[ "$stderr" == *p.data* ]]
	done
}

@test "operf reports which side files did not fit on the disk" {
	full_disk 64
	run -0 --separate-stderr operf --session-dir "$disk" -e page-faults:1 true
	[[ "$stderr" == *"no space in $disk for the kernel's symbols"* ]] ||
		[[ "$stderr" == *"kernel's symbols"*"No space left"* ]]
	[ -z "$(find "$disk" -name '*.kallsyms.zst*')" ]
	[ ! -e "$disk/samples/current/kallsyms.zst" ]
}

@test "oparchive reports a full disk for an archive file and for a directory" {
	full_disk 16
	fills "$OPROFILE_LINKS/oparchive" --session-dir "$DIR/rec" --output "$disk/a.oparchive"
	fills "$OPROFILE_LINKS/oparchive" --session-dir "$DIR/rec" -o "$disk/folder"
	[ ! -e "$disk/folder" ]
	# An existing directory keeps its files.
	mkdir "$disk/folder"
	echo mine >"$disk/folder/own"
	run -1 oparchive --session-dir "$DIR/rec" -o "$disk/folder"
	[ -s "$disk/folder/own" ]
	[ -z "$(find "$disk" -name '*.part')" ]
	[ ! -e "$disk/folder/manifest" ]
}

@test "oprofile export reports a full disk in every format" {
	full_disk 4
	for format in perf-data flamegraph pprof firefox speedscope chrome heatmap; do
		fills "$OPROFILE" export $format --session-dir "$DIR/rec" -o "$disk/out"
	done
}

@test "oprofile export keeps the older file when the disk is full" {
	full_disk 8
	echo old >"$disk/out"
	run -1 "$OPROFILE" export heatmap --session-dir "$DIR/rec" -o "$disk/out"
	[ "$(cat "$disk/out")" = old ]
	run -1 opreport --session-dir "$DIR/rec" --details -o "$disk/out"
	[ "$(cat "$disk/out")" = old ]
}

@test "opreport reports a full disk for a file and for standard output" {
	full_disk 4
	fills "$OPROFILE_LINKS/opreport" --session-dir "$DIR/rec" --details -o "$disk/out"
	for command in "opreport --session-dir $DIR/rec" "oprofile help"; do
		run -1 --separate-stderr sh -c "PATH=$OPROFILE_LINKS:${OPROFILE%/*}:\$PATH; $command >/dev/full"
		[ "${#stderr_lines[@]}" -eq 1 ]
		[[ "$stderr" == *"No space left on device" ]]
	done
}

@test "opannotate leaves no partial file on a full disk" {
	full_disk 8
	fills "$OPROFILE_LINKS/opannotate" --session-dir "$DIR/rec" --source --html "$disk/pages"
	umount "$disk"
	full_disk 8
	run --separate-stderr "$OPROFILE_LINKS/opannotate" --session-dir "$DIR/rec" --source --output-dir "$disk/out"
	[ "$status" -eq 0 ] || [[ "$stderr" == *"No space left on device"* ]]
	[ -z "$(find "$disk" -type f -size 0)" ]
}

@test "opimport reports a full disk" {
	need perf
	perf_record -g -o data "$WORKLOADS/ratio" 300 >/dev/null || skip "perf cannot record here: NOT TESTED"
	full_disk 4
	dd if=/dev/zero of="$disk/fill" bs=4096 count=1 status=none
	run -1 --separate-stderr "$OPROFILE" import --session-dir "$disk" data
	echo "$stderr"
	[[ "$stderr" == *"No space left on device"* ]]
	[ -z "$(find "$disk" -name 'segment*' -size +0)" ]
}
