#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Profiles of other tools: imported or read directly, and reported like recordings.

bats_require_minimum_version 1.5.0
load helpers

# Makes bats repeat failed tests, because Debian's perf 6.1 sometimes crashes while it writes
# build-ids.
setup_file()
{
	export BATS_TEST_RETRIES=2
}

setup()
{
	out=$BATS_TEST_TMPDIR
	cd "$out"
	new_session
}

import()
{
	timeout -k 5 60 "$OPROFILE" import --session-dir "$session" "$@"
}

export_it()
{
	timeout -k 5 60 "$OPROFILE" export "$@"
}

# counts KEYS [SOURCE...]: prints a line "VALUE|...|samples|period" for each row, without the
# event.
counts()
{
	local keys=$1 status=0
	shift
	opreport --csv --by "$keys" "$@" >"$out/csv" || status=$?
	[ "$status" -eq 0 ] || [ "$status" -eq 3 ] || return "$status"
	python3 - "$out/csv" "$keys" <<-'END' | sort
		import csv, sys
		for row in csv.DictReader(open(sys.argv[1], newline="", errors="surrogateescape")):
		    print("|".join([row[k] for k in sys.argv[2].split(",")] + [row["samples"], row["period"]]))
	END
	return "$status"
}

without_period()
{
	sed 's/|[^|]*$//' "$@"
}

# Makes a session of three functions, two threads and two images.
made_session()
{
	need as
	three_functions 4096 | as -o f.o
	ld -shared --build-id -o lib.so f.o
	ld -shared --build-id=0x1234567890123456 -o other.so f.o
	local at=$(text_offset lib.so) id=$(readelf -n lib.so | sed -n 's/^.*Build ID: //p')
	local leaf=$((at + 16)) mid=$((at + 4096 + 16)) turn=$((at + 8192 + 16))
	write_segment made <<-END
		info|0||$(uname -n)||1000000000|0||
		event|cycles|c|11|1000000|0|0
		image|1|$out/lib.so|$id
		image|1|$out/other.so|1234567890123456
		thread|7|7|a b 1|0|0|/
		thread|7|8|two|0|0|/
		sample|0|0|0|1000002000|1000000|0+$leaf;0+$mid;1+$turn|5
		sample|0|0|1|1000004000|1000000|1+$mid;1+$turn|3
		sample|1|0|0|1009002000|2000000|0+$leaf;0+$turn|2
		sample|1|0|3|1009003000|1000000|0+$turn;T|1
		sample|1|0|3|1009004000|500000|1+$turn|1
	END
}

@test "an exported and imported session has the counts of the original" {
	made_session
	for format in folded pprof perf-script; do
		rm -rf "$session/samples"
		export_it "$format" made -o "x.$format"
		import "x.$format"
		views='symbol comm,symbol'
		views='symbol comm,symbol'
		[ "$format" = folded ] || views+=' image,symbol comm,tid,image'
		[ "$format" != pprof ] || views+=' comm,pid'
		[ "$format" != perf-script ] || views+=' event,cpu,symbol'
		for view in $views; do
			echo "$format $view"
			# Folded stacks do not contain periods.
			shown=cat
			[ "$format" = folded ] && shown=without_period
			counts "$view" made | $shown >wanted
			# In these stacks a blank would end the stack.
			[ "$format" != folded ] || sed -i 's/a b 1/a_b_1/' wanted
			# perf prints functions without their parameter types.
			[ "$format" != perf-script ] || sed -i 's/turn(.*)/turn/' wanted
			[ -s wanted ]
			counts "$view" --session-dir "$session" | $shown | diff wanted -
			# The profile gives the same without being imported.
			counts "$view" "x.$format" | $shown | diff wanted -
		done
		# The call stacks are also the same.
		export_it folded made | sort >wanted
		[ "$format" != perf-script ] || sed -i 's/turn([^;]*)/turn/; s/\[truncated\];//' wanted
		export_it folded --session-dir "$session" | sort | diff wanted -
	done
}

