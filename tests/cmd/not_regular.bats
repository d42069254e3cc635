# SPDX-License-Identifier: GPL-2.0-or-later
# Side files and sources that are FIFOs, devices or files of /proc: they are not read but
# reported, and no command waits for them.
load helpers

bats_require_minimum_version 1.5.0

setup()
{
	cd "$BATS_TEST_TMPDIR"
	new_session
	current=$session/samples/current
	{
		echo "info|0|Some CPU|$(uname -n)||0|0|$(uname -r)|boot"
		echo 'event|TIMER|Clocks|3|100000|0|0'
		echo 'image|2|[kernel.kallsyms]|aabbccddeeff00112233445566778899aabbccdd'
		echo 'image|1|/no/such/program|0011223344556677889900112233445566778899'
		echo 'thread|7|7|p|1|0|'
		echo 'sample|0|0|0|1000|1|0+16|7'
		echo 'sample|0|0|0|2000|1|1+16|7'
	} | write_segment "$current"
	mkdir "$current/images"
	kallsyms=$current/kallsyms.zst
	copy=$current/images/0011223344556677889900112233445566778899
}

# expect_loss FILE COMMAND...: checks that the command ends with status 3 and one line about the
# file.
expect_loss()
{
	local file=$1
	shift
	run --separate-stderr timeout -k 1 30 "$@"
	echo "$*: status $status: $stderr"
	[ "$status" -eq 3 ]
	[ "$(grep -c "cannot read '$file': not a regular file" <<<"$stderr")" -eq 1 ]
}

@test "commands report FIFOs in place of side files and end" {
	for file in "$kallsyms" "$copy"; do
		mkfifo "$file"
		expect_loss "$file" "$OPROFILE_LINKS/opreport" --session-dir "$session" --symbols
		expect_loss "$file" "$OPROFILE" script --session-dir "$session"
		rm -rf archive
		expect_loss "$file" "$OPROFILE_LINKS/oparchive" --session-dir "$session" -o archive
		rm "$file"
	done
	mkfifo "$current/images/checksums"
	: >"$copy"
	expect_loss "$current/images/checksums" "$OPROFILE_LINKS/opreport" --session-dir "$session" --symbols
}

@test "commands do not read links to devices or to files of /proc and /sys" {
	for target in /proc/self/status /sys/kernel/notes /dev/zero; do
		[ -e $target ] || continue
		ln -sfn $target "$kallsyms"
		expect_loss "$kallsyms" "$OPROFILE_LINKS/opreport" --session-dir "$session" --symbols
		ln -sfn $target "$copy"
		expect_loss "$copy" "$OPROFILE_LINKS/opreport" --session-dir "$session" --symbols
		rm "$kallsyms" "$copy"
	done
}

@test "opreport reports a FIFO in place of a perf map" {
	need_recording
	mkdir "$session/jit"
	operf --session-dir "$session/jit" "$WORKLOADS/jit_map" 300 >/dev/null
	map=$(find "$session/jit" -name 'perf-*.map')
	rm -f "/tmp/${map##*/}" "$map"
	mkfifo "$map"
	expect_loss "$map" "$OPROFILE_LINKS/opreport" --session-dir "$session/jit" --symbols
}

@test "opannotate does not show a source that is a link into /proc" {
	need_recording
	need gcc
	mkdir src
	echo 'int main(int n, char **v) { (void)v; for (volatile long i = 0; i < 300000000L * n; i++); return 0; }' >src/p.c
	gcc -g -O1 -o p "$PWD/src/p.c"
	mkdir "$session/src"
	operf --session-dir "$session/src" ./p
	run -0 "$OPROFILE_LINKS/opannotate" --session-dir "$session/src" --source
	[[ "$output" == *'volatile long i'* ]]
	ln -sf /proc/self/status src/p.c
	run --separate-stderr timeout -k 1 30 "$OPROFILE_LINKS/opannotate" --session-dir "$session/src" --source
	[ "$status" -ne 124 ]
	[[ "$output" != *VmPeak* ]]
	[[ "$output$stderr" == *'not a regular file'* ]]
}
