#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# oprofile diff: sides, verdicts, formats and exit statuses.

bats_require_minimum_version 1.5.0
load helpers

setup()
{
	cd "$BATS_TEST_TMPDIR"
}

diff_recordings()
{
	timeout -k 5 120 "$OPROFILE" diff "$@"
}

# folded FILE NAME=COUNT...: makes a recording of these functions.
folded()
{
	local file=$1 pair
	shift
	for pair; do
		printf 'prog;main;%s %s\n' "${pair%=*}" "${pair##*=}"
	done >"$file"
}

# Makes two sides: b is slower, g new, f gone.
make_sides()
{
	folded base a=3000 b=2000 c=1500 d=1000 e=500 f=200 h=900 i=800
	folded new a=3000 b=3000 c=1500 d=1000 e=500 g=500 h=900 i=800
}

# Prints the verdict of a function in CSV.
verdict()
{
	tr -d '\r' <"$1" | awk -F, -v name="$2" 'NR > 1 && $2 == name { print $NF }'
}

# record_run DIR PROGRAM ARGUMENT...: records a run of a program.
record_run()
{
	local dir=$1 program=$2
	shift 2
	mkdir "$dir"
	operf --session-dir "$dir" "$program" "$@" >/dev/null 2>"$dir.err"
}

@test "diff finds the slower function of a renamed program in three runs, and no other" {
	need_recording
	cp "$WORKLOADS/slower" program-1
	cp "$WORKLOADS/slower" program-2
	for i in 1 2 3; do
		record_run "old$i" ./program-1 0 600
		record_run "new$i" ./program-2 80 600
	done
	diff_recordings --csv old? -- new? >all.csv
	[ "$(verdict all.csv slower_b)" = slower ]
	# 20 % become 36 / 116 = 31 %.
	tr -d '\r' <all.csv | awk -F, '$2 == "slower_b" { ok = $5 > 17 && $5 < 23 && $6 > 28 && $6 < 34 }
		END { exit !ok }'
	# Without a least effect, one row in twenty may be called changed by chance.
	diff_recordings --csv --min-effect=2 old? -- new? >large.csv
	[ "$(verdict large.csv slower_b)" = slower ]
	for name in a c d e f g h; do
		[ "$(verdict large.csv "slower_$name")" = noise ]
	done
	# Other forms of the arguments give the same result.
	diff_recordings --csv --base old1 --base old2 --base old3 --new new1 --new new2 --new new3 |
		cmp - all.csv
	diff_recordings old? -- new? >text
	grep -q "^base: 3 runs, [0-9]* samples: old1 old2 old3" text
	grep -q "^note: 'program-2' is compared with 'program-1'" text
	grep -Eq '^ +[0-9.]+ +[0-9.]+ +\+[0-9.]+ +\+[0-9.]+% +\+[0-9.]+ \.\. \+[0-9.]+  slower     program-2 +slower_b$' text
	# More CPU time than before.
	run -1 --separate-stderr diff_recordings --fail-above 5% old? -- new?
	[[ "$stderr" == *"failed: significantly slower by at least 5 points: program-2: slower_b +"* ]]
	[ "$(wc -l <<<"$stderr")" -eq 1 ]
	run -0 --separate-stderr diff_recordings --fail-above 40 old? -- new?
	[[ "$stderr" == *"passed: no significant slowdown of at least 40 points; largest increase (slower): program-2: slower_b +"* ]]
	# Rows can be source lines and binaries.
	diff_recordings --by line --csv old? -- new? | tr -d '\r' |
		awk -F, '$NF == "slower" { n++; ok = $2 ~ /^slower.c:[0-9]+$/ && $3 == "slower_b" }
			END { exit !(ok && n > 0) }' ||
		diff_recordings --by line old? -- new?
	diff_recordings --by image --csv old? -- new? | grep -q '/program-2,'
}