@test "import reads every format and a perf.data from standard input, as pipe and as file" {
	made_session
	for format in folded pprof perf-script; do
		export_it "$format" made -o "x.$format"
		counts symbol "x.$format" >wanted
		[ -s wanted ]
		counts symbol - <"x.$format" | diff wanted -
		# The profile arrives in several writes, the first of which is too short to show the
		# format.
		{
			head -c 3 "x.$format"
			sleep 0.1
			tail -c +4 "x.$format"
		} | counts symbol - | diff wanted -
		rm -rf "$session/samples"
		import - <"x.$format"
		counts symbol --session-dir "$session" | diff wanted -
	done
	need_data
	cp "$DATA/arm64/perf.tp.data" p.data
	counts comm p.data >wanted 2>err
	counts comm - <p.data 2>err | diff wanted -
	printf 'some text\n' >text
	for input in text /dev/null; do
		run -1 --separate-stderr import - <"$input"
		echo "$stderr"
		[ "${#stderr_lines[@]}" -eq 1 ]
		[[ $stderr == *"standard input"* ]]
	done
	printf 'p;f 2\nwhat is this\n' >half
	run -3 --separate-stderr import --name half - <half
	[[ $stderr == *"standard input: 1 lines were not recognised"* ]]
}

@test "import combines several profiles, and a recording with a profile" {
	made_session
	export_it pprof made -o x.pb.gz
	printf '%s\n' 'two;mid;leaf 4' '# a note' 'three;turn(char const*, int) 6' >x.folded
	counts event,symbol made x.pb.gz x.folded >found
	cat found
	# The recording and the pprof file, which has the event's name, contain 12 each.
	grep -qx 'cycles|leaf|14|18000000' found
	grep -qx 'cycles|turn(char const\*, int)|4|3000000' found
	grep -qx 'samples|leaf|4|4' found
	grep -qx 'samples|turn(char const\*, int)|6|6' found
	import x.pb.gz x.folded
	counts event --session-dir "$session" >found
	diff - found <<-'END'
		cycles|12|13500000
		samples|10|10
	END
}

@test "sums of periods do not wrap" {
	cd "$BATS_TEST_TMPDIR"
	printf 'a;b 18446744073709551615\na;c 1\n' >large.folded
	run -1 --separate-stderr opreport --by image large.folded
	[[ "$stderr" == *"add up to more than 18446744073709551615"* ]]
	printf 'a;b 18446744073709551613\na;c 1\n' >fits.folded
	opreport --by image --csv --show-total-period fits.folded 2>err | grep ',18446744073709551614,'
	# The same event in two recordings, as files and as sessions.
	cp fits.folded again.folded
	for view in '--by image' '--by symbol --csv' '--by image,symbol --json'; do
		run -1 --separate-stderr opreport $view --show-total-period fits.folded again.folded
		[[ "$stderr" == *"the counts of event samples add up to more than 18446744073709551614: select fewer"* ]]
	done
	mkdir one two
	"$OPROFILE" import --session-dir one fits.folded
	"$OPROFILE" import --session-dir two again.folded
	run -1 --separate-stderr opreport --by image --show-total-period one/samples/current two/samples/current
	[[ "$stderr" == *"add up to more than"* ]]
	new_session
	write_segment "$session/samples/current" <<-END
		info|0||$(uname -n)||1000000000|0||
		event|CYCLES|cycles|1|1000|0|0
		image|1|/no/prog|00
		thread|7|7|p|0|0|/
		sample|0|0|0|2000|9223372036854775807|0+4096|3
	END
	"$OPROFILE" export perf-data --session-dir "$session" -o large.data
	run -3 --separate-stderr opreport --by image --csv --show-total-period large.data
	echo "$output$stderr"
	[[ "$stderr" == *"1 records malformed"* ]] && [[ "$output" == *",18446744073709551614,"* ]]
}

@test "an imported Go profile has the numbers of go tool pprof" {
	need go
	export HOME=$out GOFLAGS=-mod=mod
	local data=$SOURCE_ROOT/tests/data/foreign
	top()
	{
		go tool pprof -top -nodecount=1000 -nodefraction=0 "$@" 2>err |
			awk '/flat%/ { on = 1; next } on && $1 != "0" { n = $1; for (i = 1; i <= 5; i++) $i = ""; sub(/^ */, ""); sub(/ \(inline\)$/, ""); print $0 "|" n }' | sort
	}
	top -sample_index=samples "$data/go-cpu.pb.gz" >wanted
	counts symbol "$data/go-cpu.pb.gz" | without_period | diff wanted -
	[ "$(wc -l <wanted)" -gt 5 ]
	# The same profile as `go tool pprof` writes it, and uncompressed.
	go tool pprof -proto -output again.pb.gz "$data/go-cpu.pb.gz" 2>err
	counts symbol again.pb.gz | without_period | diff wanted -
	gunzip -c again.pb.gz >plain.pb
	counts symbol plain.pb | without_period | diff wanted -
	# Allocated objects, and their bytes.
	top -sample_index=alloc_objects "$data/go-heap.pb.gz" >wanted
	counts event,symbol "$data/go-heap.pb.gz" | without_period | sed -n 's/^alloc_space|//p' | diff wanted -
}

