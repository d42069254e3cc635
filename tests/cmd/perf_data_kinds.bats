#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Rare contents of perf.data files, from generated files; and equal counts for every recording.

bats_require_minimum_version 1.5.0
load helpers

make_data() # SCRIPT ARGUMENT...
{
	local script=$1
	shift
	python3 -B "$SOURCE_ROOT/tests/perf_data/$script" "$@"
}

# Prints the rows of a report by these keys, with their samples.
counts() # KEYS FILE [OPTION...]
{
	opreport --by "$@" --csv 2>/dev/null | tr -d '\r' | sed '1d;s/,[^,]*,[^,]*$//'
}

four_ways()
{
	python3 -B "$SOURCE_ROOT/tests/perf_data/four_ways.py" "$OPROFILE" "$@"
}

@test "file, session, archive and export of other machines' recordings have equal counts" {
	need_data
	four_ways "$DATA"/perf-history/* "$DATA"/{arm64,armhf,s390x}/*.data
}

@test "file, session, archive and export of the fuzzing seeds have equal counts" {
	four_ways "$SOURCE_ROOT"/tests/fuzz/corpus/perf_input*/*
}

@test "a precise event is counted at its own address, not where the interrupt arrived" {
	cd "$BATS_TEST_TMPDIR"
	mkdir precise
	make_data precise.py precise
	four_ways precise/*
	for name in kernel user later called returned bare empty nowhere; do
		echo "$name $(counts image precise/"$name")"
	done >images
	diff - images <<-'END'
		kernel /opt/prog,3
		user [kernel.kallsyms],3
		later /opt/lib.so,3
		called /opt/prog,3
		returned /opt/other.so,3
		bare /opt/other.so,3
		empty /opt/prog,3
		nowhere [unknown],3
	END
}

@test "a precise event keeps the interrupted function as a callee unless it is adjacent" {
	cd "$BATS_TEST_TMPDIR"
	mkdir precise
	make_data precise.py precise
	for name in kernel user later called returned bare empty; do
		"$OPROFILE" export folded precise/"$name" 2>/dev/null >out
		echo "$name $(cat out)"
	done >stacks
	diff - stacks <<-'END'
		kernel prog;[prog];[lib.so];[no-vmlinux];[prog] 3
		user prog;[prog];[lib.so];[no-vmlinux] 3
		later prog;[prog];[lib.so] 3
		called prog;[prog];[lib.so];[prog] 3
		returned prog;[prog];[lib.so];[other.so] 3
		bare prog;[prog];[lib.so];[other.so] 3
		empty prog;[prog] 3
	END
}

# Makes the recordings of kinds.py in the folder "kinds".
make_kinds()
{
	cd "$BATS_TEST_TMPDIR"
	mkdir kinds
	make_data kinds.py kinds
}

# Checks the rows of a report of a file, and of the same recording as a pipe.
check_counts() # KEYS NAME ROW...
{
	local keys=$1 name=$2
	shift 2
	for file in kinds/"$name" kinds/"$name".pipe; do
		[ "$(counts "$keys" "$file" | sort)" = "$(printf '%s\n' "$@")" ] ||
			{ echo "$file: $(counts "$keys" "$file")"; return 1; }
	done
}

@test "samples that a filter dropped do not count as lost" {
	make_kinds
	check_counts image filtered /opt/prog,2
	run -0 opreport kinds/filtered
	[[ $output != *"Lost samples"* ]]
	run -0 opreport kinds/filtered_and_lost
	[[ $output == *"The kernel lost 2 of 4 samples"* ]]
	"$OPROFILE" info kinds/filtered_and_lost >out
	grep -q 'Lost samples: *2$' out
	grep -q 'Filtered samples: *700$' out
}

@test "samples whose id belongs to no event are not counted as another event" {
	make_kinds
	for file in kinds/unknown_id kinds/unknown_id.pipe; do
		run -3 --separate-stderr opreport --by event --csv "$file"
		echo "$output $stderr"
		[[ $stderr == *"1 records malformed"* ]]
		[ "$(awk -F, 'NR > 1 { print $2 }' <<<"$output" | paste -s -d ' ')" = "1 1" ]
		run -3 "$OPROFILE" script "$file"
	done
}

@test "empty header features do not count as missing" {
	make_kinds
	for file in kinds/empty_features{,.pipe}; do
		run -0 --separate-stderr opreport "$file"
		[[ $stderr != *incomplete* ]]
	done
}

@test "info names the machine of a recording that has only an ELF machine number" {
	make_kinds
	for file in kinds/machine_only{,.pipe}; do
		"$OPROFILE" info "$file" >out
		grep -q 'Arch: *aarch64$' out
		grep -q 'E machine: *183$' out
		grep -q 'Cache line bytes: *64$' out
		grep -q 'Features: .* E_MACHINE CLN_SIZE' out
	done
}

@test "off-CPU samples have the thread, time and chain that the BPF program stored" {
	make_kinds
	for name in off_cpu off_cpu_chained; do
		check_counts event,comm,image "$name" cycles,prog,/opt/prog,1 \
			offcpu-time,prog,/opt/prog,1
		"$OPROFILE" export folded kinds/"$name" event:offcpu-time 2>/dev/null >out
		[ "$(cat out)" = "prog;[prog];[prog] 1" ]
		opreport --by event --csv --show-total-period kinds/"$name" | grep -q '^offcpu-time,1,7000000,'
	done
	"$OPROFILE" script kinds/off_cpu 2>/dev/null | sed '1,/offcpu-time/d;s/^\t/|/' >out
	diff - out <<-'END'
		|             500 [unknown] (/opt/prog)
		|             600 [unknown] (/opt/prog)

	END
	check_counts event,comm,image off_cpu_in_kernel cycles,prog,/opt/prog,1 \
		"offcpu-time,prog,[kernel.kallsyms],1"
	check_counts event,comm,image off_cpu_nowhere cycles,prog,/opt/prog,1 \
		"offcpu-time,prog,[unknown],1"
	# A sample that is cut short is malformed.
	run -3 opreport --by event,comm,image --csv kinds/off_cpu_cut
	[[ $output == *offcpu-time,prog,/opt/prog,1,* ]]
}

@test "MMAP2 without protection and flags (Linux 3.10 to 3.15) maps code" {
	make_kinds
	check_counts image old_mmap2 /opt/lib.so,1
	check_counts image old_mmap2_short /l,1
}

@test "host mappings that perf inject marked as guest mappings are used for the host" {
	make_kinds
	check_counts image host_as_guest /opt/lib.so,1
	check_counts image guest "[unknown],3"
}

@test "attrs at the end of the file" {
	make_kinds
	check_counts event,image attrs_last cycles,/opt/prog,1
}

@test "file, session, archive and export of rare record kinds have equal counts" {
	make_kinds
	four_ways kinds/*
}

@test "tracepoints that only TRACING_DATA names have names" {
	make_kinds
	for name in tracepoint tracepoint_big; do
		check_counts event $name sched:sched_switch,1 "unknown tracepoint,1"
	done
	run -3 opreport kinds/tracepoint_damaged
	[[ $output == *"1 header features unreadable"* ]]
}

@test "a build-id that several modules have is used for none of them" {
	make_kinds
	check_counts image same_module_ids "[first],1" "[honest],1" "[second],1" "[third],1"
	"$OPROFILE" buildid-list -i kinds/same_module_ids >out
	grep -q '^1e1f20[0-9a-f]* \[honest\]$' out
	grep -q '^ *\[first\]$' out
	grep -q '^ *\[second\]$' out
}

@test "without sample times, report and script use the same names" {
	make_kinds
	check_counts comm without_times first,2 second,2
	for file in kinds/without_times{,.pipe}; do
		"$OPROFILE" script "$file" 2>/dev/null | awk '{ print $1 }' | sort | uniq -c |
			sed 's/^ *//' | diff - <(printf '%s\n' "2 first" "2 second")
	done
}