@test "diff of one run says what it cannot know, and compares sessions and perf.data" {
	need_recording
	record_run one "$WORKLOADS/slower" 0 400
	"$OPROFILE" export perf-data --session-dir one -o one.data >/dev/null 2>&1
	diff_recordings one one.data >text
	grep -q 'note: one run on each side: how much runs differ is unknown' text
	grep -q '^0 of [0-9]* tested rows changed' text
	# All recordings have the same number of samples.
	diff_recordings --csv one one.data | tr -d '\r' |
		awk -F, 'NR > 1 { a += $3; b += $4 } END { exit !(a > 100 && a == b) }'
}

@test "diff calls rows slower, new, gone and noise" {
	make_sides
	diff_recordings --csv base new >rows.csv
	[ "$(verdict rows.csv b)" = slower ]
	[ "$(verdict rows.csv g)" = new ]
	[ "$(verdict rows.csv f)" = gone ]
	# Their shares are smaller only because b is slower.
	for name in a c d e h i; do
		[ "$(verdict rows.csv $name)" = noise ]
	done
	[ "$(verdict rows.csv main)" = "" ]
	diff_recordings base new >text
	grep -q 'note: 2 of 2 runs have no times' text
	grep -q '3 of 9 tested rows changed' text
	grep -Eq 'note: the shares of most rows are [0-9.]+ % smaller on the new side' text
	# With the sides exchanged, the verdicts are the opposite ones.
	diff_recordings --csv new base >back.csv
	[ "$(verdict back.csv b)" = faster ]
	[ "$(verdict back.csv g)" = gone ]
	[ "$(verdict back.csv f)" = new ]
}

@test "diff calls code that only moved to another function moved" {
	# b was inlined into a, and c renamed.
	folded base a=3000 b=2000 c=1500 d=1000 e=500 f=1200
	folded new a=5010 c2=1480 d=1000 e=500 f=1210
	diff_recordings --csv base new >rows.csv
	for name in a b c c2; do
		[ "$(verdict rows.csv $name)" = moved ]
	done
	[ "$(verdict rows.csv d)" = noise ]
	diff_recordings base new >text
	grep -Eq '^moved: b -> a: together [-+]0\.[0-9]+ points \(-[0-9.]+ \.\. \+[0-9.]+\)$' text
	grep -Eq '^moved: c -> c2: together ' text
	run -0 --separate-stderr diff_recordings --fail-above 1 base new
	# a is slower by more than what moved to it: only the rest counts.
	folded new a=5700 c2=1480 d=1000 e=500 f=1210
	run -0 --separate-stderr diff_recordings --fail-above 10 base new
	run -1 --separate-stderr diff_recordings --fail-above 3 base new
	[[ "$stderr" == *": a +"* ]]
}

@test "diff --by stack compares call stacks by the names of their functions" {
	printf 'prog;main;f;g 3000\nprog;main;h.cold;g 2000\nprog;main;h 4000\n' >base
	printf 'prog;main;f;g 3900\nprog;main;h;g 2000\nprog;main;h 4000\n' >new
	diff_recordings --csv --by stack base new >rows.csv
	[ "$(verdict rows.csv 'main;f;g')" = slower ]
	[ "$(tr -d '\r' <rows.csv | awk -F, '$2 == "main;h;g" { print $3, $4 }')" = "2000 2000" ]
	diff_recordings --by stack base new | grep -q '  slower     .* main;f;g$'
}

@test "diff --min-effect calls smaller changes noise" {
	make_sides
	diff_recordings --csv --min-effect 4.4 base new >rows.csv
	[ "$(verdict rows.csv b)" = slower ]
	[ "$(verdict rows.csv g)" = noise ]
	diff_recordings --csv --min-effect 20% base new >rows.csv
	[ "$(verdict rows.csv b)" = noise ]
}

@test "diff --work compares the cost of a unit, and has a total" {
	make_sides
	diff_recordings --work '100,113 requests' base new >text
	grep -q "^values: samples per unit of work (requests), in percent of the base's total" text
	# The base has 9900 samples per 100 requests, the new side 11200 per 113.
	grep -Eq '^ +100.00 +100.12 +\+0.12 .* noise +\(total\)$' text
	diff_recordings --work 1e2 --csv base new | tr -d '\r' |
		awk -F, '$1 == "(total)" { ok = $NF == "slower" && $5 == 100 && $6 > 113 && $6 < 114 }
			END { exit !ok }'
}

