# SPDX-License-Identifier: GPL-2.0-or-later
# oparchive with a profile specification: the recording in the archive has the selected samples only.
load helpers

bats_require_minimum_version 1.5.0

setup()
{
	cd "$BATS_TEST_TMPDIR"
	mkdir -p home unpacked
	export HOME=$BATS_TEST_TMPDIR/home TMPDIR=$BATS_TEST_TMPDIR/unpacked
	unset PERF_BUILDID_DIR
	jit_map=
}

teardown()
{
	[ -z "$jit_map" ] || rm -f "$jit_map"
	[ -z "$(ls -A "$BATS_TEST_TMPDIR/unpacked")" ]
}

samples_of()
{
	opreport --by event --csv "$@" | awk -F, 'NR > 1 { sum += $2 } END { print sum + 0 }'
}

# Checks that every report of the archive is byte-identical to that of the recording with the
# specification.
same_reports() # SPECIFICATION RECORDING...
{
	local specification=$1 view
	shift
	for view in "" --symbols --callgraph --quality "--by pid,tid,comm,image,symbol" \
		"--by time:50ms,event --csv" "--by cpu,address"; do
		opreport $view "$specification" "$@" >want
		opreport $view archive:folder >got
		cmp want got
	done
}

@test "a selective archive of a session has the selected samples and the same reports" {
	need_recording
	operf --callgraph -- sh -c 'ls -lR /usr/lib; gzip -c /bin/sh /bin/bash' >/dev/null
	all=$(samples_of)
	for specification in comm:gzip image:'*/ls' lib-image:'*libc*' time:20%-60% \
		image-exclude:'*/gzip'; do
		rm -rf folder
		oparchive -o folder "$specification"
		same_reports "$specification"
		# The archive has exactly the selected samples.
		[ "$(samples_of archive:folder)" = "$(samples_of "$specification")" ]
		[ "$(samples_of archive:folder)" -le "$all" ]
	done
	rm -rf folder
	oparchive -o folder comm:gzip
	[ "$(opreport archive:folder --by comm --csv | sed 1d | cut -d, -f1)" = gzip ]
	"$OPROFILE" buildid-list archive:folder >list
	grep -q /gzip list
	run ! grep -q '/ls$' list
	run ! grep -q 'file .*usr/bin/ls$' folder/manifest
	[ "$(samples_of archive:folder)" -lt "$all" ]
	# The same with an archive file.
	oparchive --output a.oparchive comm:gzip
	opreport --symbols archive:a.oparchive | cmp - <(opreport --symbols comm:gzip)
	run -1 --separate-stderr oparchive -o none comm:nothing
	[[ $stderr == *"oparchive: error: no sample files found: profile specification too strict ? No command matches 'comm:nothing'" ]]
	[ ! -e none/var ]
}

@test "a selective archive has only the selected functions" {
	need_recording
	need cc
	cat >two.c <<-'END'
		__attribute__((noinline)) unsigned one(unsigned n) { for (unsigned i = 0; i < 200000000; i++) n = n * 17 + (n >> 3); return n; }
		__attribute__((noinline)) unsigned two(unsigned n) { for (unsigned i = 0; i < 200000000; i++) n = n * 19 + (n >> 5); return n; }
		int main(int argc, char **argv) { return one(argc) + two(argc) == 5; }
	END
	cc -O1 -o two two.c
	operf ./two >/dev/null 2>&1
	oparchive -o folder symbol:one
	same_reports symbol:one
	run -0 opreport --symbols archive:folder
	[[ $output == *one* && $output != *two*two* ]]
	run -0 opreport --by symbol --csv archive:folder
	[ "${#lines[@]}" -eq 2 ]
}