# Prints a file compressed by a program, if it is here.
compressed() # PROGRAM FILE
{
	command -v "$1" >/dev/null || return 1
	"$1" -c "$2"
}

@test "every command that reads a perf.data also reads a compressed one" {
	make_kinds
	for program in gzip xz zstd bzip2; do
		need "$program"
		for name in off_cpu off_cpu.pipe; do
			compressed "$program" kinds/"$name" >packed
			[ "$(counts event,image packed)" = "$(counts event,image kinds/"$name")" ]
			[ "$(counts event,image - <packed)" = "$(counts event,image kinds/"$name")" ]
			"$OPROFILE" script kinds/"$name" >plain.txt 2>/dev/null
			"$OPROFILE" script packed 2>/dev/null | diff plain.txt -
			"$OPROFILE" info packed | grep -q 'Format: *perf.data'
			"$OPROFILE" buildid-list -i packed | grep -q /opt/prog
			"$OPROFILE" import --session-dir "$BATS_TEST_TMPDIR" --force packed
			[ "$(counts event,image --session-dir "$BATS_TEST_TMPDIR")" = "$(counts event,image packed)" ]
			"$OPROFILE" export folded packed event:cycles 2>/dev/null | grep -q '^prog;'
		done
	done
}

@test "a damaged, truncated or mislabelled compressed perf.data file is reported" {
	make_kinds
	for program in gzip xz zstd bzip2; do
		need "$program"
		# Random bytes do not compress, so that the cut is in the records.
		python3 -c 'import random, sys; random.seed(1); d = open(sys.argv[1], "rb").read(); sys.stdout.buffer.write(d + random.randbytes(2000000))' \
			kinds/filtered.pipe >long.pipe
		compressed "$program" long.pipe >packed
		head -c 1500000 packed >cut
		run -3 opreport cut
		{ cat cut; head -c 500000 /dev/zero; } >damaged
		run -3 opreport damaged
		"$OPROFILE" info damaged | grep -q 'Bad bytes: *[1-9]'
		printf 'not a recording\n' >text
		compressed "$program" text >packed
		run ! opreport packed
		! "$OPROFILE" info packed 2>err
		grep -q "packed' is compressed by $program, but is not a perf.data file" err
	done
}

@test "every command names old-format and perf stat files when it rejects them" {
	make_kinds
	printf 'PERFFILE%0100d' 0 >first
	python3 -B - "$SOURCE_ROOT/tests/perf_data" <<-'END'
		import sys
		sys.path.insert(0, sys.argv[1])
		import made
		f = made.Made()
		f.features[19] = b""
		f.record(75, 0, bytes(8))
		open("stat", "wb").write(f.file())
		open("stat.pipe", "wb").write(f.pipe())
	END
	local command
	for command in report script "annotate --source" "export folded" "export perf-data -o out" \
		"import --session-dir ." "archive -o out.archive" "gprof -o out.gmon" "buildid-list -i"; do
		# shellcheck disable=SC2086 # several words
		for file in first stat stat.pipe; do
			! "$OPROFILE" $command $file >out 2>err || { echo "$command $file"; return 1; }
			case $file in
			first) grep -q "first.* has the first perf.data format" err ;;
			*) grep -q "$file: .*counts of .perf stat record." err ;;
			esac || { echo "$command:"; cat err; return 1; }
		done
	done
	"$OPROFILE" info stat | grep -q 'perf stat record'
}
