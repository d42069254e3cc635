#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Sessions that OProfile's own tools wrote: read by reports, and imported.

bats_require_minimum_version 1.5.0
load helpers

setup()
{
	out=$BATS_TEST_TMPDIR
	cd "$out"
	cat >p.c <<-'END'
		__attribute__((noinline)) int leaf(int n) { return n + 1; }
		__attribute__((noinline)) int _alias(int n) { return leaf(n) + 1; }
		int shown(int) __attribute__((alias("_alias")));
		int main(void) { return shown(1); }
	END
	cc -O1 -g -o p p.c
	app=$out/p
}

# write_tree ARGUMENTS <<END: runs python with a Tree in oprofile_data, and the offsets of functions.
write_tree()
{
	cat >tree.body
	python3 - "$SOURCE_ROOT/tests/cmd" "$app" <<-END
		import os, subprocess, sys
		sys.path.insert(0, sys.argv[1])
		sys.dont_write_bytecode = True
		from odb_tree import Tree
		app = sys.argv[2]
		at = {line.split()[2]: int(line.split()[0], 16) for line in subprocess.run(
		    ["nm", "--defined-only", app], stdout=subprocess.PIPE, text=True).stdout.splitlines()}
		mtime = int(os.stat(app).st_mtime)
		own = "{root}%s/{dep}/{root}%s" % (app, app)
		tree = Tree("oprofile_data"$1)
		$(cat tree.body)
	END
}

# Prints the counts and names of opreport -l, without the header.
symbols()
{
	opreport -n -l "$@" 2>err | sed 's/  */ /g; s/ $//'
}

@test "opreport reads sample files of every ABI" {
	for abi in "" ", big=True" ", wide=False" ", wide=False, big=True" \
		", version=0x12" ", version=0x12, big=True" ", wide=False, version=0x12" \
		", wide=False, big=True, version=0x12"; do
		rm -rf oprofile_data
		write_tree "$abi" <<-'END'
			tree.put(own + "/CPU_CLK_UNHALTED.1000.0.all.all.all",
			         {at["leaf"]: 30, at["main"] + 1: 10}, mtime=mtime)
		END
		symbols >got
		diff - got <<-'END'
			30 75.0000 leaf
			10 25.0000 main
		END
	done
}

@test "opreport uses the abi file next to samples/" {
	write_tree "" <<-'END'
		tree.put(own + "/CPU_CLK_UNHALTED.1000.0.all.all.all", {at["leaf"]: 30}, mtime=mtime)
		tree.abi()
	END
	[ "$(symbols)" = "30 100.000 leaf" ]
	echo "sizeof_u64 5" >oprofile_data/abi
	[ "$(symbols)" = "30 100.000 leaf" ]
	grep -q "sizeof_u64 5 is not supported; the layout of sample files is detected" err
}

@test "opreport prints OProfile's summary with the kernel, libraries and memory of a process" {
	write_tree "" <<-'END'
		event = "/CPU_CLK_UNHALTED.1000.0.all.all.all"
		app_dir = "{root}%s/{dep}/" % app
		tree.put(own + event, {at["leaf"]: 30}, mtime=mtime)
		tree.put(app_dir + "{root}/lib/libnone.so" + event, {0x10: 8})
		tree.put(app_dir + "{kern}/no-vmlinux" + event, {0x10: 7}, kernel=1)
		tree.put(app_dir + "{kern}/ext4" + event, {0x10: 6}, kernel=1)
		tree.put(app_dir + "{anon:anon}/42.0x1000.0x3000" + event, {0x10: 5}, anon=0x1000)
		tree.put(app_dir + "{anon:[vdso]}/42.0x5000.0x6000" + event, {0x10: 4}, anon=0x5000)
	END
	opreport >got 2>err
	tail -n +3 got | sed 's/^\t/>/' | diff - <(
		cat <<-'END'
			CPU_CLK_UNHALT...|
			  samples|      %|
			------------------
			       60 100.000 p
			>CPU_CLK_UNHALT...|
			>  samples|      %|
			>------------------
			>       30 50.0000 p
			>        8 13.3333 libnone.so
			>        7 11.6667 no-vmlinux
			>        6 10.0000 ext4
			>        5  8.3333 anon (tgid:42 range:0x1000-0x3000)
			>        4  6.6667 [vdso] (tgid:42 range:0x5000-0x6000)
		END
	)
	symbols | grep -qx "7 11.6667 no-vmlinux /no-vmlinux"
}

