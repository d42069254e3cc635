#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What few perf.data files contain, from files made for it, and equal counts for every recording.

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

@test "file, session, archive and export have the same counts: recordings of other machines" {
	need_data
	four_ways "$DATA"/perf-history/* "$DATA"/{arm64,armhf,s390x}/*.data
}

@test "file, session, archive and export have the same counts: seeds of the fuzz targets" {
	four_ways "$SOURCE_ROOT"/tests/fuzz/corpus/perf_input*/*
}

@test "the address of a precise event is the location of the sample, not that of the interrupt" {
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

@test "callers of a precise event: where the interrupt came is a callee, unless it is near" {
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
