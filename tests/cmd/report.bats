#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The output of opreport, byte for byte. The layouts were written by hand from the reference of
# OProfile's output (docs/decisions lists our differences), not copied from a run.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	export DIR="$BATS_FILE_TMPDIR"
	build_binary
	describe_small | make_session small
	describe_timer | make_session timer
	export SMALL="$DIR/small" TIMER="$DIR/timer"
}

make_session() {
	mkdir -p "$DIR/$1/samples/current/images"
	cp "$DIR/t" "$DIR/$1/samples/current/images/$BUILD_ID"
	write_segment "$DIR/$1/samples/current"
}

# Builds a binary with functions of 0x40 bytes at known addresses, and a gap.
build_binary() {
	three_functions 64 | sed 's/^\.section/.fill 64, 1, 0\n&/' >"$DIR/t.s"
	export BUILD_ID=0123456789abcdef0123456789abcdef01234567
	gcc -nostdlib -shared -Wl,--build-id=0x$BUILD_ID -o "$DIR/t" "$DIR/t.s"
	export TEXT=$(($(text_offset "$DIR/t")))
}

# Describes two events with 1029 and 404 samples of a program: in its binary, the kernel, a library,
# memory without a file, and the vdso.
describe_small() {
	cat <<-END
		info|2400|AMD64 generic|host1||1000
		event|CPU_CLK_UNHALTED|CPU Clocks not Halted|3|100000|0|0
		event|RETIRED_INSTRUCTIONS|Retired instructions|3|50000|0|0
		image|1|/home/u/t|$BUILD_ID
		image|2|[kernel.kallsyms]||0|0xffffffff81000000|0xffffffff82000000
		image|1|/nonexistent/lib/libc.so.6|aabbccddaabbccddaabbccddaabbccddaabbccdd
		image|6|//anon||4242|0x7f0000000000|0x7f0000010fff
		image|5|[vdso]
		thread|4242|4242|t|0|0|/user.slice
		thread|4242|4243|worker|0|0|/user.slice
		sample|0|0|0|2000|100000|0+$((TEXT + 4));0+$((TEXT + 70));T|940
		sample|1|0|1|2000|100000|0+$((TEXT + 63))|10
		sample|0|0|0|2000|100000|0+$((TEXT + 64))|40
		sample|0|0|0|2000|100000|0+$((TEXT + 128))|10
		sample|0|0|0|2000|100000|1+0x100|12
		sample|0|0|0|2000|100000|2+0x200|8
		sample|0|0|0|2000|100000|3+0x10|7
		sample|0|0|0|2000|100000|4+0x10|2
		sample|0|1|0|3000|50000|0+$TEXT|404
	END
}

# Describes timer samples: two programs, idle, a kernel thread in a module, an exiting task.
describe_timer() {
	cat <<-END
		info|2596.15|Some CPU|host2||1000000000
		event|TIMER|timer|7|0|997|0
		image|2|[kernel.kallsyms]
		image|3|ext4
		image|1|/home/u/t|$BUILD_ID
		image|1|/nonexistent/a,b
		thread|0|0|swapper|-|1
		thread|30|30|kworker/0:1|-|1
		thread|100|100|t|2|0|/a
		thread|101|101|my "t"|3|0|/b
		thread|-1|-1|gone|-|2
		sample|0|0|0|1000000000|1|0+0x10|500
		sample|1|0|0|1010000000|1|1+0x20|100
		sample|2|0|0|1020000000|1|2+$TEXT|300
		sample|2|0|1|1020000000|1|0+0x30|20
		sample|3|0|1|1030000000|1|3+0x30|50
		sample|3|0|1|1030000000|1|2+$((TEXT + 64))|10
		sample|4|0|1|1040000000|1|0+0x40|20
		totals|7|3|2|1500000000
	END
}

report() {
	"$OPROFILE" report "$@" 2>"$BATS_TEST_TMPDIR/stderr"
}

# Compares standard input with the report; prints the differences and fails if there are any.
expect() {
	diff -u - <(report "$@")
}

