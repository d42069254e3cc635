# SPDX-License-Identifier: GPL-2.0-or-later
# Side files of a session: every byte is covered by a checksum, and data of a damaged file is
# never used.
load helpers

bats_require_minimum_version 1.5.0

# Makes one recording with all kinds of side files, in $DIR/session.
setup_file()
{
	export DIR=$BATS_FILE_TMPDIR
	mkdir "$DIR/session"
	operf --session-dir "$DIR/session" sh -c 'echo $$ >"$0/pid"; "$1/deleted" 500; exec "$1/jit_map" 500' \
		"$DIR" "$WORKLOADS" >"$DIR/truth" 2>"$DIR/operf.log" || true
	[ ! -s "$DIR/pid" ] || rm -f "/tmp/perf-$(cat "$DIR/pid").map"
}

setup()
{
	need_recording
	cp -a "$DIR/session" "$BATS_TEST_TMPDIR/session"
	session=$BATS_TEST_TMPDIR/session
	current=$session/samples/current
}

side_files()
{
	find "$1" -type f ! -name 'segment-*' ! -name checksums
}

# flip FILE SEED: inverts one bit.
flip()
{
	python3 - "$1" "$2" <<-'END'
		import random, sys
		random.seed(int(sys.argv[2]))
		data = bytearray(open(sys.argv[1], "rb").read())
		data[random.randrange(len(data))] ^= 1 << random.randrange(8)
		open(sys.argv[1], "wb").write(data)
	END
}

info()
{
	"$OPROFILE" info --json "$session" | python3 -c '
import json, sys
def find(o, name):
    if isinstance(o, dict):
        return o[name] if name in o else next((v for v in (find(x, name) for x in o.values()) if v), 0)
    return next((v for v in (find(x, name) for x in o) if v), 0) if isinstance(o, list) else 0
print(find(json.load(sys.stdin), sys.argv[1]))' "$1"
}

@test "each side file has a checksum that matches" {
	side_files "$current"
	[ -n "$(find "$current/images" -type f -size +1k)" ]
	[ -n "$(find "$current/jit" -name 'perf-*.map')" ]
	[ "$(info side_files)" -eq "$(side_files "$current" | wc -l)" ]
	[ "$(info unverified_side_files)" -eq 0 ]
	[ "$(info damaged_side_files)" -eq 0 ]
	run -0 --separate-stderr opreport --symbols --session-dir "$session"
	[ -z "$stderr" ]
}

@test "a flipped bit in any side file is reported, and no name is taken from the file" {
	opreport --by image,symbol --csv --session-dir "$session" >"$BATS_TEST_TMPDIR/good"
	for file in $(side_files "$current" | grep -v /modules); do
		[ -s "$file" ]
		cp -a "$file" "$BATS_TEST_TMPDIR/kept"
		for seed in 1 2 3 4 5 6 7 8; do
			flip "$file" $seed
			run --separate-stderr opreport --by image,symbol --csv --session-dir "$session"
			echo "$file, flip $seed: status $status: $stderr"
			if [ "$status" -eq 0 ]; then
				# No sample needed the file.
				[ "$output" = "$(cat "$BATS_TEST_TMPDIR/good")" ]
				[[ "$file" == */kallsyms.zst ]] || [[ "$file" == */vdso-* ]]
			else
				[ "$status" -eq 3 ]
				[ "$(grep -c "$file" <<<"$stderr")" -eq 1 ]
				[[ "$stderr" == *"ignoring the damaged file '$file': it does not match its checksum"* ]]
			fi
			[ "$(info damaged_side_files)" -eq 1 ]
			cat "$BATS_TEST_TMPDIR/kept" >"$file"
		done
	done
	run -0 opreport --session-dir "$session"
}

@test "opreport shows no names from a damaged copy or a damaged map" {
	flip "$(find "$current/images" -type f -size +1k)" 1
	flip "$(find "$current/jit" -name 'perf-*.map')" 1
	run -3 --separate-stderr opreport --symbols --session-dir "$session"
	[[ "$output" != *deleted_a* ]]
	[[ "$output" != *jit_alpha* ]]
	[ "$(grep -c 'ignoring the damaged file' <<<"$stderr")" -eq 2 ]
	run -3 --separate-stderr opreport --quality --session-dir "$session"
	grep -q '^ *2  *files that do not match their checksums' <<<"$output"
	run -3 opreport --quality --by symbol --json --session-dir "$session"
	grep -q '"damaged_files": *2' <<<"$output"
}