@test "import reads all forms of perf script text" {
	cat >text <<-'END'
		# ========
		my prog 2 17  4294.012345:     250000 cycles:u:            401136 main+0x10 (/usr/bin/my prog (deleted))
		          swapper     0/0     [002]  4294.012346789: cpu-clock:pppH:
		    ffffffff810 idle+0x1
	END
	printf '\t%s\n' 'ffffffff81000010 do_idle+0x10 ([kernel.kallsyms])' \
		'    7f0000001000 operator+0x+=(int, long)+0x7 (/lib/x.so)' '     123 [unknown] ([unknown])' >>text
	cat >>text <<-'END'

		perl  99 4294.5: sched:sched_switch: prev_comm=perl prev_pid=99
		make -1 [000] 4294.6: page-faults:
	END
	printf '\t%s\n\nwhat is this\n' '  10 f+0x0 (/bin/make)' >>text
	status=0
	counts event,comm,pid,cpu,image,symbol text >found 2>err || status=$?
	[ "$status" -eq 3 ]
	cat err
	grep -q "text: 1 lines were not recognised" err
	diff - found <<-'END'
		cpu-clock:pppH|swapper|0|2|[unknown]|idle|1|1
		cycles:u|my prog 2|17|-1|/usr/bin/my prog (deleted)|main|1|250000
		page-faults|make|-1|0|/bin/make|f|1|1
		sched:sched_switch|perl|99|-1|[unknown]|(no symbols)|1|1
	END
	export_it folded comm:swapper text >folded 2>err || [ $? -eq 3 ]
	cat folded
	grep -qxF 'swapper;[[unknown]];operator+0x+=(int, long);do_idle;idle 1' folded
	if command -v perf >/dev/null; then
		need_recording
		perf_record -g -F 1999 -e cpu-clock -o p.data "$WORKLOADS/ratio" 2>err
		perf script -i p.data >p.text 2>err
		counts comm,pid,tid p.data >wanted
		counts comm,pid,tid p.text | diff wanted -
		counts symbol p.data | grep work_ >wanted
		counts symbol p.text | grep work_ | diff wanted -
	fi
}

@test "import handles hostile names and very large counts" {
	printf 'p;a b;<script>"c" \xff\xfe;%s 3\np;x_[k] 2\r\n' "$(head -c 70000 /dev/zero | tr '\0' y)" >x.folded
	import x.folded
	export_it folded --session-dir "$session" | LC_ALL=C sort >found
	[ "$(grep -c y found)" -eq 1 ] && [ "$(wc -c <found)" -gt 70000 ]
	grep -qx 'p;x 2' found
	counts image,symbol --session-dir "$session" | grep -qxF '[kernel.kallsyms]|x|2|2'
	printf 'p;f 400000000000\np;g 1\n' >x.folded
	counts symbol x.folded >found 2>err
	cat found err
	grep -q "a sample represents 20001 of them" err
	grep -qx 'f|[0-9]*|400000000000' found
	grep -qx 'g|1|1' found
}

@test "imported counts can have any size, and script prints at most 1000 samples per line" {
	# The counts are multiples of the period, as stackcollapse-perf.pl writes them.
	printf 'p;f 7500000000\np;g 2500000000\n' >periods
	# The counts have no common divisor.
	printf 'p;f 1000000007\np;g 2\n' >weights
	printf 'p;f 3\np;f 2\np;f 1001\np;g 1.6\n' >counts
	counts symbol periods 2>err >found
	diff - found <<-'END'
		f|3|7500000000
		g|1|2500000000
	END
	counts symbol weights 2>err | grep -qx 'f|[0-9]*|1000000007'
	counts symbol counts >found
	diff - found <<-'END'
		f|1006|1006
		g|2|2
	END
	printed() {
		timeout -k 5 60 "$OPROFILE" script -F period,sym,ip --hide-call-graph "$@" 2>err |
			sed 's/^ *\([0-9]*\) .* /\1 /' | uniq -c | sed 's/^ *//'
	}
	printed periods >found
	diff - found <<-'END'
		3 2500000000 f
		1 2500000000 g
	END
	printed weights >found
	diff - found <<-'END'
		1 1000000007 f
		1 2 g
	END
	import --name kept counts
	for source in counts session:kept; do
		printed --session-dir "$session" "$source" >found
		diff - found <<-'END'
			5 1 f
			1 1001 f
			2 1 g
		END
	done
}

