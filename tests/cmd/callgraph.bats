#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Call stacks in reports: --callgraph, --tree, --focus, --children, --max-stack, inlined
# functions. Samples and expected results are written by hand.

bats_require_minimum_version 1.5.0
load helpers

setup_file()
{
	export DIR="$BATS_FILE_TMPDIR"
	export BUILD_ID=0123456789abcdef0123456789abcdef01234567
	{
		echo '.text'
		for f in leaf mid main; do
			echo ".globl $f; .type $f, %function; $f: .fill 64, 1, 0; .size $f, 64"
		done
		echo '.section .note.GNU-stack,"",%progbits'
	} >"$DIR/t.s"
	gcc -nostdlib -shared -Wl,--build-id=0x$BUILD_ID -o "$DIR/t" "$DIR/t.s"
	TEXT=$(($(text_offset "$DIR/t")))
	export LEAF=$((TEXT + 4)) MID=$((TEXT + 70)) MAIN=$((TEXT + 140))
	# If the call is the last instruction of a function, its return address is in the next
	# function.
	export LAST_OF_MAIN=$((TEXT + 192))
	manual | make_session manual
	recursion | make_session recursion
	events | make_session events
}

make_session()
{
	mkdir -p "$DIR/$1/samples/current/images"
	cp "$DIR/t" "$DIR/$1/samples/current/images/$BUILD_ID"
	write_segment "$DIR/$1/samples/current"
}

things()
{
	cat <<-END
		info|2400|AMD64 generic|host1||1000
		event|CPU_CLK_UNHALTED|CPU Clocks not Halted|3|100000|0|0
		image|1|/home/u/t|$BUILD_ID
		image|2|[kernel.kallsyms]||0|0xffffffff81000000|0xffffffff82000000
		thread|4242|4242|t|0|0|/user.slice
	END
}

# Makes the example of the manual, with 1008 samples.
manual()
{
	things
	cat <<-END
		sample|0|0|0|2000|100000|0+$LEAF;0+$MID;0+$LAST_OF_MAIN|850
		sample|0|0|0|2000|100000|0+$LEAF;0+$MID;T|100
		sample|0|0|0|2000|100000|0+$MID;0+$MAIN|40
		sample|0|0|0|2000|100000|0+$MAIN|6
		sample|0|0|0|2000|100000|1+0x100|12
	END
}

# Makes a session in which mid calls itself, and leaf and mid call each other.
recursion()
{
	things
	cat <<-END
		sample|0|0|0|2000|100000|0+$MID;0+$MID;0+$MID;0+$MAIN|5
		sample|0|0|0|2000|100000|0+$LEAF;0+$MID;0+$LEAF;0+$MID;0+$MAIN|3
	END
}

events()
{
	things
	cat <<-END
		event|RETIRED_INSTRUCTIONS|Retired instructions|3|50000|0|0
		sample|0|0|0|2000|100000|0+$LEAF;0+$MAIN|3
		sample|0|1|0|2000|50000|0+$LEAF;0+$MAIN|1
		sample|0|1|0|2000|50000|0+$MID;0+$MAIN|7
	END
}

setup()
{
	out=$BATS_TEST_TMPDIR
}

report()
{
	local session=$1
	shift
	timeout -k 5 60 "$OPROFILE" report --session-dir "$DIR/$session" "$@"
}

csv()
{
	report "$@" --csv | tr -d '\r'
}