@test "a selective archive of a perf.data is a session with the selected samples" {
	need perf
	perf_record -g -o data sh -c 'ls -lR /usr/lib; gzip -c /bin/sh /bin/bash' >/dev/null ||
		skip "perf cannot record here: NOT TESTED"
	for specification in comm:gzip lib-image:'*libc*' time:20%-60% time:-100ms; do
		rm -rf folder
		oparchive -o folder data "$specification"
		same_reports "$specification" data
	done
	[ ! -e folder/var/lib/oprofile/samples/current/perf.data ]
	# Without a specification the recording is copied unchanged.
	oparchive -o whole data
	cmp data whole/var/lib/oprofile/samples/current/perf.data
	run -1 oparchive --perf --all data comm:gzip
	[[ $output == *"--all copies the perf.data file unchanged: remove the profile specification"* ]]
}

@test "a selective archive has JIT files of the selected processes only" {
	need_recording
	operf -- sh -c '"$0" 300 & wait; echo $$ >pid; exec "$0" 300' "$WORKLOADS/jit_map" >/dev/null
	rm -f $(ls -I checksums oprofile_data/samples/current/jit | sed 's|.*|/tmp/perf-&.map|')
	[ "$(ls -I checksums oprofile_data/samples/current/jit | wc -l)" -eq 2 ]
	pid=$(cat pid)
	oparchive -o folder tgid:"$pid"
	[ "$(ls -I checksums folder/var/lib/oprofile/samples/current/jit)" = "$pid" ]
	opreport --symbols tgid:"$pid" >want
	grep -q jit_ want
	same_reports tgid:"$pid"
}

# Makes a session with two programs, side files of each, and 10 of 110 samples lost.
two_programs()
{
	write_segment "$1/samples/current" <<-END
		info|1000|cpu|host||1000000|0|6.1|boot|0
		event|CYCLES|about|0|100000|0|0|
		event|OTHER|about|0|100000|0|0|
		image|1|/no/such/one|aabb|0|0|0
		image|1|/no/such/two|ccdd|0|0|0
		thread|10|10|one|0|0|
		thread|20|20|two|1|0|
		sample|0|0|0|2000000|1|0+10|75
		sample|1|0|0|3000000|1|1+10|25
		totals|10|3|2|0
		share|0|5000
	END
	mkdir -p "$1/samples/current/images" "$1/samples/current/jit/10" "$1/samples/current/jit/20"
	for file in images/aabb images/ccdd jit/10/perf-10.map jit/20/perf-20.map kallsyms.zst modules; do
		echo "$file" >"$1/samples/current/$file"
	done
}

@test "a selective archive keeps totals, events and side files of the selected samples" {
	two_programs s
	oparchive -o folder --session-dir s comm:one
	session=folder/var/lib/oprofile/samples/current
	[ "$(cd "$session" && find . -type f | sort | tr '\n' ' ')" = "./images/aabb ./segment-000001 " ]
	# The lost samples are scaled to the selected three quarters (7.5), so their share stays 1
	# in 11.
	opreport --quality --session-dir s comm:one >want
	opreport --quality archive:folder >got
	grep -q '^  lost  *10  *9.09' want
	grep -q '^  lost  *8  *9.63' got
	diff <(grep -v '^  lost' want) <(grep -v '^  lost' got)
	opreport --session-dir s comm:one >want
	opreport archive:folder | diff want -
	"$OPROFILE" info archive:folder >got
	[ "$(samples_of archive:folder)" = 75 ]
}

@test "damaged input is reported with status 3, and the rest is archived" {
	two_programs s
	truncate -s -24 s/samples/current/segment-000001 # cut off the END block
	run -3 --separate-stderr oparchive -o folder --session-dir s comm:one
	[[ $stderr == *"current is incomplete: 1 segments not finished, "*"; the archive has the rest"* ]]
	[ "$(samples_of archive:folder)" = 75 ]
}

@test "--list-files lists the side files of the selected samples" {
	two_programs s
	oparchive --list-files --session-dir s comm:one >got
	[ "$(cat got)" = "s/samples/current/images/aabb
s/samples/current/segment-000001" ] || [ "$(sort got)" = "s/samples/current/images/aabb
s/samples/current/segment-000001" ]
	run -0 oparchive --list-files --session-dir s
	[[ $output == *jit/20/perf-20.map* && $output == *images/ccdd* ]]
}
