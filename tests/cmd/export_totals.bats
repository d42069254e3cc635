#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Each format of `oprofile export` has the same self and inclusive samples of each function as
# opreport. How the sessions are built determines the samples.

bats_require_minimum_version 1.5.0
load helpers

setup()
{
	need gcc
	out=$BATS_TEST_TMPDIR
	cd "$out"
	export XDG_CACHE_HOME=$out/cache
	new_session
}

export_it()
{
	timeout -k 5 60 "$OPROFILE" export "$@" --session-dir "$session"
}

# Builds a program without inlining: outer calls mid and leaf, mid calls leaf.
program()
{
	cat >t.c <<-'END'
		int leaf(int x)
		{
			return x * 3 + 1;
		}
		int mid(int x)
		{
			return leaf(x) + leaf(x + 1);
		}
		int outer(int x)
		{
			return mid(x) + leaf(x);
		}
		int main(int argc, char **argv)
		{
			return outer(argc) + !argv;
		}
	END
	gcc -g -O1 -fno-inline -fno-pie -no-pie -fcf-protection=none -Wl,--build-id -o t t.c 2>err ||
		gcc -g -O1 -fno-inline -fno-pie -no-pie -Wl,--build-id -o t t.c
	objdump -d --no-show-raw-insn t >code
}

program_session()
{
	local shift=$(($(text_offset t) - $(text_address t)))
	local leaf=0+$(($(begin_of leaf) + shift)) mid=0+$(($(begin_of mid) + shift))
	local outer=0+$(($(begin_of outer) + shift))
	local from_mid=0+$(($(return_address mid leaf) + shift))
	local from_outer=0+$(($(return_address outer mid) + shift)) leaf_from_outer=0+$(($(return_address outer leaf) + shift))
	write_segment "$session/samples/current" <<-END
		info|0||$(uname -n)||1000000000|0||
		event|TIMER|time|15|1000000|0|0
		image|1|$out/t|$(readelf -n t | sed -n 's/^.*Build ID: //p')
		thread|7|7|one|0|0|/
		thread|7|8|two|0|0|/
		sample|0|0|0|2000|1000000|$leaf;$from_mid;$from_outer|53
		sample|1|0|1|3000|1000000|$leaf;$from_mid;$from_outer|7
		sample|0|0|0|4000|1000000|$leaf;$leaf_from_outer|20
		sample|0|0|0|30002000|1000000|$mid;$from_outer|15
		sample|1|0|1|30004000|1000000|$outer|5
	END
}

totals()
{
	timeout 60 python3 "$SOURCE_ROOT/tests/cmd/exported.py" totals "$@" leaf mid outer
}

# reported SOURCE...: prints "NAME SELF INCLUSIVE" of each function whose name is a C identifier.
reported()
{
	opreport --by symbol --children --csv "$@" 2>err | tr -d '\r' >csv
	python3 - <<-'END'
		import csv
		for row in csv.DictReader(open("csv")):
		    if row["symbol"].isidentifier():
		        print(row["symbol"], row["samples"], row["total_samples"])
	END
}

@test "all formats and opreport have the same self and inclusive totals" {
	local format
	program
	program_session
	printf '%s\n' 'leaf 80 80' 'mid 15 75' 'outer 5 100' >wanted
	reported --session-dir "$session" | sort >found
	diff wanted found
	for format in folded pprof speedscope firefox chrome flamegraph heatmap perf-script callgrind; do
		echo "$format"
		export_it "$format" --threshold 0 -o "$format"
		totals "${format/-/_}" "$format" | diff wanted -
	done
	echo svg
	export_it flamegraph --threshold 0 --svg -o svg
	totals svg svg | diff wanted -
	# gprof computes inclusive time from the calls.
	if command -v gprof >/dev/null; then
		export_it gmon -o gmon.out
		gprof -b -p -q t gmon.out >gmon
		cat gmon
		totals gmon gmon | diff wanted -
	fi
	# These two formats are for compilers and linkers, which know the calls themselves; they
	# have self samples only.
	sed 's/[0-9]*$/-/' wanted >wanted.self
	export_it afdo -o afdo
	cat afdo
	totals afdo afdo | diff wanted.self -
	export_it bolt -o bolt
	cat bolt
	totals bolt bolt | diff wanted.self -
}

@test "all formats have the same totals for another machine's recording" {
	need_data
	export PERF_BUILDID_DIR=$DATA/arm64/debug-cache
	local f=$DATA/arm64/perf.data name
	# Compare the five functions with the most samples.
	reported "$f" | sort -k2,2nr | head -n 5 >wanted
	cat wanted
	[ "$(wc -l <wanted)" -eq 5 ]
	for name in folded pprof speedscope firefox chrome flamegraph heatmap perf-script; do
		echo "$name"
		timeout -k 5 60 "$OPROFILE" export "$name" --threshold=0 \
			-o "$name" "$f" 2>err
		timeout 60 python3 "$SOURCE_ROOT/tests/cmd/exported.py" totals "${name/-/_}" "$name" \
			$(cut -d' ' -f1 wanted) | diff wanted -
	done
}