@test "--callgraph prints OProfile's layout, column for column" {
	report manual -c | sed 's/ *$//' >"$out/got"
	cat >"$out/want" <<-'END'
		CPU: AMD64 generic, speed 2400 MHz (estimated)
		Counted CPU_CLK_UNHALTED events (CPU Clocks not Halted) with a unit mask of 0x00 (No unit mask) count 100000
		samples  %        image name               symbol name
		-------------------------------------------------------------------------------
		  950      100.000  t                        mid
		950      94.2460  t                        leaf
		  950      100.000  t                        leaf [self]
		-------------------------------------------------------------------------------
		  100      10.1010                           [truncated]
		  890      89.8990  t                        main
		40        3.9683  t                        mid
		  950      95.9596  t                        leaf
		  40        4.0404  t                        mid [self]
		-------------------------------------------------------------------------------
		12        1.1905  no-vmlinux               /no-vmlinux
		  12       100.000  no-vmlinux               /no-vmlinux [self]
		-------------------------------------------------------------------------------
		6         0.5952  t                        main
		  890      99.3304  t                        mid
		  6         0.6696  t                        main [self]
		-------------------------------------------------------------------------------
	END
	diff -u "$out/want" "$out/got"
}

# Each stack counts once for a function or call, however often it contains them.
@test "a recursive function counts once" {
	csv recursion -c | awk -F, '{ print $3, $4, $6, $7 }' | sort >"$out/got"
	cat >"$out/want" <<-'END'
		leaf callee mid 3
		leaf caller mid 3
		leaf self  3
		leaf total  3
		main callee mid 8
		main self  0
		main total  8
		mid callee leaf 3
		mid callee mid 5
		mid caller leaf 3
		mid caller main 8
		mid caller mid 5
		mid self  5
		mid total  8
		symbol relation other_symbol samples
	END
	diff -u <(sort "$out/want") "$out/got"
}

@test "--no-empty-self and --numbered change the call graph" {
	report recursion -cn | grep -q '^  0 .* main \[self\]$'
	report recursion -cn --no-empty-self >"$out/without"
	run -1 grep -q 'main \[self\]' "$out/without"
	[ "$(grep -c 'self' "$out/without")" -eq 2 ]
	# Each reference has the number of its function's line.
	report recursion -cn --numbered >"$out/numbered"
	[ "$(grep -c '^[0-9]' "$out/numbered")" -eq 3 ]
	grep -q '^5 .* mid \[1\]$' "$out/numbered"
	grep -q '^  5 .* mid \[1\] \[self\]$' "$out/numbered"
	grep -q '^3 .* leaf \[2\]$' "$out/numbered"
	grep -q '^0 .* main \[3\]$' "$out/numbered"
	diff -u <(report recursion -cn) <(sed 's/ \[[0-9]\]//' "$out/numbered")
}

@test "--callgraph handles thresholds, sort orders and several events, and rejects conflicts" {
	# The threshold applies to lines and to the entries of lists.
	report manual -cn --threshold 5 | grep -v -- '---' | awk '{ print $1, $NF }' >"$out/got"
	printf '%s\n' '950 mid' '950 leaf' '950 [self]' | diff -u - "$out/got"
	[ "$(report manual -cn --sort symbol | grep '^[0-9]' | awk '{ print $NF }' | xargs)" = \
		"/no-vmlinux leaf main mid" ]
	# All 3 samples of the first event, 1 of 8 samples of the second.
	report events -cn | grep -q '^3 *100.000 *1 *12.5000 .*leaf$'
	report events -cn --focus main | grep -v -- '---' | awk '{ print $1, $3, $NF }' >"$out/got"
	printf '%s\n' '0 0 main' '3 1 leaf' '0 7 mid' '0 0 [self]' | sort >"$out/want"
	diff -u "$out/want" <(sort "$out/got")
	run -1 --separate-stderr report manual -c -d
	[[ $stderr == *"--callgraph is incompatible with --details"* ]]
	for wrong in "-c --by image" "--tree --by image" "--tree -l" "--numbered" "--focus main -l" \
		"--children" "--children --by address" "--tree=up" "--max-stack 3" "--inline -l" \
		"--max-stack 0 -c" "--tree --sort symbol" "-c --focus nosuch"; do
		# Options and their values.
		# shellcheck disable=SC2086
		run -1 --separate-stderr report manual $wrong
		[ "$(grep -vc '^Using' <<<"$stderr")" -eq 1 ] || { echo "$wrong: $stderr"; false; }
	done
	run -1 --separate-stderr report manual -c --focus man
	[[ $stderr == *"did you mean 'main'"* ]]
}