@test "the image summary shows two events, with dependents below the program" {
	sed 's/^>/\t/' <<-'END' | expect --session-dir "$SMALL"
		CPU: AMD64 generic, speed 2400 MHz (estimated)
		Counted CPU_CLK_UNHALTED events (CPU Clocks not Halted) with a unit mask of 0x00 (No unit mask) count 100000
		Counted RETIRED_INSTRUCTIONS events (Retired instructions) with a unit mask of 0x00 (No unit mask) count 50000
		CPU_CLK_UNHALT...|RETIRED_INSTRU...|
		  samples|      %|  samples|      %|
		------------------------------------
		     1029 100.000       404 100.000 t
		>CPU_CLK_UNHALT...|RETIRED_INSTRU...|
		>  samples|      %|  samples|      %|
		>------------------------------------
		>     1000 97.1817       404 100.000 t
		>       12  1.1662         0       0 no-vmlinux
		>        8  0.7775         0       0 libc.so.6
		>        7  0.6803         0       0 anon (tgid:4242 range:0x7f0000000000-0x7f0000010fff)
		>        2  0.1944         0       0 [vdso]
	END
}

@test "the list of symbols shows one event" {
	expect --session-dir "$SMALL" -l event:CPU_CLK_UNHALTED <<-'END'
		CPU: AMD64 generic, speed 2400 MHz (estimated)
		Counted CPU_CLK_UNHALTED events (CPU Clocks not Halted) with a unit mask of 0x00 (No unit mask) count 100000
		samples  %        image name               symbol name
		950      92.3226  t                        leaf
		40        3.8873  t                        mid
		12        1.1662  no-vmlinux               /no-vmlinux
		10        0.9718  t                        turn(char const*, int)
		8         0.7775  libc.so.6                /nonexistent/lib/libc.so.6
		7         0.6803  anon (tgid:4242 range:0x7f0000000000-0x7f0000010fff) anon (tgid:4242 range:0x7f0000000000-0x7f0000010fff)
		2         0.1944  [vdso]                   [vdso]
	END
}

@test "the list of symbols of two events has no image column for one image" {
	expect --session-dir "$SMALL" --symbols --no-header --threshold 3 <<-'END'
		950      92.3226  404      100.000  leaf
		40        3.8873  0              0  mid
	END
	report --session-dir "$SMALL" --symbols -t 3 | sed -n 4p |
		diff -u <(echo 'samples  %        samples  %        symbol name') -
}

@test "--threshold keeps a symbol if any of the events reaches it" {
	expect --session-dir "$SMALL" --symbols --no-header --threshold 95 <<-'END'
		950      92.3226  404      100.000  leaf
	END
	[ -z "$(report --session-dir "$SMALL" --symbols --no-header --threshold 95 event:CPU_CLK_UNHALTED)" ]
}

@test "--long-filenames and --reverse-sort change names and order" {
	expect --session-dir "$SMALL" -l -f -r -n event:CPU_CLK_UNHALTED tid:4243,4242 <<-'END'
		2         0.1944  [vdso]                   [vdso]
		7         0.6803  anon (tgid:4242 range:0x7f0000000000-0x7f0000010fff) anon (tgid:4242 range:0x7f0000000000-0x7f0000010fff)
		8         0.7775  /nonexistent/lib/libc.so.6 /nonexistent/lib/libc.so.6
		10        0.9718  /home/u/t                turn(char const*, int)
		12        1.1662  /no-vmlinux              /no-vmlinux
		40        3.8873  /home/u/t                mid
		950      92.3226  /home/u/t                leaf
	END
}

# at_rate SESSION NUMBER HZ: makes a segment of 100 samples at that rate.
at_rate() {
	"$WRITE_SESSION" "$1/samples/current/segment-00000$2" <<-END
		info|2400|AMD64 generic|host1||$(($2 * 1000))
		event|TIMER|timer|5|0|$3
		image|1|/nonexistent/bin/of$3
		thread|7|7|of$3|0|0
		sample|0|0|0|$(($2 * 1000 + 500))|$((1000000000 / $3))|0+0x100|100
	END
}