@test "a truncated or empty side file counts as damaged" {
	for bytes in 1000 0; do
		truncate -s $bytes "$(find "$current/images" -type f -size +0 ! -name checksums)" \
			"$(find "$current/jit" -name 'perf-*.map')"
		[ "$(info damaged_side_files)" -eq 2 ]
	done
}

@test "truncated kernel symbols count as damaged" {
	need_root
	[ -s "$current/kallsyms.zst" ]
	for bytes in 500000 10 0; do
		truncate -s $bytes "$current/kallsyms.zst"
		[ "$(info damaged_side_files)" -eq 1 ]
	done
}

@test "a listed but missing side file is reported once and counted" {
	local copy map
	copy=$(find "$current/images" -type f -size +1k)
	map=$(find "$current/jit" -name 'perf-*.map')
	rm "$copy" "$map"
	for command in "opreport --symbols" "$OPROFILE annotate --assembly" opreport; do
		# shellcheck disable=SC2086
		run -3 --separate-stderr $command --session-dir "$session"
		for file in "$copy" "$map"; do
			[ "$(grep -cF "$file" <<<"$stderr")" -eq 1 ]
			[[ "$stderr" == *"'$file' is missing, although the recording lists it"* ]]
		done
	done
	run -3 --separate-stderr opreport --quality --session-dir "$session"
	grep -q '^ *missing  *2  *files that the recording lists' <<<"$output"
	run -3 opreport --quality --by symbol --json --session-dir "$session"
	grep -q '"missing_files": *2' <<<"$output"
	[ "$(info missing_side_files)" -eq 2 ]
}

@test "a missing directory of side files is reported" {
	rm -r "$current/jit"
	run -3 --separate-stderr opreport --session-dir "$session"
	[[ "$stderr" == *"'$current/jit' is missing, although the recording lists it"* ]]
	[ "$(grep -c 'is missing' <<<"$stderr")" -eq 1 ]
	run -3 --separate-stderr oparchive --session-dir "$session" --output "$BATS_TEST_TMPDIR/a.oparchive"
	[[ "$stderr" == *"'$current/jit' is missing"* ]]
	run -3 --separate-stderr opreport "archive:$BATS_TEST_TMPDIR/a.oparchive"
	[[ "$stderr" == *"/jit' is missing"* ]]
	# A selection that does not need the damaged file does not contain it and does not warn
	# about it.
	run oparchive --session-dir "$session" -o "$BATS_TEST_TMPDIR/selected" symbol:deleted_a
	run -0 --separate-stderr opreport "archive:$BATS_TEST_TMPDIR/selected"
	[ -z "$stderr" ]
}

@test "a removed or emptied list of checksums is reported and counted" {
	local list
	for list in "$current" "$current/images" "$current/jit" "$current"/jit/[0-9]*; do
		list=$list/checksums
		[ -s "$list" ]
		cp -a "$list" "$BATS_TEST_TMPDIR/kept"
		: >"$list"
		run -3 --separate-stderr opreport --symbols --session-dir "$session"
		[ "$(grep -cF "ignoring the damaged file '$list': the file is empty" <<<"$stderr")" -eq 1 ]
		[ "$(info missing_side_files)" -eq 1 ]
		run -3 opreport --quality --session-dir "$session"
		grep -q '^ *1  *files that do not match their checksums' <<<"$output"
		rm "$list"
		run -3 --separate-stderr opreport --symbols --session-dir "$session"
		[ "$(grep -cF "'$list' is missing, although the recording lists it" <<<"$stderr")" -eq 1 ]
		[ "$(info missing_side_files)" -eq 1 ]
		run -3 opreport --quality --session-dir "$session"
		grep -q '^ *missing  *1  *files that the recording lists' <<<"$output"
		cp -a "$BATS_TEST_TMPDIR/kept" "$list"
	done
	run -0 opreport --symbols --session-dir "$session"
	# The part that an archive selects has a list as well.
	oparchive --session-dir "$session" -o "$BATS_TEST_TMPDIR/selected" symbol:deleted_a
	rm "$(find "$BATS_TEST_TMPDIR/selected" -path '*/current/checksums')"
	run -3 --separate-stderr opreport "archive:$BATS_TEST_TMPDIR/selected"
	[[ "$stderr" == *"/current/checksums' is missing"* ]]
}