@test "--tree shows callees below callers; chains, truncated stacks and thresholds" {
	report manual --tree -n | sed 's/ *$//' >"$out/got"
	cat >"$out/want" <<-'END'
		896      88.8889   0.5952  main  t
		890      88.2937   3.9683  `-mid
		850      84.3254  84.3254    `-leaf
		12        1.1905   1.1905  [no-vmlinux]
		100       9.9206        0  [truncated]
		                           mid  t
		                   9.9206  leaf
	END
	diff -u "$out/want" "$out/got"
	report manual --tree=callers -n | sed 's/ *$//' >"$out/got"
	cat >"$out/want" <<-'END'
		950      94.2460  leaf  t
		                  mid
		850      84.3254  |-main
		100       9.9206  `-[truncated]
		40        3.9683  mid  t
		                  main
		12        1.1905  [no-vmlinux]
		6         0.5952  main  t
	END
	diff -u "$out/want" "$out/got"
	[ "$(report manual --tree=callers -n --threshold 50 | wc -l)" -eq 3 ]
	# The shares of the remaining rows do not change.
	report manual --tree=callers -n --threshold 50 | head -n 1 | grep -q '^950 *94.2460 '
}

@test "--focus shows callers and callees of one function, and counts each stack once" {
	# If three consecutive frames are mid, the inner two are nested in the tree.
	report recursion --tree --focus mid -n | sed 's/ *$//' >"$out/got"
	cat >"$out/want" <<-'END'
		8        100.000  mid  t
		                  main
		8        100.000        0  mid  t
		5        62.5000        0  |-mid
		                  62.5000  | mid
		3        37.5000        0  `-leaf
		                             mid
		                  37.5000    leaf
	END
	diff -u "$out/want" "$out/got"
	csv recursion --tree=callees --focus leaf >"$out/got"
	cat >"$out/want" <<-'END'
		part,depth,image,symbol,samples,period,percent,self_samples,self_period,self_percent
		callees,0,/home/u/t,leaf,3,300000,37.5,0,0,0
		callees,1,/home/u/t,mid,3,300000,37.5,0,0,0
		callees,2,/home/u/t,leaf,3,300000,37.5,3,300000,37.5
	END
	diff -u "$out/want" "$out/got"
}

@test "--children shows inclusive counts of each function" {
	csv manual --by symbol --children | awk -F, '{ print $1, $2, $5, $7 }' >"$out/got"
	cat >"$out/want" <<-'END'
		symbol samples total_samples total_percent
		mid 40 990 98.21428571
		leaf 950 950 94.24603175
		main 6 896 88.88888889
		/no-vmlinux 12 12 1.19047619
	END
	diff -u "$out/want" "$out/got"
	csv recursion --by comm --children | grep -q '^t,8,800000,100,8,800000,100$'
	report manual -l --children -n | awk '{ print $1, $3, $NF }' >"$out/got"
	printf '%s\n' '990 40 mid' '950 950 leaf' '896 6 main' '12 12 /no-vmlinux' |
		diff -u - "$out/got"
	csv events --by symbol --children | awk -F, '{ print $1, $2, $3, $6 }' >"$out/got"
	cat >"$out/want" <<-'END'
		event symbol samples total_samples
		CPU_CLK_UNHALTED leaf 3 3
		CPU_CLK_UNHALTED main 0 3
		RETIRED_INSTRUCTIONS main 0 8
		RETIRED_INSTRUCTIONS mid 7 7
		RETIRED_INSTRUCTIONS leaf 1 1
	END
	diff -u "$out/want" "$out/got"
}