@test "diff --per compares samples per second, and per count of another event" {
	need perf
	for side in base new; do
		perf_record -e '{cpu-clock,task-clock}' -F 1000 -o "$side" \
			"$WORKLOADS/slower" "$([ $side = new ] && echo 200 || echo 0)" 400 \
			>/dev/null 2>&1 || skip "perf cannot record here"
	done
	diff_recordings --csv --per task-clock base new >rows.csv
	# Both events count the same time.
	tr -d '\r' <rows.csv |
		awk -F, '$1 == "(total)" { ok = $5 == 100 && $6 > 97 && $6 < 103 } END { exit !ok }'
	[ "$(verdict rows.csv slower_b)" = slower ]
	diff_recordings --per wall event:cpu-clock base new >text
	grep -q "^values: samples per second, in percent of the base's total" text
	grep -Eq ' 100.00 .*\(total\)$' text
	run -2 --separate-stderr diff_recordings base new
	[[ "$stderr" == *"2 events have samples, and only one can be compared: select one, for example event:cpu-clock"* ]]
}

@test "diff compares more runs than one on one side only" {
	make_sides
	folded base2 a=3050 b=1990 c=1480 d=1010 e=490 f=205 h=890 i=810
	run -0 diff_recordings base base2 -- new
	[[ "$output" == *"note: one run on the new side: it is assumed to vary as the runs of the other side do"* ]]
	[[ "$output" == *"base: 2 runs, 19825 samples: base base2"* ]]
}

@test "diff --fail-above exits with 0, 1 or 2 and gives the reason in one line" {
	make_sides
	run -1 --separate-stderr diff_recordings --fail-above 2% base new
	[[ "$stderr" == "oprofile diff: failed: significantly slower by at least 2 points: "*": b +"*" points (95 % interval +"* ]]
	run -0 --separate-stderr diff_recordings --fail-above 3% new base
	[[ "$stderr" == "oprofile diff: passed: no significant slowdown of at least 3 points; largest increase"* ]]
	# A new function counts as a slowdown, too.
	run -1 --separate-stderr diff_recordings --fail-above 1 -e b base new
	[[ "$stderr" == *": g +"* ]]
	run -2 --separate-stderr diff_recordings --fail-above 2% base missing
	[[ "$stderr" == *"'missing': No such file or directory"* ]]
	: >empty.data
	run -2 --separate-stderr diff_recordings --fail-above 2% base empty.data
	[ "$(wc -l <<<"$stderr")" -eq 1 ]
}

@test "diff refuses sides and values that make no sense with status 2" {
	make_sides
	run -2 --separate-stderr diff_recordings base
	[[ "$stderr" == *"the new side has no recording: give two recordings"* ]]
	run -2 --separate-stderr diff_recordings
	[[ "$stderr" == *"no recordings"* ]]
	run -2 --separate-stderr diff_recordings base new base
	[[ "$stderr" == *"3 recordings, but no '--' between the sides"* ]]
	run -2 --separate-stderr diff_recordings --base base
	[[ "$stderr" == *"--base"*"--new"* ]]
	run -2 --separate-stderr diff_recordings --base base --new new new
	[[ "$stderr" == *"give every recording by one of them"* ]]
	for option in --min-effect=x --fail-above=-1 --confidence=100 --by=comm --work=0 \
		--work=1e --threshold=200; do
		run -2 --separate-stderr diff_recordings "$option" base new
		[[ "$stderr" == *"${option%=*}"* ]]
	done
	run -2 --separate-stderr diff_recordings --per instructions base new
	[[ "$stderr" == *"--per instructions: there are no samples of this event"* ]]
	run -2 --separate-stderr diff_recordings --per wall base new
	[[ "$stderr" == *"the samples have no times"* ]]
}