@test "a session without side files has a list of checksums" {
	mkdir "$BATS_TEST_TMPDIR/into"
	"$OPROFILE" export folded --session-dir "$session" >"$BATS_TEST_TMPDIR/folded"
	"$OPROFILE" import --session-dir "$BATS_TEST_TMPDIR/into" "$BATS_TEST_TMPDIR/folded"
	run -0 opreport --session-dir "$BATS_TEST_TMPDIR/into"
	: >"$BATS_TEST_TMPDIR/into/samples/current/checksums"
	run -3 --separate-stderr opreport --session-dir "$BATS_TEST_TMPDIR/into"
	[[ "$stderr" == *"ignoring the damaged file '"*"/checksums': the file is empty"* ]]
}

@test "sessions of earlier versions, without checksums, are read without a warning" {
	local id=1122334455667788
	current=$BATS_TEST_TMPDIR/old/samples/current
	mkdir -p "$current/images"
	echo 'int leaf(int n) { return n + 1; } int main(int argc, char **argv) { return leaf(argc); }' >"$BATS_TEST_TMPDIR/t.c"
	cc -O0 -Wl,--build-id=0x$id -o "$current/images/$id" "$BATS_TEST_TMPDIR/t.c"
	leaf=$(($(nm "$current/images/$id" | sed -n 's/^\([0-9a-f]*\) T leaf$/0x\1/p') + 4))
	"$WRITE_SESSION" "$current/segment-000001" <<-END
		info|0||$(uname -n)|1000000000|0||
		event|TIMER|time|3|0|1000|0
		image|1|/gone/t|$id
		thread|7|7|work|0|0|/
		sample|0|0|0|2000|1|0+$leaf|70
	END
	run -0 --separate-stderr opreport --symbols --session-dir "$BATS_TEST_TMPDIR/old"
	[[ "$output" == *leaf* ]]
	[ -z "$stderr" ]
	session=$BATS_TEST_TMPDIR/old
	[ "$(info unverified_side_files)" -eq 1 ]
	[ "$(info missing_side_files)" -eq 0 ]
	# Versions up to this one could leave a list without lines.
	: >"$current/checksums"
	run -0 --separate-stderr opreport --symbols --session-dir "$session"
	[ -z "$stderr" ]
}

@test "a damaged list of checksums is reported" {
	list=$(find "$current/images" -name checksums)
	sed -i 's/^X/Y/' "$list"
	run -3 --separate-stderr opreport --symbols --session-dir "$session"
	[[ "$output" == *deleted_a* ]]
	[[ "$stderr" == *"ignoring the damaged file '$list': a line of it is malformed"* ]]
	# A recorder that crashed before its list of checksums was complete causes no warning.
	truncate -s 20 "$list"
	run -0 --separate-stderr opreport --symbols --session-dir "$session"
	[ -z "$stderr" ]
}

@test "complete and selective archives keep the checksums" {
	cd "$BATS_TEST_TMPDIR"
	oparchive --session-dir "$session" --output whole.oparchive
	oparchive --verify whole.oparchive
	oparchive --session-dir "$session" -o selected symbol:deleted_a,jit_alpha
	oparchive --verify selected
	flip "$(find selected/ -path '*/images/*' ! -name checksums -type f)" 1
	run ! oparchive --verify selected
	run -3 --separate-stderr opreport --symbols archive:selected
	[[ "$stderr" == *"ignoring the damaged file"* ]]
	# Damage that existed before the archive was made is reported also.
	flip "$(find "$current/jit" -name 'perf-*.map')" 1
	run --separate-stderr oparchive --session-dir "$session" --output damaged.oparchive
	[ "$status" -eq 3 ]
	run -3 --separate-stderr opreport --symbols archive:damaged.oparchive
	[[ "$stderr" == *"ignoring the damaged file"* ]]
}

@test "the next recording replaces damaged kernel symbols of this boot" {
	need_root
	flip "$(echo "$session"/kernel/*.kallsyms.zst)" 1
	operf --session-dir "$session" -e page-faults:1 true 2>"$BATS_TEST_TMPDIR/log"
	run ! grep damaged "$BATS_TEST_TMPDIR/log"
	[ "$(info damaged_side_files)" -eq 0 ]
	[ "$(info unverified_side_files)" -eq 0 ]
}