@test "--sort self and --sort total order functions without or with their callees" {
	report manual -l --sort total -n >"$out/got"
	report manual -l --children -n | diff - "$out/got"
	report manual -l --children --sort self -n | awk '{ print $1, $3, $NF }' >"$out/got"
	printf '%s\n' '950 950 leaf' '990 40 mid' '12 12 /no-vmlinux' '896 6 main' |
		diff -u - "$out/got"
	# Without inclusive counts, all samples are the function's own.
	diff <(report manual -l -n) <(report manual -l -n --sort self)
	csv manual --by symbol --sort total | diff - <(csv manual --by symbol --children)
	# The lines of --top are chosen in the same order.
	[ "$(report manual -ln --sort total --top 2 | awk '{ print $NF }' | xargs)" = "mid leaf" ]
	[ "$(report manual -ln --children --sort self --top 2 | awk '{ print $NF }' | xargs)" = \
		"leaf mid" ]
	for wrong in "-l --sort self,total" "--sort total" "-c --sort total" \
		"-d --sort total" "-l --confidence --sort total"; do
		run -1 --separate-stderr report manual $wrong
		[[ "$stderr" == *--sort* ]]
	done
}

@test "--max-stack shows the innermost functions and marks cut stacks" {
	report manual --tree -n --max-stack 2 | sed 's/ *$//' >"$out/got"
	cat >"$out/want" <<-'END'
		46        4.5635   0.5952  main  t
		40        3.9683   3.9683  `-mid
		12        1.1905   1.1905  [no-vmlinux]
		950      94.2460        0  [truncated]
		                           mid  t
		                  94.2460  leaf
	END
	diff -u "$out/want" "$out/got"
	csv manual --by stack --max-stack 1 | grep -q '^\[truncated\];leaf,950,'
	csv manual --by symbol --children --max-stack 1 | grep -q '^main,6,600000,0.5952380952,6,'
}

# Makes a program in which one address of `outer` belongs to the inlined `inner`.
inlined()
{
	cat >"$DIR/i.c" <<-'END'
		static inline __attribute__((always_inline)) long inner(long *p)
		{
			long sum = 0;
			for (int i = 0; i < 100; i++)
				sum += p[i] * p[i + 1];
			return sum;
		}
		long outer(long *p) { return inner(p + 1) + p[0]; }
	END
	gcc -O1 -g -nostdlib -shared -Wl,--build-id=0x$BUILD_ID -o "$DIR/i" "$DIR/i.c"
	start=$((0x$(nm "$DIR/i" | awk '$3 == "outer" { print $1 }')))
	for ((at = start; at < start + 64; at++)); do
		addr2line -fi -e "$DIR/i" "$(printf '%x' $at)" | grep -q '^inner$' && return 0
	done
	false
}

@test "inlined functions are marked, in trees unless --no-inline" {
	need addr2line
	inlined
	local s=$DIR/inlined/samples/current
	mkdir -p "$s/images"
	cp "$DIR/i" "$s/images/$BUILD_ID"
	# .text has the same address as its file offset.
	{
		things
		echo "sample|0|0|0|2000|100000|0+$at|9"
		echo "sample|0|0|0|2000|100000|0+$((at + 1));0+$((at + 1))|1"
	} | write_segment "$s"
	export XDG_CACHE_HOME=$out/cache
	report inlined --tree -n | sed 's/ *$//' >"$out/got"
	cat >"$out/want" <<-'END'
		10       100.000        0  outer  t
		                  90.0000  inner (inlined)
		1        10.0000        0  `-outer
		                  10.0000    inner (inlined)
	END
	diff -u "$out/want" "$out/got"
	report inlined --tree -n --no-inline | grep -q '^10  *100.000  90.0000  outer'
	report inlined -cn --inline | grep -q '^10 .* inner (inlined)$'
	run -1 grep inlined <(report inlined -cn)
	[ "$(csv inlined --by stack --inline | grep -c 'inner (inlined)')" -eq 2 ]
}