@test "opreport adds counts that together exceed 32 bits" {
	write_tree "" <<-'END'
		event = "/CPU_CLK_UNHALTED.1000.0.all.all."
		for cpu in range(3):
		    tree.put(own + event + str(cpu), {at["leaf"]: 0xffffffff}, mtime=mtime)
	END
	[ "$(symbols -m cpu)" = "12884901885 100.000 leaf" ]
	[ "$(opreport --csv --by cpu,symbol 2>err | grep -c 4294967295)" -eq 3 ]
}

@test "opreport separates threads, processes and processors as OProfile did" {
	write_tree "" <<-'END'
		event = "/CPU_CLK_UNHALTED.1000.0."
		tree.put(own + event + "10.11.0", {at["leaf"]: 3}, mtime=mtime)
		tree.put(own + event + "10.11.1", {at["leaf"]: 4}, mtime=mtime)
		tree.put(own + event + "20.20.0", {at["leaf"]: 5}, mtime=mtime)
	END
	[ "$(symbols -m tgid,tid)" = "8 100.000 4 100.000 leaf" ]
	[ "$(symbols tgid:10 -m all)" = "7 100.000 leaf" ]
}

@test "opreport --callgraph prints the calls in {cg} files" {
	write_tree "" <<-'END'
		event = "/CPU_CLK_UNHALTED.1000.0.all.all.all"
		tree.put(own + event, {at["leaf"]: 9, at["_alias"]: 1}, mtime=mtime)
		tree.put("%s/{cg}/{root}%s" % (own, app) + event,
		         {at["_alias"] + 3 << 32 | at["leaf"]: 9, at["main"] + 4 << 32 | at["_alias"] + 5: 8},
		         mtime=mtime)
	END
	opreport -n -c 2>err | sed 's/  */ /g' | diff - <(
		cat <<-'END'
			-------------------------------------------------------------------------------
			 9 100.000 shown
			9 90.0000 leaf
			 9 100.000 leaf [self]
			-------------------------------------------------------------------------------
			 8 100.000 main
			1 10.0000 shown
			 9 90.0000 leaf
			 1 10.0000 shown [self]
			-------------------------------------------------------------------------------
			0 0 main
			 8 100.000 shown
			 0 0 main [self]
			-------------------------------------------------------------------------------
		END
	)
	timeout 60 "$OPROFILE_LINKS/opgprof" 2>err
	gprof -q -b p gmon.out 2>err | sed 's/  */ /g' >got
	grep -q "9/9 leaf " got
	grep -q "8/8 _*[a-z]* \[" got
	timeout 60 "$OPROFILE" script oprofile_data >got 2>err
	[ "$(wc -l <got)" -eq 2 ]
	timeout 60 "$OPROFILE" export perf-data -o made.data oprofile_data
	[ "$(opreport --csv --by event made.data 2>err | tail -n 1 | cut -d, -f 2)" -eq 2 ]
	# Calls are not samples.
	[ "$(symbols | head -n 1)" = "9 90.0000 leaf" ]
	timeout 60 "$OPROFILE" info --json oprofile_data >info 2>&1
	grep -q '"samples":10,' info
}