@test "every reader reports incomplete input with one warning and status 3" {
	printf 'p;f 1\nwhat is this\np;g 2\n' >lines
	printf 'p 7 1.5: cycles: \n\t401136 f+0x1 (/x)\n' >cut
	printf 'p 7 1.5: cycles: \n\t401136 f+0x1 (/x)\n\np;f\n\n' >both
	printf 'p 7 1.5: cycles: \n\t401136 f+0x1 (/x)\n\n' >whole
	# The format has no end mark, and many tools do not end the last line.
	printf 'p;f 1\np;g 2' >unended
	local -A why=([lines]="lines: 1 lines were not recognised and are left out"
		[cut]="cut: it ends within a sample: its end is missing"
		[both]="both: 1 lines were not recognised and are left out")
	for f in lines cut both whole unended; do
		status=0
		[ -z "${why[$f]}" ] || status=3
		for reader in "$OPROFILE_LINKS/opreport --symbols" "$OPROFILE_LINKS/opannotate --assembly" \
			"$OPROFILE script" "$OPROFILE export folded -o -" \
			"$OPROFILE import --session-dir $session"; do
			echo "$f: $reader"
			run -$status --separate-stderr timeout 60 $reader "$f"
			echo "$stderr"
			[ "$(grep -c "$f: " <<<"$stderr")" -eq $((status / 3)) ]
			[[ $stderr == *"${why[$f]}"* ]]
		done
	done
}

@test "import rejects bad profiles in one line each and creates no session" {
	local data=$SOURCE_ROOT/tests/data/foreign/go-cpu.pb.gz
	head -c 900 "$data" >cut.pb.gz
	echo 'just some text' >text
	: >empty
	printf 'a;b 99999999999999999999999\n' >huge
	head -c 270000000 /dev/zero | gzip -1 >bomb.gz
	for f in cut.pb.gz text empty huge no-such-file; do
		run -1 --separate-stderr import "$f"
		echo "$stderr"
		[ "${#stderr_lines[@]}" -eq 1 ]
		[[ $stderr == *"$f"* ]]
	done
	run -1 --separate-stderr import bomb.gz
	[ "${#stderr_lines[@]}" -eq 1 ]
	printf 'p;f 1\nwhat is this\n' >half
	run -3 --separate-stderr import half
	[[ $stderr == *"half: 1 lines were not recognised"* ]]
	run -1 --separate-stderr import --name x half comm:q
	[ ! -e "$session/samples/x" ]
	# Any other file is still not accepted as a source.
	run -1 --separate-stderr opreport --session-dir "$out/none" "$OPROFILE"
}

@test "import names the format of a text that it cannot read, in one line" {
	printf 'desc: --massif-out-file=x\ncmd: ./x\ntime_unit: i\n#-----------\nsnapshot=0\n' >massif.out
	printf 'heap profile: 3: 4096 [7: 9216] @ heap/1048576\n 1: 2 [3: 4] @ 0x1\n' >heap
	printf '{"a": 1}' >some.json
	gzip -k some.json
	local -A what=([massif.out]=massif [heap]="heap profile" [some.json]="JSON file"
		[some.json.gz]="JSON file")
	for f in "${!what[@]}"; do
		for reader in report "export folded" script import; do
			run -1 --separate-stderr timeout 60 "$OPROFILE" $reader "$f"
			echo "$stderr"
			[ "${#stderr_lines[@]}" -eq 1 ]
			[[ $stderr == *"$f: this is a "*"${what[$f]}"*"; "* ]]
		done
		run -1 --separate-stderr import - <"$f"
		[[ $stderr == *"standard input: this is a "*"${what[$f]}"* ]]
	done
	# The first line alone could be a stack.
	printf 'total;size 768\ndrwxr-xr-x 2 root\n-rw-r--r-- 1 x\nREADME\n' >list
	printf 'Notes 2026\n- talk with Bob 3\n- a 5\n' >notes
	for f in list notes; do
		run -1 --separate-stderr import "$f"
		[[ $stderr == *"$f is neither a perf.data file nor a profile of another tool" ]]
		run -1 --separate-stderr opreport "$f"
		[[ $stderr == *"$f is neither a perf.data file nor a profile of another tool"* ]]
	done
}