@test "segments of different rates: the header lists all rates that contribute" {
	mkdir -p "$BATS_TEST_TMPDIR/samples/current"
	at_rate "$BATS_TEST_TMPDIR" 1 500
	at_rate "$BATS_TEST_TMPDIR" 2 99
	at_rate "$BATS_TEST_TMPDIR" 3 250
	run report --session-dir "$BATS_TEST_TMPDIR"
	[[ "$output" == *"Sampling rate: 99 to 500 samples per second and CPU"* ]]
	[[ "$output" == *"TIMER was sampled at different rates: "* ]]
	run report --session-dir "$BATS_TEST_TMPDIR" image:/nonexistent/bin/of99
	[[ "$output" == *"Sampling rate: 99 samples per second and CPU"* ]]
	[[ "$output" != *"different rates"* ]]
	run report --session-dir "$BATS_TEST_TMPDIR" --json
	[[ "$output" == *'"frequency":500,"frequency_least":99,'* ]]
}

# exchange A B: exchanges both names atomically, which mv(1) cannot do.
exchange() {
	python3 -c 'import ctypes, sys
a, b = (w.encode() for w in sys.argv[1:])
sys.exit(ctypes.CDLL(None).renameat2(-100, a, -100, b, 2))' "$1" "$2"
}

@test "a report during a save shows the session from before or after it, complete" {
	local dir=$BATS_TEST_TMPDIR i name want
	mkdir -p "$dir/samples/current" "$dir/samples/next"
	at_rate "$dir" 1 500
	# Both segments have the same names, so only the counts would show a mistake.
	mv "$dir/samples/current/segment-000001" "$dir/samples/next/segment-000001"
	at_rate "$dir" 1 99
	for ((i = 2; i <= 1500; i++)); do
		printf -v name 'segment-%06d' $i
		ln "$dir/samples/current/segment-000001" "$dir/samples/current/$name"
		((i > 1200)) || ln "$dir/samples/next/segment-000001" "$dir/samples/next/$name"
	done
	mkfifo "$dir/files"
	for want in of500,120000 of99,150000; do
		# The command blocks when the pipe is full, with half of the files unread.
		"$OPROFILE" report --session-dir "$dir" --by image --csv --strict --verbose=sfile \
			>"$dir/out" 2>"$dir/files" &
		exec 7<"$dir/files"
		read -r -u 7 _
		exchange "$dir/samples/current" "$dir/samples/next"
		grep -v '/segment-0' <&7 >"$dir/err" || true
		exec 7<&-
		wait "$!"
		cat "$dir/err" "$dir/out"
		[ "$(sed 1d "$dir/out" | cut -d, -f1,2)" = "/nonexistent/bin/$want" ]
	done
}

@test "a timer recording has its header, kernel threads and unknown programs by image" {
	sed 's/^>/\t/' <<-'END' | expect --session-dir "$TIMER"
		CPU: CPU with timer interrupt, speed 2596.15 MHz (estimated)
		Profiling through timer interrupt
		Sampling rate: 997 samples per second and CPU
		          TIMER:0|
		  samples|      %|
		------------------
		      620 62.0000 no-vmlinux
		>          TIMER:0|
		>  samples|      %|
		>------------------
		>      520 83.8710 no-vmlinux
		>      100 16.1290 ext4
		      320 32.0000 t
		>          TIMER:0|
		>  samples|      %|
		>------------------
		>      300 93.7500 t
		>       20  6.2500 no-vmlinux
		       60  6.0000 a,b
		>          TIMER:0|
		>  samples|      %|
		>------------------
		>       50 83.3333 a,b
		>       10 16.6667 t
	END
}

