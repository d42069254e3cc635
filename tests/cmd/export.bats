#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# `oprofile export perf-data`: perf reads the same from the result as from the original.

bats_require_minimum_version 1.5.0
load helpers

setup_file()
{
	export BATS_TEST_RETRIES=2
}

setup()
{
	new_session
	result=$BATS_TEST_TMPDIR/result.data
}

export_it()
{
	timeout -k 5 60 "$OPROFILE" export perf-data -o "$result" "$@"
}

# same [--time SPAN] FILE...: checks that perf reads from the result what it reads from these
# files together.
same()
{
	timeout -k 5 120 python3 "$SOURCE_ROOT/tests/perf_data/same.py" "$@" "$result"
}

# perf_sum FILE: prints the number of samples that perf report counts.
perf_sum()
{
	perf report -f -i "$1" --stdio -n --no-children -g none --sort comm -t , 2>/dev/null |
		awk -F, '!/^#/ && NF > 2 { sum += $2 } END { print sum + 0 }'
}

work='for i in 1 2 3 4 5 6 7 8 9; do ls -lR /usr/include >/dev/null; done'

@test "perf reads the export of a session like the perf.data of the same recording" {
	need perf
	need_recording
	local data=$BATS_TEST_TMPDIR/perf.data options
	for options in "" "--callgraph"; do
		operf --session-dir "$session" $options --perf-data "$data" sh -c "$work" \
			>/dev/null 2>&1
		export_it --session-dir "$session"
		same "$data"
		[ "$(perf_sum "$result")" = "$(reported_samples)" ]
	done
	# perf prints no warnings.
	perf report -i "$result" --stdio >/dev/null 2>"$BATS_TEST_TMPDIR/err"
	! grep -i -e warning -e fail -e error "$BATS_TEST_TMPDIR/err"
	perf evlist -v -i "$result" | grep -q '^cpu-clock: type: 1, .*freq.*997.*CALLCHAIN'
	# The file lists the binaries with build-ids, so perf finds their names.
	perf buildid-list -i "$result" | grep -q 'ls$'
}

@test "the export of a local perf.data is equal to it" {
	need perf
	need_recording
	local data=$BATS_TEST_TMPDIR/perf f
	perf_record -o "$data.flat" -F 1999 -e cpu-clock,page-faults -- \
		sh -c "$work"
	perf_record -a -g -o "$data.chains" -F 999 -e cpu-clock -- sh -c "$work"
	perf_record --all-cgroups -o "$data.cgroups" -c 500000 -e cpu-clock -- \
		sh -c "$work"
	for f in "$data".{flat,chains,cgroups}; do
		export_it "$f"
		same "$f"
	done
	perf report -i "$result" --stdio --sort cgroup 2>/dev/null |
		grep '100.00%' | diff <(perf report -i "$data.cgroups" --stdio --sort cgroup \
			2>/dev/null | grep '100.00%') -
	# The result is the same if the file is first imported as a session.
	"$OPROFILE" import --session-dir "$session" "$data.chains"
	export_it --session-dir "$session"
	same "$data.chains"
}