@test "perf script text with fewer fields has the counts of the full text" {
	command -v perf >/dev/null || skip "no perf: NOT TESTED"
	need_recording
	perf_record -g -F 999 -e cpu-clock -o p.data "$WORKLOADS/ratio" 2>err
	local fields extra keys
	perf script -i p.data -F comm,tid,time,event,period,ip,sym,dso >full 2>err
	while read -r fields extra; do
		perf script -i p.data -F "$fields" ${extra:+"$extra"} >text 2>err
		keys=host
		[[ $fields != *comm* ]] || keys+=,comm
		[[ $fields != *tid* ]] || keys+=,tid
		[[ $fields != *event* && $fields != +* ]] || keys+=,event
		[[ $fields != *dso* && $fields != +* ]] || keys+=,symbol,image
		echo "$fields $extra: $keys"
		counts "$keys" full >wanted
		[ -s wanted ]
		[[ $fields == *period* || $fields == +* ]] || {
			without_period wanted >samples
			mv samples wanted
		}
		counts "$keys" text >found
		[[ $fields == *period* || $fields == +* ]] || {
			without_period found >samples
			mv samples found
		}
		diff wanted found
	done <<-'FIELDS'
		comm,tid,time,event,ip,sym,dso
		comm,ip,sym,dso --show-task-events
		tid,ip,sym,dso
		ip,sym,dso -G
		time,period,ip,sym,dso
		event,period,ip,sym,dso --ns
		comm,time,ip,sym,dso --show-mmap-events
		period,ip,sym,dso
		comm,tid
		comm,event,period
		+misc
		+srcline
		+insn --show-task-events
	FIELDS
}

@test "import needs less than 64 MB for a large profile that is compressed or in a pipe" {
	command -v python3 >/dev/null || skip "python3 is not available: NOT TESTED"
	python3 - <<-'END'
		import json
		stacks = "".join("prog;" + ";".join(f"quite_a_long_name_{i}_{j}" for j in range(20)) + " 1\n"
		    for i in range(500))
		with open("big.folded", "w") as f:
		    for i in range(300):
		        f.write(stacks)
		# Columns of samples follow each other.
		n = 2000000
		with open("big.json", "w") as f:
		    f.write('{"nodes":[{"id":1,"callFrame":{"functionName":"f","url":""}}],"startTime":1,"samples":[1')
		    f.write(",1" * (n - 1) + '],"timeDeltas":[1' + ",1" * (n - 1) + '],"endTime":%d}' % (n + 1))
	END
	gzip -1 big.folded
	import_measured()
	{
		python3 - "$OPROFILE" import --session-dir "$out" "$@" <<-'END'
			import os, resource, subprocess, sys
			status = subprocess.run(sys.argv[1:], stdin=3).returncode
			used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
			print(sys.argv[-1], used, "MB")
			sys.exit(status or used >= 64)
		END
		"$OPROFILE_LINKS/opreport" --csv --by event --session-dir "$out" | tail -1 | cut -d, -f2 >counted
		rm -rf "${out:?}"/samples
	}
	mkdir -p "$out"
	import_measured big.folded.gz 3</dev/null
	[ "$(<counted)" -eq 150000 ]
	import_measured - 3< <(zcat big.folded.gz)
	[ "$(<counted)" -eq 150000 ]
	if ! "$OPROFILE" --version | grep -q '^  yajl  *no '; then
		import_measured big.json 3</dev/null
		[ "$(<counted)" -ge 1999999 ]
	fi
}

@test "import reads profiles of every compression, and rejects them if they are truncated" {
	printf 'p;f 1\np;g 2\n' >x.folded
	local packer
	for packer in gzip xz zstd bzip2; do
		"$packer" -c x.folded >x.packed
		counts symbol x.packed | diff - <(printf 'f|1|1\ng|2|2\n')
		"$OPROFILE" import --session-dir "$session" - <x.packed
		head -c -3 x.packed >cut.packed
		run -1 --separate-stderr import cut.packed
		echo "$stderr"
		[ "${#stderr_lines[@]}" -eq 1 ]
		[[ $stderr == *"cut.packed: its $packer data is damaged or truncated" ]]
	done
}

@test "import reads folded stacks of one frame each, and names raw records of perf" {
	printf 'main 10\nstd::f(int, char) 20\n' >x.folded
	counts symbol x.folded | diff - <(printf 'main|10|10\nstd::f(int, char)|20|20\n')
	# Other lists of names and numbers are not stacks.
	printf 'MemTotal: 10\nMemFree: 20\n' >meminfo
	printf 'some words 10\nother words 20\n' >words
	for f in meminfo words; do
		run -1 --separate-stderr import "$f"
		echo "$stderr"
		[ "${#stderr_lines[@]}" -eq 1 ]
	done
	printf '\n0x4b8@perf.data [0x58]: event: 1\n.\n. ... raw event: size 88 bytes\n.  0000:  01\n' >dump
	run -1 --separate-stderr "$OPROFILE" report dump
	[[ $stderr == *"dump: this is the raw records that perf prints with -D, which cannot be read; give the perf.data"* ]]
}