@test "a timer recording has symbols with both name columns" {
	expect --session-dir "$TIMER" --symbols --no-header <<-'END'
		520      52.0000  no-vmlinux               no-vmlinux               /no-vmlinux
		300      30.0000  t                        t                        leaf
		100      10.0000  ext4                     no-vmlinux               /ext4
		50        5.0000  a,b                      a,b                      /nonexistent/a,b
		20        2.0000  no-vmlinux               t                        /no-vmlinux
		10        1.0000  t                        a,b                      mid
	END
}

@test "--csv has the keys as typed, quoting, and shares of the total" {
	expect --session-dir "$TIMER" --by dso,comm --csv < <(printf '%s\r\n' \
		'dso,comm,samples,period,percent' \
		'[kernel.kallsyms],swapper,500,500,50' \
		'/home/u/t,t,300,300,30' \
		'[ext4],kworker/0:1,100,100,10' \
		'"/nonexistent/a,b","my ""t""",50,50,5' \
		'[kernel.kallsyms],gone,20,20,2' \
		'[kernel.kallsyms],t,20,20,2' \
		'/home/u/t,"my ""t""",10,10,1')
}

@test "--csv has an event column first if there are several events" {
	expect --session-dir "$SMALL" --by tgid --csv < <(printf '%s\r\n' \
		'event,tgid,samples,period,percent' \
		'CPU_CLK_UNHALTED,4242,1029,102900000,100' \
		'RETIRED_INSTRUCTIONS,4242,404,20200000,100')
	expect --session-dir "$SMALL" --by tgid,event --csv < <(printf '%s\r\n' \
		'tgid,event,samples,period,percent' \
		'4242,CPU_CLK_UNHALTED,1029,102900000,100' \
		'4242,RETIRED_INSTRUCTIONS,404,20200000,100')
}

@test "--json has rows in the same order, and numbers as numbers" {
	report --session-dir "$TIMER" --by time:10ms,pid,cpu --json > "$BATS_TEST_TMPDIR/json"
	python3 - "$BATS_TEST_TMPDIR/json" <<-'END'
		import json, sys
		got = json.load(open(sys.argv[1]))
		assert got["schema"] == "oprofile-report/1", got["schema"]
		want = [(0, 0, 0, 500), (0.02, 100, 0, 300), (0.01, 30, 0, 100),
		        (0.03, 101, 1, 60), (0.02, 100, 1, 20), (0.04, -1, 1, 20)]
		rows = [(r["time:10ms"], r["pid"], r["cpu"], r["samples"]) for r in got["rows"]]
		assert rows == want, rows
		assert all(r["period"] == r["samples"] for r in got["rows"])
	END
}

@test "every key has a value" {
	run report --session-dir "$TIMER" --csv \
		--by event,comm,pid,tid,cpu,image,app,symbol,cgroup,session,host,time:1s tid:101
	[ "$status" -eq 0 ]
	[ "${lines[1]%$'\r'}" = 'TIMER,"my ""t""",101,101,1,"/nonexistent/a,b","/nonexistent/a,b","/nonexistent/a,b",/b,current,host2,0,50,50,83.33333333' ]
	[ "${#lines[@]}" -eq 3 ]
	run report --session-dir "$TIMER" --csv --by image,address comm:t
	[ "${lines[1]%$'\r'}" = "/home/u/t,$(printf 0x%x "$TEXT"),300,300,93.75" ]
}

@test "arguments without a tag match the program or the image, and kernel rows move to the top" {
	sed 's/^>/\t/' <<-'END' | expect --session-dir "$TIMER" -n no-vmlinux
		      640 100.000 no-vmlinux
		>      540 84.3750 no-vmlinux
		>      100 15.6250 ext4
	END
	sed 's/^>/\t/' <<-'END' | expect --session-dir "$TIMER" -n /ext4 '/home/*/t'
		      320 74.4186 t
		>      300 93.7500 t
		>       20  6.2500 no-vmlinux
		      100 23.2558 ext4
		       10  2.3256 a,b
		>       10 100.000 t
	END
}

