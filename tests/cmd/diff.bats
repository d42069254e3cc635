#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Differential profiles: opreport -l { SPEC } { SPEC }.

bats_require_minimum_version 1.5.0
load helpers

setup()
{
	cd "$BATS_TEST_TMPDIR"
	cat >p.c <<-'END'
		__attribute__((noinline)) int stays(int n) { return n + 1; }
		__attribute__((noinline)) int grows(int n) { return n + 2; }
		__attribute__((noinline)) int goes(int n) { return n + 3; }
		__attribute__((noinline)) int comes(int n) { return n + 4; }
		int main(void) { return stays(1) + grows(1) + goes(1) + comes(1); }
	END
	cc -O1 -o p p.c
	python3 - "$SOURCE_ROOT/tests/cmd" "$PWD/p" <<-'END'
		import subprocess, sys
		sys.path.insert(0, sys.argv[1])
		sys.dont_write_bytecode = True
		from odb_tree import Tree
		app = sys.argv[2]
		at = {line.split()[2]: int(line.split()[0], 16) for line in subprocess.run(
		    ["nm", "--defined-only", app], stdout=subprocess.PIPE, text=True).stdout.splitlines()}
		def session(name, event="CPU_CLK_UNHALTED.1000.0.all.all.all", **counts):
		    tree = Tree("oprofile_data")
		    tree.put("../%s/{root}%s/{dep}/{root}%s/%s" % (name, app, app, event),
		             {at[f]: n for f, n in counts.items()})
		session("before", stays=40, grows=30, goes=30)
		session("current", stays=40, grows=50, comes=10)
		session("more", grows=10)
		session("other", event="OTHER.1000.0.all.all.all", stays=1)
	END
	mkdir -p oprofile_data/samples/current
}

@test "opreport prints the change of each function, and new and vanished ones" {
	opreport -l { session:before } { session:current } >got 2>err
	tail -n +3 got | diff - <(
		cat <<-'END'
			samples  %        diff %    symbol name
			50       50.0000  +66.6667  grows
			40       40.0000        0   stays
			30       ---      ---       goes
			10       10.0000  +++       comes
		END
	)
	[ "$(grep -c "Using .*/oprofile_data/samples/ for samples directory" err)" -eq 2 ]
}

@test "sessions of a side are summed, and words before the braces belong to both" {
	opreport -n -l image:"$PWD/p" { session:before } { session:current,more } 2>err |
		grep -q "^60       54.5455  +100.000  grows$"
	run -1 --separate-stderr opreport -l image:/none { session:before } { session:current }
	[[ $stderr == *"profile specification too strict"* ]]
}

@test "csv and json contain both sides" {
	opreport -l --csv { session:before } { session:current } 2>err | sed "s,$PWD,DIR,g" |
		diff - <(
			cat <<-'END'
				app,image,symbol,event,before,after,diff
				DIR/p,DIR/p,grows,CPU_CLK_UNHALTED:1000,30,50,66.6667
				DIR/p,DIR/p,stays,CPU_CLK_UNHALTED:1000,40,40,0.0000
				DIR/p,DIR/p,goes,CPU_CLK_UNHALTED:1000,30,0,
				DIR/p,DIR/p,comes,CPU_CLK_UNHALTED:1000,0,10,
			END
		)
	opreport -l --json { session:before } { session:current } 2>err |
		python3 -c '
import json, sys
rows = json.load(sys.stdin)["rows"]
assert rows[0]["before"] == 30 and rows[0]["after"] == 50 and rows[0]["diff"] == 66.6667
assert "diff" not in rows[3] and rows[3]["symbol"] == "comes"'
}

@test "differential profiles are refused where OProfile refuses them" {
	local wrong
	for wrong in "{ }" "{ session:before }" "{ } { session:before }" "{ } { } { }" "{ { } }" "}"; do
		run -1 --separate-stderr opreport -l $wrong
		[[ $stderr == *"invalid profile specification $wrong"* ]]
	done
	run -1 --separate-stderr opreport { session:before } { session:current }
	[[ $stderr == *"different profiles are meaningless without --symbols"* ]]
	for wrong in --details --callgraph --xml; do
		run -1 --separate-stderr opreport -l $wrong { session:before } { session:current }
		[[ $stderr == *"differential profiles are incompatible with $wrong"* ]]
	done
	run -1 --separate-stderr opreport -l { session:before } { session:other }
	[[ $stderr == *"profile classes are incompatible"* ]]
}

@test "two empty sides are an ordinary report" {
	diff <(opreport -l { } { } 2>err) <(opreport -l 2>err)
}