@test "--json is valid and has the numbers of the text" {
	need python3
	for s in manual recursion events; do
		report $s -c --json >"$out/calls.json"
		report $s --tree --json >"$out/tree.json"
		csv $s -c >"$out/calls.csv"
		csv $s --tree >"$out/tree.csv"
		python3 - "$out" <<-'END'
			import csv, json, sys
			def load(name):
			    return json.load(open(f"{sys.argv[1]}/{name}.json")), \
			        list(csv.DictReader(open(f"{sys.argv[1]}/{name}.csv")))
			calls, rows = load("calls")
			got = set()
			for f in calls["functions"]:
			    key = (f.get("event"), f["symbol"])
			    got.add(key + ("self", "", f["samples"]))
			    got.add(key + ("total", "", f["total_samples"]))
			    for name in "caller", "callee":
			        for o in f[name + "s"]:
			            got.add(key + (name, "[truncated]" if o.get("truncated")
			                           else o["symbol"], o["samples"]))
			want = {(r.get("event"), r["symbol"], r["relation"], r["other_symbol"],
			         int(r["samples"])) for r in rows}
			assert got == want and len(rows) == len(want), got ^ want
			tree, rows = load("tree")
			assert [(o["depth"], o["symbol"], o["samples"], o["self_samples"])
			        for o in tree["rows"]] == \
			    [(int(r["depth"]), r["symbol"], int(r["samples"]),
			      int(r["self_samples"])) for r in rows]
		END
	done
}

# If all frames have names, self and inclusive shares equal perf's.
@test "--children has the counts of perf report --children" {
	need perf
	need python3
	for how in "fp ratio 300" "dwarf,32768 deep 300 100"; do
		read -r unwind program words <<<"$how"
		# perf 6.1 sometimes crashes.
		for try in 1 2 3 none; do
			[ "$try" != none ] || skip "perf cannot record here"
			# Split the arguments of the program.
			# shellcheck disable=SC2086
			perf_record -e cpu-clock:u -F 999 --call-graph "$unwind" \
				-o "$out/perf.data" "$WORKLOADS/$program" $words >/dev/null 2>&1 &&
				break
		done
		timeout 60 python3 "$SOURCE_ROOT/tests/perf_data/children.py" "$OPROFILE" \
			"$out/perf.data"
	done
}

@test "recordings of other machines have the same call graph with one thread and from a session" {
	need_data
	local f=$DATA/arm64/perf.dwarf.data
	for machine in arm64 armhf s390x; do
		export PERF_BUILDID_DIR=$DATA/$machine/debug-cache
		for form in --tree --quality; do
			for threads in 1 2 3; do
				"$OPROFILE" report --threads "$threads" "$form" \
					"$DATA/$machine/perf.dwarf.data" >"$out/$threads" 2>/dev/null
				cmp "$out/1" "$out/$threads"
			done
			[ "$(wc -l <"$out/1")" -gt 8 ]
		done
	done
	export PERF_BUILDID_DIR=$DATA/arm64/debug-cache
	for form in -c --tree "--by comm,dso,symbol --children"; do
		# Options and their values.
		# shellcheck disable=SC2086
		"$OPROFILE" report $form "$f" >"$out/two" 2>/dev/null
		# shellcheck disable=SC2086
		"$OPROFILE" report --threads 1 $form "$f" >"$out/one" 2>/dev/null
		cmp "$out/one" "$out/two"
	done
	mkdir "$out/s"
	"$OPROFILE" import --session-dir "$out/s" "$f" 2>/dev/null
	for form in -cn "--tree -n"; do
		# shellcheck disable=SC2086
		diff <("$OPROFILE" report $form "$f" 2>/dev/null) \
			<("$OPROFILE" report $form --session-dir "$out/s" 2>/dev/null)
	done
	# Two events have columns next to each other, and the tree is sorted by the first event.
	"$OPROFILE" report --tree -n "$DATA/arm64/perf.full.data" >"$out/tree" 2>/dev/null
	grep -Eq '^([0-9]+ +[0-9.]+ +[0-9.]+ +){2}.*-main  work$' "$out/tree"
}