@test "image: matches the program only" {
	report --session-dir "$TIMER" -n image:t | diff -u - <(printf '%s\n' \
		'      320 100.000 t' $'\t      300 93.7500 t' $'\t       20  6.2500 no-vmlinux')
	run report --session-dir "$TIMER" -n 'image:*a\,b'
	[[ "${lines[0]}" == "       60 100.000 a,b" ]]
}

@test "an argument can be a directory with a session" {
	[ "$(report "$TIMER" | wc -l)" -eq 24 ]
	report "$TIMER" | diff -u - <(report --session-dir "$TIMER")
	report "$TIMER/samples/current" | diff -u - <(report --session-dir "$TIMER")
	report "session:$TIMER" | diff -u - <(report --session-dir "$TIMER")
}

@test "several sessions are summed" {
	mkdir -p "$DIR/both/samples"
	ln -sfn "$TIMER/samples/current" "$DIR/both/samples/a"
	ln -sfn "$TIMER/samples/current" "$DIR/both/samples/b"
	run report --session-dir "$DIR/both" session:a,b --by session --csv
	[ "${lines[1]%$'\r'}" = "a,1000,1000,50" ]
	[ "${lines[2]%$'\r'}" = "b,1000,1000,50" ]
}

@test "messages explain a missing session, too strict selections and wrong arguments" {
	run "$OPROFILE" report --session-dir "$DIR"
	[ "$status" -eq 1 ]
	[[ "$output" == *"No sample found: Please specify a session containing"* ]]
	run "$OPROFILE" report --session-dir "$TIMER" image:/nowhere
	[ "$status" -eq 1 ]
	[[ "$output" == *"error: no sample files found: profile specification too strict ?"* ]]
	for command in dump "archive -l" "archive --output=$DIR/none.oparchive"; do
		run "$OPROFILE" $command --session-dir "$TIMER" /nowhere
		[ "$status" -eq 1 ]
		[[ "$output" == *"error: no sample files found: profile specification too strict ?"* ]]
	done
	[ ! -e "$DIR/none.oparchive" ]
	run "$OPROFILE" report imgae:x
	[ "$status" -eq 1 ]
	[[ "$output" == *"did you mean 'image:'"* ]]
	run "$OPROFILE" report -t 101
	[ "$status" -eq 1 ]
	[[ "$output" == *"illegal threshold value: 101 allowed range: [0-100]"* ]]
	for word in binary:x sample-file:x time:1; do
		run "$OPROFILE" report "$word"
		[ "$status" -eq 1 ]
		[ "${#lines[@]}" -eq 1 ]
		[[ "$output" == *"${word%%:*}"* ]]
	done
}