@test "opreport --callgraph --exclude-dependent keeps the calls from the application" {
	cp p lib
	write_tree "" <<-'END'
		event = "/CPU_CLK_UNHALTED.1000.0.all.all.all"
		lib = os.path.dirname(app) + "/lib"
		of_lib = "{root}%s/{dep}/{root}%s" % (app, lib)
		tree.put(own + event, {at["leaf"]: 9}, mtime=mtime)
		tree.put(of_lib + event, {at["leaf"]: 3}, mtime=int(os.stat(lib).st_mtime))
		tree.put("%s/{cg}/{root}%s" % (own, lib) + event, {at["main"] + 4 << 32 | at["_alias"]: 4}, mtime=mtime)
		tree.put("%s/{cg}/{root}%s" % (of_lib, app) + event, {at["main"] + 4 << 32 | at["leaf"]: 5}, mtime=mtime)
	END
	opreport -n -c -x 2>err | sed 's/  */ /g' | diff - <(
		cat <<-'END'
			-------------------------------------------------------------------------------
			9 100.000 p leaf
			 9 100.000 p leaf [self]
			-------------------------------------------------------------------------------
			 4 100.000 p main
			0 0 lib shown
			 0 0 lib shown [self]
			-------------------------------------------------------------------------------
			0 0 p main
			 4 100.000 lib shown
			 0 0 p main [self]
			-------------------------------------------------------------------------------
		END
	)
	opreport -n -c 2>err | grep -q ' 5 '
}

@test "a damaged sample file is named and skipped" {
	write_tree "" <<-'END'
		tree.put(own + "/CPU_CLK_UNHALTED.1000.0.all.all.all", {at["leaf"]: 30}, mtime=mtime)
		tree.put(own + "/OTHER.1000.0.all.all.all", {at["leaf"]: 30}, mtime=mtime)
		tree.put(own + "/BAD.all.all.all", {at["leaf"]: 30}, mtime=mtime)
	END
	truncate -s 100 "oprofile_data/samples/current/{root}$app/{dep}/{root}$app/OTHER.1000.0.all.all.all"
	run -3 --separate-stderr opreport -n -l
	[ "$(sed 's/  */ /g; s/ $//' <<<"$output")" = "30 100.000 leaf" ]
	grep -q "OTHER.1000.0.all.all.all: the sample file is truncated or damaged.*skipped" <<<"$stderr"
	grep -q "BAD.all.all.all: parse_event_spec(): bad event specification" <<<"$stderr"
}

@test "opimport makes a session of a tree" {
	write_tree "" <<-'END'
		tree.put(own + "/CPU_CLK_UNHALTED.1000.0.all.all.all",
		         {at["leaf"]: 30, at["main"] + 1: 10}, mtime=mtime)
	END
	mkdir made
	timeout 60 "$OPROFILE_LINKS/opimport" --session-dir made oprofile_data
	opreport -n -l --session-dir made 2>err | sed 's/  */ /g; s/ $//' | diff - <(
		cat <<-'END'
			30 75.0000 leaf
			10 25.0000 main
		END
	)
}

@test "opimport --output converts a sample file to the layout of this machine" {
	write_tree ", big=True, wide=False, version=0x12" <<-'END'
		tree.put(own + "/CPU_CLK_UNHALTED.1000.0.all.all.all", {at["leaf"]: 30}, mtime=mtime)
	END
	local below="samples/current/{root}$app/{dep}/{root}$app/CPU_CLK_UNHALTED.1000.0.all.all.all"
	mkdir -p "native/${below%/*}"
	timeout 60 "$OPROFILE_LINKS/opimport" -o "native/$below" "oprofile_data/$below"
	[ "$(stat -c %s "native/$below")" -eq 2664 ]
	[ "$(symbols --session-dir native)" = "30 100.000 leaf" ]
	run -1 timeout 60 "$OPROFILE_LINKS/opimport" -o again "native/$below"
	[[ $output == *"input abi is identical to native. no conversion necessary."* ]]
}