@test "the export of another machine's perf.data is equal to it" {
	need perf
	need_data
	local f
	for f in "$DATA"/perf-history/* "$DATA"/{arm64,armhf}/*.data \
		"$DATA"/s390x/perf.{bidmmap,dwarf,full,tp,z}.data "$DATA"/s390x/perf.data; do
		# This file is of a newer version than the installed perf can read.
		[[ $f == *sleep.zstd ]] && continue
		export_it "$f" 2>/dev/null
		if [[ $f == *dwarf* ]]; then
			same --unwound "$f" || { echo "$f"; return 1; }
		else
			same "$f" || { echo "$f"; return 1; }
		fi
	done
}

# Debian's perf cannot read these files; we read our result as we read the original.
@test "perf can read the export of a file that it cannot read itself" {
	need perf
	need_data
	local f
	for f in "$DATA"/s390x/perf.pipe.data "$DATA"/perf-history/perf.data.sleep.zstd; do
		export_it "$f" 2>/dev/null
		opreport --by event,comm,pid,tid,image,cpu --csv "$f" >"$BATS_TEST_TMPDIR/before"
		opreport --by event,comm,pid,tid,image,cpu --csv "$result" |
			diff -u "$BATS_TEST_TMPDIR/before" -
		[ "$(perf_sum "$result")" = \
			"$(awk -F, 'NR > 1 { sum += $7 } END { print sum }' "$BATS_TEST_TMPDIR/before")" ]
	done
}

@test "perf adds up the samples of several exported files" {
	need perf
	need_data
	export_it "$DATA"/perf-history/perf.data.{systemwide.0,singleprocess}-3.4
	same "$DATA"/perf-history/perf.data.{systemwide.0,singleprocess}-3.4
	# Events with the same attributes are merged.
	[ "$(perf evlist -i "$result" | sort | uniq -d)" = "" ]
	[ "$(perf evlist -i "$result" | grep -cx cycles)" -eq 1 ]
}

@test "an export contains a kernel once, even if only one input has its build-id" {
	need perf
	need_recording
	local data=$BATS_TEST_TMPDIR/perf
	perf_record -o "$data.known" -F 1999 -e cpu-clock -- sh -c "$work"
	perf_record -B -o "$data.unknown" -F 1999 -e cpu-clock -- sh -c "$work"
	export_it "$data".{unknown,known}
	! perf report -i "$result" --stdio --sort dso 2>/dev/null | grep -F '[kernel.1]'
	same "$data".{unknown,known}
}

@test "exported tracepoints keep their addresses and chains" {
	need perf
	need_recording
	local data=$BATS_TEST_TMPDIR/perf
	perf_record -g -o "$data" -c 1 -e sched:sched_process_exec -e sched:sched_process_exit -- \
		sh -c 'ls; ls' >/dev/null 2>&1 || skip "perf records no tracepoints here"
	export_it "$data"
	same "$data"
	perf script -i "$result" -F ip,sym 2>/dev/null | grep -q do_exit
	[ "$(perf evlist -i "$result" | grep -c '^sched:')" -eq 2 ]
}

@test "an export of recordings from several machines keeps them separate, with a warning" {
	need perf
	need_data
	local files=("$DATA"/s390x/perf.data "$DATA"/arm64/perf.data "$DATA"/armhf/perf.data)
	run --separate-stderr export_it "${files[@]}"
	[ "$status" -eq 0 ]
	[[ "$stderr" == *"3 machines"*"same pid"* ]]
	same "${files[@]}"
}

@test "time: selects the same samples as perf report --time" {
	need perf
	need_data
	local span f=$DATA/arm64/perf.data
	for span in 10%-20% 0%-50% 90%-100%; do
		export_it "$f" "time:$span" 2>/dev/null
		same --time "$span" "$f"
	done
	# If a file does not have start and end times, perf cannot select by percentage; our
	# output has these times.
	f=$DATA/perf-history/perf.data.forkexit-3.8
	export_it "$f"
	mv "$result" "$BATS_TEST_TMPDIR/whole"
	export_it "$f" time:25%-50%
	same --time 25%-50% "$BATS_TEST_TMPDIR/whole"
}

@test "export selects commands, CPUs and events" {
	need perf
	need_data
	local f=$DATA/perf-history/perf.data.singleprocess-3.4 x
	export_it "$f" event:cycles
	[ "$(perf evlist -i "$result")" = cycles ]
	f=$DATA/s390x/perf.data
	export_it "$f" comm:dd cpu:1 2>/dev/null
	# perf's --comm leaves rows out; compare with all its rows instead.
	for x in "$f" "$result"; do
		perf report -f -i "$x" --stdio -n --no-children -g none --sort comm,cpu,dso \
			-t , 2>/dev/null | grep '^ *[0-9]' | cut -d, -f2- |
			sed 's/  *//g' >"$BATS_TEST_TMPDIR/${x##*/}.rows"
	done
	grep ,dd,001, "$BATS_TEST_TMPDIR/perf.data.rows" |
		diff -u - "$BATS_TEST_TMPDIR/result.data.rows"
	[ -s "$BATS_TEST_TMPDIR/result.data.rows" ]
	run export_it "$f" comm:nobody
	[ "$status" -eq 1 ]
	[[ "$output" == *"too strict"* ]]
	# A selection from a session gives the same as one from the file.
	"$OPROFILE" import --session-dir "$session" "$f"
	export_it --session-dir "$session" comm:dd cpu:1
	[ "$(perf_sum "$result")" = "$(reported_samples comm:dd cpu:1)" ]
}

@test "export reports dropped data in one line" {
	need_data
	run export_it "$DATA/perf-history/perf.data.callgraph_and_branch-3.4"
	[ "$status" -eq 0 ]
	[ "$output" = "oprofile export: warning: not exported to the perf.data file: branch stacks" ]
}

@test "export has a default name, replaces a file only with --output-file, also its own input" {
	need_data
	cd "$BATS_TEST_TMPDIR"
	cp "$DATA/arm64/perf.tp.data" perf.data
	run "$OPROFILE" export perf-data perf.data
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == *"perf.data already exists"*"--output-file"* ]]
	cmp perf.data "$DATA/arm64/perf.tp.data"
	opreport --by comm,image,tid --csv perf.data >before
	"$OPROFILE" export perf-data -o perf.data perf.data 2>/dev/null
	opreport --by comm,image,tid --csv perf.data | diff -u before -
	mkdir empty
	cd empty
	"$OPROFILE" export perf-data "$DATA/arm64/perf.tp.data" 2>/dev/null
	[ "$(ls -A)" = perf.data ]
	for bad in /dev/null . - /nowhere/perf.data; do
		run "$OPROFILE" export perf-data -o "$bad" perf.data
		[ "$status" -eq 1 ]
		[ "${#lines[@]}" -eq 1 ]
	done
	[ "$(ls -A)" = perf.data ]
}