@test "diff --csv and --json are read by other programs, with all names" {
	folded base 'a,"b"=3000' 'operator|`x`=900' c=5
	folded new 'a,"b"=2000' 'operator|`x`=1900' c=5
	diff_recordings --csv base new >rows.csv
	diff_recordings --json base new >rows.json
	python3 - <<-'END'
	import csv, json
	rows = list(csv.DictReader(open("rows.csv", newline="")))
	doc = json.load(open("rows.json"))
	assert doc["schema"] == "oprofile-diff/1", doc
	assert [r["name"] for r in doc["base"]["runs"]] == ["base"]
	assert doc["base"]["samples"] == 3905 and doc["new"]["samples"] == 3905
	assert [r["symbol"] for r in rows] == [r["symbol"] for r in doc["rows"]]
	assert {r["symbol"] for r in rows} == {'a,"b"', "operator|`x`", "c"}
	for a, b in zip(rows, doc["rows"]):
	    for key, value in b.items():
	        if isinstance(value, str):
	            assert a[key] == value, key
	        elif value is None:
	            assert a[key] == "", key
	        else:
	            assert float(a[key]) == value, key
	        if key.startswith("interval"):
	            assert (value <= b["change"]) == key.endswith("low") or value == b["change"]
	by = {r["symbol"]: r for r in doc["rows"]}
	assert by["operator|`x`"]["verdict"] == "slower"
	assert abs(by["operator|`x`"]["base_percent"] - 100 * 900 / 3905) < 1e-6
	END
}

@test "diff --markdown is a table in CommonMark with GitHub's extension" {
	need cmark-gfm
	folded base 'a|b=3000' 'with`tick=900' '<b>*bold*</b>=800' c=500 d=400 e=300 f=200
	folded new 'a|b=2000' 'with`tick=1900' '<b>*bold*</b>=1500' c=500 d=400 e=300 f=200
	diff_recordings --markdown base new >diff.md
	cmark-gfm -e table --to xml diff.md >diff.xml
	python3 - <<-'END'
	import xml.etree.ElementTree as tree
	ns = "{http://commonmark.org/xml/1.0}"
	doc = tree.parse("diff.xml").getroot()
	assert doc.find(ns + "heading").find(ns + "text").text.startswith("Profile comparison")
	table = doc.find(ns + "table")
	rows = [[list(cell) for cell in row] for row in table]
	assert all(len(row) == 7 for row in rows), rows
	names = {row[1][0].text for row in rows[1:]}
	assert names == {"a|b", "with`tick", "<b>*bold*</b>"}, names
	assert len(doc.findall(ns + "list")) == 1
	assert not list(doc.iter(ns + "html_inline"))
	END
	# Without changes there is no table.
	diff_recordings --markdown base base >same.md
	grep -q 'no significant change' same.md
	run ! grep -q '^|' same.md
}

# Two call trees: mix is slower, inl was inlined into run, and old renamed to fresh.
make_trees()
{
	cat >base <<-'END'
		prog;main;parse;lex 3000
		prog;main;parse 1500
		prog;main;run;hash;mix 2000
		prog;main;run;hash 1000
		prog;main;run;old 900
		prog;main;run 500
		prog;main;run;inl 700
		prog;main;io;write 1800
		prog;main;parse;rare 2
	END
	cat >new <<-'END'
		prog;main;parse;lex 3000
		prog;main;parse 1500
		prog;main;run;hash;mix.isra.0 3200
		prog;main;run;hash 1000
		prog;main;run;fresh;deep 910
		prog;main;run 1210
		prog;main;io;write 1800
		prog;main;parse;rare 2
	END
}