@test "oprofile export odb writes the tree that was read" {
	write_tree "" <<-'END'
		event = "/CPU_CLK_UNHALTED.1000.0."
		app_dir = "{root}%s/{dep}/" % app
		tree.put(own + event + "10.11.0", {at["leaf"]: 30, at["main"] + 1: 7}, mtime=mtime)
		tree.put(own + "/{cg}/{root}%s" % app + event + "10.11.0",
		         {at["_alias"] + 3 << 32 | at["leaf"]: 9}, mtime=mtime)
		tree.put(app_dir + "{kern}/no-vmlinux" + event + "10.11.0", {0x10: 7}, kernel=1)
		tree.put(app_dir + "{kern}/ext4" + event + "10.11.0", {0x10: 6}, kernel=1)
		tree.put(app_dir + "{anon:anon}/42.0x1000.0x3000" + event + "10.11.1", {0x10: 5}, anon=0x1000)
	END
	timeout 60 "$OPROFILE" export odb -o again oprofile_data
	diff <(cd oprofile_data/samples/current && find . -type f | sort) \
		<(cd again/samples/current && find . -type f -not -path './stats/*' | sort)
	for form in "-l" "-c" "-d"; do
		diff <(opreport -m all $form 2>err) <(opreport -m all $form --session-dir again 2>err)
	done
	[ "$(<again/samples/current/stats/total_samples)" = 55 ]
	grep -qx "sizeof_struct_opd_header 72" again/abi
	run -1 timeout 60 "$OPROFILE" export odb -o again oprofile_data
	[[ $output == *"again/samples/current' exists"* ]]
}

@test "opreport names the code of a JIT compiler by the .jo file" {
	cc -c -O1 -o code.o -x c - <<-'END'
		int compiled(int n) { return n * 3; }
	END
	write_tree "" <<-'END'
		event = "/CPU_CLK_UNHALTED.1000.0.42.42.all"
		tree.put("{root}%s/{dep}/{anon:anon}/42.0x400000.0x500000" % app + event,
		         {0x40: 12}, anon=0x400000)
	END
	memory="oprofile_data/samples/current/{root}$app/{dep}/{anon:anon}"
	objcopy --change-section-address .text=0x400040 code.o "$memory/42.jo"
	# As opjitconv's files: addresses instead of offsets in a section.
	ld -Ttext=0x400040 -e compiled -o "$memory/42.jo" code.o
	opreport -n -l 2>err | sed 's/  */ /g' | grep -q "^12 100.000 42.jo compiled$"
}

@test "a .jo file that is not ELF is reported" {
	write_tree "" <<-'END'
		event = "/CPU_CLK_UNHALTED.1000.0.42.42.all"
		tree.put("{root}%s/{dep}/{anon:anon}/42.0x400000.0x500000" % app + event,
		         {0x40: 12}, anon=0x400000)
	END
	jo="oprofile_data/samples/current/{root}$app/{dep}/{anon:anon}/42.jo"
	opreport -l
	for content in garbage ''; do
		printf %s "$content" >"$jo"
		run -3 --separate-stderr opreport -l
		echo "$stderr"
		[[ "$stderr" == *"42.jo"*"not an ELF file with code"* ]]
		[[ "$output" == *"12 "* ]]
	done
	rm "$jo"
	ln -s /dev/zero "$jo"
	run -3 timeout 20 "$OPROFILE_LINKS/opreport" -l
}