@test "export writes through a symbolic link and keeps the link" {
	need_data
	cd "$BATS_TEST_TMPDIR"
	mkdir there
	echo old >there/file
	for format in folded perf-data; do
		ln -sf there/file link
		"$OPROFILE" export "$format" -o link "$DATA/arm64/perf.data" 2>/dev/null
		[ -L link ]
		"$OPROFILE" export "$format" -o "plain.$format" "$DATA/arm64/perf.data" 2>/dev/null
		cmp there/file "plain.$format"
	done
	# The output is a link like /dev/stdout. If the command replaced the link as root, all
	# programs would lose it.
	ln -s /proc/self/fd/1 out
	"$OPROFILE" export folded -o out "$DATA/arm64/perf.data" >text
	[ -L out ]
	cmp text plain.folded
	"$OPROFILE" export folded -o out "$DATA/arm64/perf.data" | cmp - plain.folded
	[ -L out ]
	ln -s nowhere/file lost
	run "$OPROFILE" export folded -o lost "$DATA/arm64/perf.data"
	[ "$status" -eq 1 ]
	[[ "$output" == *lost* ]]
	ln -s new begun
	"$OPROFILE" export folded -o begun "$DATA/arm64/perf.data"
	cmp new plain.folded
	{ echo first && "$OPROFILE" export folded -o /dev/stdout "$DATA/arm64/perf.data"; } >text
	[ "$(head -1 text)" = first ]
	tail -n +2 text | cmp - plain.folded
	[ -L /dev/stdout ]
}

@test "export rejects wrong arguments in one line each" {
	for words in "" "perf-dat" "perf-data /nowhere -o x" "perf-data --nonsense"; do
		run "$OPROFILE" export $words
		[ "$status" -eq 1 ]
		[ "${#lines[@]}" -le 2 ]
	done
	[ ! -e x ]
}

@test "symbol: selects the same samples in perf.data and in a session as in opreport" {
	need perf
	need_recording
	local data=$BATS_TEST_TMPDIR/perf.data n
	perf_record -g -o "$data" -F 1999 -e cpu-clock -- "$WORKLOADS/ratio"
	n=$(opreport --by event --csv "$data" symbol:work_a | awk -F, 'NR > 1 { print $2 }')
	[ "$n" -gt 20 ]
	export_it "$data" symbol:work_a
	[ "$(perf_sum "$result")" -eq "$n" ]
	perf report -i "$result" --stdio --no-children -g none --sort sym 2>/dev/null |
		grep -v '^#' | grep '%' | grep -v work_a && return 1
	"$OPROFILE" import --session-dir "$session" "$data"
	export_it --session-dir "$session" symbol:work_a
	[ "$(perf_sum "$result")" -eq "$n" ]
}

@test "export of a truncated file exits with 3, and a full disk leaves no file" {
	need_data
	head -c 100000 "$DATA/arm64/perf.data" >"$BATS_TEST_TMPDIR/cut"
	run export_it "$BATS_TEST_TMPDIR/cut"
	[ "$status" -eq 3 ]
	[[ "$output" == *"incomplete"*"363408 bytes missing"* ]]
	opreport --by comm,image --csv "$BATS_TEST_TMPDIR/cut" >"$BATS_TEST_TMPDIR/before" \
		2>/dev/null || [ $? -eq 3 ]
	opreport --by comm,image --csv "$result" | diff -u "$BATS_TEST_TMPDIR/before" -
	# If the only block of samples of a session is damaged, nothing is exported, and an error
	# is reported.
	"$OPROFILE" import --session-dir "$session" "$DATA/arm64/perf.tp.data"
	local segment=$session/samples/current/segment-000001
	truncate -s -200 "$segment"
	rm "$result"
	run export_it --session-dir "$session"
	[ "$status" -eq 1 ]
	[[ "${lines[0]}" == *"incomplete: 1 of 1 segments unfinished"*"bytes cut off"* ]]
	[[ "${lines[1]}" == *"no sample to export"* ]]
	[ ! -e "$result" ]
	need_root
	local disk=$BATS_TEST_TMPDIR/disk left
	mkdir "$disk"
	mount -t tmpfs -o size=96k none "$disk" || skip "no mount here"
	result=$disk/x.data
	run export_it "$DATA/perf-history/perf.data.forkexit-3.8"
	left=$(ls -A "$disk")
	umount "$disk"
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == *"No space"* ]]
	[ -z "$left" ]
}