@test "diff --tree prints the union of both call trees with changes and verdicts" {
	make_trees
	diff_recordings --tree base new >text
	sed -n '/symbol name/,/^moved/p' text | diff - <(
		cat <<-'END'
			  base %    new %   change     self  verdict    symbol name
			  100.00   100.00    +0.00           noise      main  [unknown]
			   44.73    50.07    +5.34    +5.20  slower     |-run
			   26.31    33.28    +6.96    -0.85  slower     | |-hash
			   17.54    25.35    +7.81    +7.81  slower     | | `-mix
			    7.89     0.00    -7.89    -7.89  moved      | |-old
			    0.00     7.21    +7.21           moved      | |-fresh
			                              +7.21             | | deep
			    6.14     0.00    -6.14    -6.14  moved      | `-inl
			   39.48    35.67    -3.82    -1.27  noise      |-parse
			   26.31    23.77    -2.54    -2.54  noise      | `-lex
			   15.79    14.26    -1.53           noise      `-io
			                              -1.53               write
			moved: old -> fresh: together -0.68 points (-1.41 .. +0.04)
		END
	)
	grep -q '^moved: inl -> run: together ' text
	grep -Eq '^7 of 13 tested rows changed .*; 1 unchanged nodes below 0.5 % are not shown$' text
	diff_recordings --tree --threshold 30 base new >large
	run ! grep -q 'io$' large
	# Changed nodes are always shown, with their callers.
	grep -q 'mix$' large
	diff_recordings --tree --threshold 0 -n base new >all
	grep -q 'rare$' all
	run ! grep -q 'symbol name' all
}

@test "diff --tree averages runs as the table does" {
	make_trees
	sed 's/ 3200$/ 3000/' new >new2
	diff_recordings --tree --csv base -- new new2 >tree.csv
	diff_recordings --csv base -- new new2 >table.csv
	python3 - <<-'END'
	import csv
	tree = list(csv.DictReader(open("tree.csv", newline="")))
	table = {r["symbol"]: r for r in csv.DictReader(open("table.csv", newline=""))}
	assert len(tree) == 13, len(tree)
	# No function is called from two others.
	for row in tree:
	    name = row["symbol"]
	    if name in table:
	        for column in "base_percent", "new_percent", "change":
	            assert abs(float(row["self_" + column]) - float(table[name][column])) < 1e-6, name
	path, sums = [], {}
	for row in tree:
	    del path[int(row["depth"]):]
	    assert len(path) == int(row["depth"])
	    path.append(row["symbol"])
	    for side in "base", "new":
	        for caller in path:
	            sums[caller, side] = sums.get((caller, side), 0) + float(row[f"self_{side}_percent"])
	for row in tree:
	    for side in "base", "new":
	        assert abs(sums[row["symbol"], side] - float(row[side + "_percent"])) < 1e-6, row
	mix = next(row for row in tree if row["symbol"] == "mix")
	assert abs(float(mix["new_percent"]) - 100 * 6200 / (12622 + 12422)) < 1e-6, mix
	END
}

@test "diff --tree --json has the rows of --csv, and --work a total" {
	make_trees
	diff_recordings --tree --csv base new >tree.csv
	diff_recordings --tree --json base new >tree.json
	python3 - <<-'END'
	import csv, json
	rows = list(csv.DictReader(open("tree.csv", newline="")))
	doc = json.load(open("tree.json"))
	assert len(rows) == len(doc["rows"]) == 13
	for a, b in zip(rows, doc["rows"]):
	    for key, value in b.items():
	        if key == "move":
	            assert float(a["together"]) == doc["moves"][value]["change"], key
	        elif isinstance(value, str):
	            assert a[key] == value, key
	        elif value is None:
	            assert a[key] == "", key
	        else:
	            assert float(a[key]) == value, key
	END
	diff_recordings --tree --work 100 base new >text
	grep -Eq '^ +100.00 +110.70 +\+10.70 +slower +\(total\)$' text
	grep -Eq '^ +100.00 +110.70 +\+10.70 +slower +main  ' text
	grep -Eq '^ +39.48 +39.48 +\+0.00 +\+0.00  noise +[|`]-parse$' text
}