@test "--output-file writes the report, or fails in one line with the file's name" {
	report --session-dir "$TIMER" -o "$DIR/out"
	report --session-dir "$TIMER" | diff -u - "$DIR/out"
	run "$OPROFILE" report --session-dir "$TIMER" -o /nowhere/out
	[ "$status" -eq 1 ]
	[[ "$output" == *'Couldn'\''t open "/nowhere/out" for writing.'* ]]
	run bash -c '"$OPROFILE" report --session-dir "$SMALL" > /dev/full'
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
}

@test "lost samples give a warning, and --strict makes it a failure" {
	run "$OPROFILE" report --session-dir "$TIMER"
	[ "$status" -eq 0 ]
	[[ "$output" == *"Lost samples detected"*"7 of 1007"* ]]
	[[ "$output" == *"throttled 3 times"* ]]
	run "$OPROFILE" report --session-dir "$TIMER" --strict
	[ "$status" -eq 1 ]
	run "$OPROFILE" report --session-dir "$SMALL" --strict
	[ "$status" -eq 0 ]
}

@test "a truncated segment is shown up to the damage, with status 3 and a line of counts" {
	mkdir -p "$DIR/cut/samples/current"
	from="$TIMER/samples/current/segment-000001"
	head -c $(( $(stat -c %s "$from") - 3 )) "$from" > "$DIR/cut/samples/current/segment-000001"
	run "$OPROFILE" report --session-dir "$DIR/cut"
	[ "$status" -eq 3 ] || [ "$status" -eq 1 ]
	[[ "$output" == *"the input is incomplete: 1 of 1 segments not finished"* ]]
}

# cut_out FILE N: removes the N-th block of samples with its header (docs/format.md, section 2).
cut_out()
{
	python3 - "$1" "$2" <<-'END'
		import struct, sys
		data = open(sys.argv[1], "rb").read()
		at, left = 32, int(sys.argv[2])
		while at < len(data):
		    length = 24 + struct.unpack_from("<I", data, at + 8)[0]
		    if data[at + 4] == 3:
		        left -= 1
		        if left < 0:
		            open(sys.argv[1], "wb").write(data[:at] + data[at + length:])
		            break
		    at += length
		else:
		    sys.exit("no such block")
	END
}

@test "a block of samples that was cut out is reported with the file's name and status 3" {
	mkdir -p "$DIR/hole/samples/current"
	segment=$DIR/hole/samples/current/segment-000001
	"$WRITE_SESSION" "$segment" <<-END
		info|2400|CPU|host1||1000
		event|TIMER|timer|7|0|997|0
		image|1|/nonexistent/a
		thread|1|1|a|0|0|
		sample|0|0|0|2000|1|0+16|200000
	END
	run -0 "$OPROFILE" report --session-dir "$DIR/hole"
	cut_out "$segment" 1
	said="'$segment': 16384 of 200000 samples are missing: blocks were removed from the file"
	for command in report "report --symbols --csv" script "export folded" "annotate --assembly" dump info; do
		# shellcheck disable=SC2086
		run -3 --separate-stderr "$OPROFILE" $command --session-dir "$DIR/hole"
		[ "$(grep -cF "$said" <<<"$stderr")" -eq 1 ]
	done
	run -3 "$OPROFILE" info --json --session-dir "$DIR/hole"
	grep -q '"missing_samples": *16384' <<<"$output"
	run -3 --separate-stderr "$OPROFILE" report --quality --session-dir "$DIR/hole"
	grep -q '^ *damaged  *0  *blocks; .* 16384 missing' <<<"$output"
	run -3 --separate-stderr "$OPROFILE" archive --session-dir "$DIR/hole" -o "$DIR/hole/selected" comm:a
	[ "$(grep -cF "$said" <<<"$stderr")" -eq 1 ]
}

@test "--quality prints the shares of unreliable samples" {
	run report --session-dir "$TIMER" --quality
	[ "$status" -eq 0 ]
	[[ "$output" == *"Quality of this profile:"* ]]
	[[ "$output" =~ idle\ +500\ 50.0000\ % ]]
	[[ "$output" =~ exiting\ +20\ \ 2.0000\ % ]]
	[[ "$output" =~ unresolved\ +690\ 69.0000\ % ]]
	[[ "$output" =~ 50\ \ 5.0000\ %\ \ /nonexistent/a,b\ \(build-id\ unknown\):\ not\ found ]]
	[[ "$output" =~ recorder\ +1.500 ]]
	run report --session-dir "$SMALL" --quality event:CPU_CLK_UNHALTED --json
	python3 -c 'import json, sys; q = json.load(sys.stdin)["quality"]
assert q["samples"] == 1029 and q["unresolved"] == 29 and q["truncated"] == 940, q
assert q["unresolved_images"][0]["samples"] == 12, q' <<< "$output"
}

@test "dump prints one line per sample" {
	run "$OPROFILE" dump "$SMALL" tid:4243
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 10 ]
	[ "${lines[0]}" = "4243 1 0.0000020 CPU_CLK_UNHALTED 100000 /home/u/t+$(printf 0x%x $((TEXT + 63)))" ]
	run bash -c '"$OPROFILE" dump "$SMALL" tid:4242 | head -1'
	[ "$output" = "4242 0 0.0000020 CPU_CLK_UNHALTED 100000 /home/u/t+$(printf 0x%x $((TEXT + 4)));/home/u/t+$(printf 0x%x $((TEXT + 70)));[truncated]" ]
}