@test "sample files whose tables contradict themselves are reported" {
	write_tree "" <<-'END'
		tree.put(own + "/CPU_CLK_UNHALTED.1000.0.all.all.all", {at["leaf"]: 30, at["main"]: 4}, mtime=mtime)
	END
	file="oprofile_data/samples/current/{root}$app/{dep}/{root}$app/CPU_CLK_UNHALTED.1000.0.all.all.all"
	cp "$file" good
	run -0 --separate-stderr opreport -l
	[[ "$stderr" != *"its table is damaged"* ]]
	# Position of the number of nodes in use; of the link of the last node; after the end.
	for change in '76 2 links to no other node' '148 77 links to no other node' '76 5 nodes in no chain'; do
		read -r at value words <<<"$change"
		cp good "$file"
		printf "\\x$value" | dd of="$file" bs=1 seek="$at" conv=notrunc status=none
		run -3 --separate-stderr opreport -l
		echo "$change: $stderr"
		[[ "$stderr" == *"CPU_CLK_UNHALTED.1000.0.all.all.all: its table is damaged, and counts can be wrong or missing: "*"$words"* ]]
		[[ "$output" == *"30 "*leaf* ]]
	done
	cp good "$file"
	printf 'x' >>"$file"
	mkdir made
	run -3 --separate-stderr "$OPROFILE" import --session-dir made oprofile_data
	[[ "$stderr" == *"1 bytes after the table"* ]]
}

@test "reports of sessions of OProfile equal its own texts" {
	[ -d "${OPROFILE_TREES:-}" ] || skip "OPROFILE_TREES does not name a directory of such sessions"
	"$SOURCE_ROOT/tests/cmd/compare_trees" "$OPROFILE_TREES" "$OPROFILE_LINKS"
}

@test "operf moves a session of OProfile aside and never removes it" {
	local busy='i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done'
	need_recording
	write_tree "" <<-'END'
		tree.put(own + "/CPU_CLK_UNHALTED.1000.0.all.all.all", {at["leaf"]: 30}, mtime=mtime)
	END
	cp -r oprofile_data/samples/current oprofile_data/samples/previous
	operf sh -c "$busy" 2>err
	grep -q "current' is a session of OProfile: moved to '.*/samples/oprofile-2'" err
	[ "$(symbols session:oprofile-1)" = "30 100.000 leaf" ]
	[ "$(symbols session:oprofile-2)" = "30 100.000 leaf" ]
	mv oprofile_data/samples/oprofile-1 oprofile_data/samples/saved
	rm -r oprofile_data/samples/current
	cp -r oprofile_data/samples/saved oprofile_data/samples/current
	operf --append sh -c "$busy" 2>err
	grep -q "moved to '.*/samples/oprofile-1'" err
	ls oprofile_data/samples/current/segment-000001
}

@test "oprofile export odb never writes outside of its directory, whatever the names" {
	new_session
	write_segment "$session/samples/current" <<-END
		info|0||$(uname -n)||1000000000|0||
		event|TIMER|time|7|0|997|0
		image|1|/bin/app|
		image|1|/../../../../../../../../../../../..$BATS_TEST_TMPDIR/evil|
		image|1|/memfd:x/../../../../../../../../../../..$BATS_TEST_TMPDIR/memfd/x (deleted)|
		image|1|/bin//app|
		image|1|/bin/./app|
		thread|7|7|app|0|0|/
		sample|0|0|0|2000|1|0+16|60
		sample|0|0|0|2001|1|1+16|3
		sample|0|0|0|2002|1|2+16|5
		sample|0|0|0|2003|1|3+16|7
		sample|0|0|0|2004|1|4+16|11
	END
	cd "$BATS_TEST_TMPDIR"
	run -0 --separate-stderr "$OPROFILE" export odb --session-dir "$session" -o tree
	[[ "$stderr" == *"26 samples are not exported"* ]]
	[ ! -e evil ] && [ ! -e memfd ]
	[ "$(find tree -type f -name 'TIMER*' | wc -l)" -eq 1 ]
	[ "$(cat tree/samples/current/stats/lost_no_mapping)" -eq 26 ]
	# Links that another user could have made are not followed.
	mkdir -p linked/samples elsewhere
	ln -s ../../elsewhere linked/samples/current
	run -1 "$OPROFILE" export odb --session-dir "$session" -o linked
	rm linked/samples/current
	rmdir linked/samples
	ln -s ../elsewhere linked/samples
	run -1 --separate-stderr "$OPROFILE" export odb --session-dir "$session" -o linked
	[ -z "$(ls elsewhere)" ]
}