@test "diff --tree and --flamegraph of the same recording show no change" {
	need_recording
	record_run one "$WORKLOADS/slower" 0 300
	diff_recordings --tree --csv --threshold 0 one one >same.csv
	tr -d '\r' <same.csv | awk -F, 'NR > 1 { n++; bad += $8 != 0 || $NF != "noise" }
		END { exit !(n > 2 && bad == 0) }'
}

# Prints the JSON in a page.
page_data()
{
	python3 -c '
import re, sys
page = open(sys.argv[1], encoding="utf-8").read()
print(re.search(r"<script type=application/json id=data>(.*?)</script>", page, re.S)[1])' "$1"
}

@test "diff --flamegraph writes a page with the nodes of both sides" {
	make_trees
	diff_recordings --flamegraph -o page.html base new
	diff_recordings --tree --csv base new >tree.csv
	page_data page.html >page.json
	python3 - <<-'END'
	import csv, json
	data = json.load(open("page.json"))
	diff = data["diff"]
	rows = {row["symbol"]: row for row in csv.DictReader(open("tree.csv", newline=""))}
	assert len(data["up"]) == len(data["symbol"]) == len(diff["nodes"]) == len(rows) + 1
	assert diff["nodes"][0][:2] == [100, 100]
	assert [side[:2] for side in diff["sides"]] == [[1, 11402], [1, 12622]]
	names = ["all"] + [data["symbols"][s][0] for s in data["symbol"][1:]]
	for i, (base, new, low, high, verdict, tested) in enumerate(diff["nodes"][1:], 1):
	    row = rows[names[i]]
	    for value, column in (base, "base_percent"), (new, "new_percent"), (low, "interval_low"), \
	            (high, "interval_high"):
	        assert abs(value - float(row[column])) < 1e-4, (names[i], column)
	    assert diff["verdicts"][verdict] == row["verdict"], names[i]
	    assert tested == (row["q"] != ""), names[i]
	    if diff["self"][i]:
	        assert abs(diff["self"][i][1] - float(row["self_new_percent"])) < 1e-4, names[i]
	callers = {names[i]: names[i - data["up"][i]] for i in range(1, len(names))}
	assert callers["mix"] == "hash" and callers["old"] == callers["fresh"] == "run", callers
	assert names == ["all", "main", "io", "write", "parse", "lex", "rare", "run", "fresh", "deep",
	                 "hash", "mix", "inl", "old"], names
	END
}

@test "diff --flamegraph cannot be ended by a name, and forms that differ are refused" {
	folded base '</script><script>x=3000' b=2000
	folded new '</script><script>x=1000' b=4000
	diff_recordings --flamegraph base new >page.html
	[ "$(grep -o '</script>' page.html | wc -l)" -eq "$(grep -o '<script' page.html | wc -l)" ]
	page_data page.html | python3 -c '
import json, sys
assert "</script><script>x" in [s[0] for s in json.load(sys.stdin)["symbols"]]'
	for other in --csv --json --markdown --tree --by=line; do
		run -2 --separate-stderr diff_recordings --flamegraph "$other" base new
		[[ "$stderr" == *"--flamegraph"* ]]
	done
	for other in --markdown --by=line; do
		run -2 --separate-stderr diff_recordings --tree "$other" base new
		[[ "$stderr" == *"--tree"* ]]
	done
}

@test "diff shows names that cannot control a terminal" {
	folded base $'x\e[31mred=3000' b=2000
	folded new $'x\e[31mred=1000' b=4000
	for form in --color=always --csv --json --markdown --tree --flamegraph; do
		diff_recordings "$form" base new >out
		run ! grep -q $'\e\\[31mred' out
		grep -q red out
	done
}

# make_history DIR: 14 recordings, r0 to r13; d is slower from r8 on, and g from the last one on.
make_history()
{
	mkdir "$1"
	python3 - "$1" <<-'END'
	import os, random, sys
	random.seed(4)
	shares = dict(a=3000, b=2000, c=1500, d=1000, e=800, f=600, g=500, h=400)
	for run in range(14):
	    path = f"{sys.argv[1]}/r{run}"
	    with open(path, "w") as out:
	        for name, mean in shares.items():
	            mean *= 1.5 if name == "d" and run >= 8 else 1
	            mean *= 2 if name == "g" and run == 13 else 1
	            count = round(random.gauss(mean, mean ** 0.5))
	            out.write(f"prog;main;{name} {count}\n")
	    os.utime(path, (1700000000 + 86400 * run,) * 2)
	END
}

@test "diff --history finds which function changed, and in which recording" {
	make_history nightly
	echo 'not a recording' >nightly/README
	mkdir nightly/empty
	diff_recordings --history nightly >text
	grep -q '^14 recordings from 2023-11-14 22:13 to 2023-11-27 22:13 UTC, ' text
	grep -Eq '^ +[0-9.]+ +[0-9.]+ +\+[0-9.]+ .* r7 +r8 .* d$' text
	grep -Eq ' r12 +r13 .* g$' text
	grep -q '^2 changes in 8 tested rows' text
	diff_recordings --history nightly --csv >rows.csv
	diff_recordings --history nightly --json >rows.json
	python3 - <<-'END'
	import csv, json
	rows = list(csv.DictReader(open("rows.csv", newline="")))
	doc = json.load(open("rows.json"))
	assert doc["schema"] == "oprofile-history/1", doc
	runs = [r["name"] for r in doc["recordings"]]
	assert runs == [f"nightly/r{i}" for i in range(14)], runs
	found = {r["symbol"]: r for r in doc["changes"]}
	assert set(found) == {"d", "g"}, found
	assert (found["d"]["first"], found["d"]["at"], found["d"]["end"]) == (0, 8, 14)
	assert found["g"]["at"] == 13 and found["g"]["newest"] is True
	d = found["d"]
	mean = sum(d["values"][:8]) / 8
	assert abs(d["base_percent"] - mean) < 1e-3 and 9.5 < mean < 11, mean
	assert 13.5 < d["new_percent"] < 15.5 and d["q"] <= 0.05
	for row in rows:
	    other = found[row["symbol"]]
	    for key in ("before", "after"):
	        assert row[key] == other[key]
	    for key in ("base_percent", "new_percent", "change", "relative_percent", "p", "q"):
	        assert float(row[key]) == other[key], key
	END
	# The history with a larger minimum effect, with other values, and with other rows.
	diff_recordings --history nightly --min-effect 20 --csv -n >none.csv
	[ ! -s none.csv ]
	diff_recordings --history nightly --work '10 requests' --csv | grep -q '^(total),,r7,r8,'
	diff_recordings --history nightly --work 10 | grep -q "in percent of the first recording's total"
	run -0 diff_recordings --history nightly --by image
	[[ "$output" == *"0 changes in 1 tested rows"* ]]
}

@test "diff --history --svg draws the functions that changed" {
	make_history nightly
	diff_recordings --history nightly --svg pictures -o table
	grep -q '^2 changes' table
	[ "$(cd pictures && ls)" = "$(printf '%s\n' 01-g.svg 02-d.svg)" ] ||
		[ "$(cd pictures && ls)" = "$(printf '%s\n' 01-d.svg 02-g.svg)" ]
	python3 - pictures/*-d.svg <<-'END'
	import sys, xml.etree.ElementTree as tree
	ns = "{http://www.w3.org/2000/svg}"
	doc = tree.parse(sys.argv[1]).getroot()
	points = doc.findall(ns + "circle")
	assert len(points) == 14
	assert points[8].find(ns + "title").text.startswith("r8: ")
	height = [float(p.get("cy")) for p in points]
	# Larger values are drawn higher.
	assert max(height[8:]) < min(height[:8]), height
	END
	run -2 diff_recordings --svg pictures nightly/r0 nightly/r1
	[[ "$output" == *"--history"* ]]
}

@test "diff --history --fail-above fails if the newest recording follows a slowdown" {
	make_history nightly
	run -1 --separate-stderr diff_recordings --history nightly --fail-above 4%
	[[ "$stderr" == "oprofile diff: failed: significantly slower by at least 4 points since 'r"*"': "* ]]
	run -0 --separate-stderr diff_recordings --history nightly --fail-above 10%
	[[ "$stderr" == *"passed: no significant slowdown of at least 10 points"* ]]
	# Recordings without the slowdowns follow: they are over.
	for i in 14 15 16 17 18; do
		cp "nightly/r$((i - 13))" "nightly/r$i"
		touch -d "2024-01-$i" "nightly/r$i"
	done
	run -0 --separate-stderr diff_recordings --history nightly --fail-above 1%
	diff_recordings --history nightly --csv | grep -q ',d,r13,r14,'
}

@test "diff --history calls code that only moved to another function moved" {
	mkdir nightly
	for i in 0 1 2 3 4 5 6 7 8 9; do
		# b is inlined into a, and c needs more from the same recording on.
		if [ $i -lt 6 ]; then
			folded "nightly/r$i" "a=30$i$i" "b=20$i$i" "c=10$i$i" d=1500 e=900 "f=70$i"
		else
			folded "nightly/r$i" "a=50$i$i" "c=14$i$i" d=1500 e=900 "f=70$i"
		fi
	done
	diff_recordings --history nightly --csv >rows.csv
	[ "$(verdict rows.csv a)" = moved ]
	[ "$(verdict rows.csv b)" = moved ]
	[ "$(verdict rows.csv c)" = slower ]
	diff_recordings --history nightly | grep -Eq '  moved +r5 +r6 .* a$'
	run -1 --separate-stderr diff_recordings --history nightly --fail-above 2
	[[ "$stderr" == *"since 'r6': "*": c +"* ]]
}

@test "diff --history orders recordings by their time, and needs at least 4" {
	need_recording
	mkdir series
	for i in 1 2 3 4 5 6 7 8; do
		# The names are in the opposite order of the recordings.
		record_run "series/$((9 - i))" "$WORKLOADS/slower" "$((i > 4 ? 100 : 0))" 500
	done
	diff_recordings --history series --csv --min-effect 2 >rows.csv
	tr -d '\r' <rows.csv | awk -F, '$2 == "slower_b" { found = $3 == 5 && $4 == 4 && $9 > 5 }
		$2 != "slower_b" && NR > 1 { others = 1 } END { exit !found || others }'
	run -2 --separate-stderr diff_recordings --history series series/8
	[[ "$stderr" == *"compares only the recordings in its directory"* ]]
	rm -r series/[1-5]
	run -2 --separate-stderr diff_recordings --history series
	[[ "$stderr" == *"found 3 recordings directly inside it, at least 4 are needed"* ]]
	run -2 --separate-stderr diff_recordings --history missing
	[[ "$stderr" == *"cannot read the directory 'missing': No such file or directory"* ]]
}

@test "diff does not take the order of the lines of a profile without times for times" {
	# Each function has many lines one after the other, as sorted stacks have.
	for side in 8 12.8; do
		awk -v f="$side" 'BEGIN {
			for (i = 0; i < 1600; i++) printf "p;main;x%d;F %d\n", i, f * 5 / 8 * 8
			for (g = 0; g < 9; g++)
				for (i = 0; i < 1600; i++) printf "p;main;x%d;g%d 40\n", i, g
		}' >"$side.folded"
	done
	diff_recordings 8.folded 12.8.folded --csv >out.csv
	[ "$(verdict out.csv F)" = slower ]
	run -1 diff_recordings --fail-above 1% 8.folded 12.8.folded
	run -2 --separate-stderr diff_recordings --per wall 8.folded 12.8.folded
	[[ "$stderr" == *"the samples have no times"* ]]
	mkdir old new
	"$OPROFILE" import --session-dir old 8.folded
	"$OPROFILE" import --session-dir new 12.8.folded
	diff_recordings --csv old new >sessions.csv
	[ "$(verdict sessions.csv F)" = slower ]
	# A report in blocks of time has one block.
	[ "$(opreport --by time:1ms --csv 8.folded | tail -n +2 | wc -l)" -eq 1 ]
}
