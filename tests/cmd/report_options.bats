#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Every option of opreport's layouts. The expected output was written by hand from the reference
# of OProfile's output: widths, padding, percentages and messages, to the byte.

load helpers

setup_file() {
	export DIR="$BATS_FILE_TMPDIR"
	build_binaries
	describe_t | make_session t
	describe_wide | make_session wide
	describe_threads | make_session threads
	describe_masks | make_session masks
	# The flags of recordings with --separate-thread and with --separate-cpu.
	describe_threads | sed 's/^info.*/&|8/' | make_session by_thread
	describe_threads | sed 's/^info.*/&|16/' | make_session by_cpu
	describe_apps | make_session apps
	describe_away | make_session away
	describe_other_names | make_session other_names
}

make_session() {
	mkdir -p "$DIR/$1/samples/current/images"
	cp "$DIR/bin/t" "$DIR/$1/samples/current/images/$ID"
	cp "$DIR/bin/wide.bin" "$DIR/$1/samples/current/images/$WIDE_ID"
	write_segment "$DIR/$1/samples/current"
}

# link NAME BUILD-ID TEXT-ADDRESS: builds a program with functions of 0x20 bytes: leaf, mid,
# turn(char const*, int).
link() {
	gcc -nostdlib -static -no-pie -Wl,-e,leaf,--build-id=0x"$2",-Ttext="$3" -o "$DIR/bin/$1" \
		"$DIR/t.s"
}

build_binaries() {
	mkdir "$DIR/bin"
	three_functions 32 >"$DIR/t.s"
	export ID=0123456789abcdef0123456789abcdef01234567
	export WIDE_ID=1123456789abcdef0123456789abcdef01234567
	link t "$ID" 0x1129
	link wide.bin "$WIDE_ID" 0x140001129
	export T=$(($(text_offset "$DIR/bin/t"))) WIDE=$(($(text_offset "$DIR/bin/wide.bin")))
}

# Describes the example of the reference: 1029 samples of t, in its binary and elsewhere.
describe_t() {
	cat <<-END
		info|2400|AMD64 generic|host1||1000
		event|CPU_CLK_UNHALTED|CPU Clocks not Halted|3|100000|0|0
		image|1|/home/u/t|$ID
		image|2|[kernel.kallsyms]||0|0x10000000|0x20000000
		image|1|/nonexistent/lib/libc.so.6|aabbccddaabbccddaabbccddaabbccddaabbccdd
		image|6|//anon||4242|0x7f0000000000|0x7f0000010fff
		thread|4242|4242|t|0|0|
		sample|0|0|0|2000|1|0+$((T + 0x10))|700
		sample|0|0|0|2000|1|0+$((T + 0x14))|250
		sample|0|0|0|2000|1|0+$((T + 0x24))|40
		sample|0|0|0|2000|1|0+$((T + 0x40))|12
		sample|0|0|0|2000|1|1+0x100|12
		sample|0|0|0|2000|1|2+0x200|8
		sample|0|0|0|2000|1|3+0x10|7
	END
}

describe_wide() {
	cat <<-END
		info|2400|AMD64 generic|host1||1000
		event|CPU_CLK_UNHALTED|CPU Clocks not Halted|3|100000|0|0
		image|1|/home/u/wide.bin|$WIDE_ID
		thread|1|1|w|0|0|
		sample|0|0|0|2000|1|0+$WIDE|3
		sample|0|0|0|2000|1|0+$((WIDE + 0x21))|1
	END
}

# Describes a program whose functions have several names at one address, as those of the C library
# have.
describe_other_names() {
	local id=4123456789abcdef0123456789abcdef01234567
	{
		three_functions 32
		printf '.globl %s\n.set %s, %s\n' __leaf __leaf leaf mid_r mid_r mid
		printf '.weak %s\n.set %s, %s\n' _Z5othern _Z5othern _Z4turnPKci
	} >"$DIR/names.s"
	mkdir -p "$DIR/other_names/samples/current/images"
	gcc -nostdlib -static -no-pie -Wl,-e,leaf,--build-id=0x$id,-Ttext=0x1129 \
		-o "$DIR/other_names/samples/current/images/$id" "$DIR/names.s"
	cat <<-END
		info|2400|AMD64 generic|host1||1000
		event|CPU_CLK_UNHALTED|CPU Clocks not Halted|3|100000|0|0
		image|1|/home/u/names|$id
		thread|1|1|names|0|0|
		sample|0|0|0|2000|1|0+$((T + 0x10))|30
		sample|0|0|0|2000|1|0+$((T + 0x24))|20
		sample|0|0|0|2000|1|0+$((T + 0x40))|10
	END
}

# Describes two processes with two threads each on CPUs 10, 9 and 0.
describe_threads() {
	cat <<-END
		info|0|Some CPU|host1||1000
		event|CLK|Clocks|3|6000|0|0
		image|1|/home/u/t|$ID
		image|2|[kernel.kallsyms]
		thread|1000|1000|t|0|0|
		thread|1000|1001|t|0|0|
		thread|999|999|t|0|0|
		sample|0|0|10|2000|1|0+$T|60
		sample|1|0|9|2000|1|0+$((T + 0x20))|20
		sample|1|0|0|2000|1|1+0x10|20
		sample|2|0|0|2000|1|0+$T|100
	END
}

# Describes one event with two unit masks, and two counts that sort as numbers.
describe_masks() {
	cat <<-END
		info|0|Some CPU|host1||1000
		event|MISS|Misses|3|100000|0|1
		event|MISS|Misses|3|50000|0|1
		event|MISS|Misses|3|50000|0|65|LONG_MISS: of the last-level cache
		image|1|/home/u/t|$ID
		thread|1|1|t|0|0|
		sample|0|0|0|2000|1|0+$T|1
		sample|0|1|0|2000|1|0+$T|3
		sample|0|1|0|2000|1|0+$((T + 0x20))|1
		sample|0|2|0|2000|1|0+$((T + 0x20))|4
	END
}

# Describes two programs that share a library and the kernel.
describe_apps() {
	cat <<-END
		info|0|Some CPU|host1||1000
		event|CLK|Clocks|3|6000|0|0
		image|1|/usr/bin/alpha
		image|1|/usr/bin/beta
		image|1|/home/u/t|$ID
		image|2|[kernel.kallsyms]
		thread|1|1|alpha|0|0|
		thread|2|2|beta|1|0|
		sample|0|0|0|2000|1|0+0x10|30
		sample|0|0|0|2000|1|2+$T|20
		sample|0|0|0|2000|1|3+0x10|10
		sample|1|0|0|2000|1|1+0x10|20
		sample|1|0|0|2000|1|2+$T|15
		sample|1|0|0|2000|1|2+$((T + 0x20))|5
	END
}

# Describes binaries that no longer exist at the recorded path, and of which no copy was kept.
describe_away() {
	cat <<-END
		info|0|Some CPU|host1||1000
		event|CLK|Clocks|3|6000|0|0
		image|1|/gone/bin/away|2123456789abcdef0123456789abcdef01234567
		image|2|[kernel.kallsyms]||0|0xffffffff81000000|0xffffffff82000000
		thread|1|1|away|0|0|
		sample|0|0|0|2000|1|0+$((T + 0x20))|6
		sample|0|0|0|2000|1|1+0x20|2
	END
}

report() {
	"$OPROFILE" report --session-dir "$DIR/$session" "$@" 2>"$BATS_TEST_TMPDIR/stderr"
}

# Compares standard input, in which > is a tab, with the report; prints the differences and fails
# if there are any.
expect() {
	diff -u <(sed 's/^>/\t/') <(report "$@")
}

# refused MESSAGE OPTION...: checks for status 1 and a line with the message.
refused() {
	local message=$1
	shift
	run "$OPROFILE" report --session-dir "$DIR/$session" "$@"
	[ "$status" -eq 1 ]
	[[ "$output" == *"$message"* ]] || { echo "$* says: $output"; return 1; }
}

setup() {
	session=t
}

@test "--details prints addresses below each function, with shares of the function" {
	expect -d <<-'END'
		CPU: AMD64 generic, speed 2400 MHz (estimated)
		Counted CPU_CLK_UNHALTED events (CPU Clocks not Halted) with a unit mask of 0x00 (No unit mask) count 100000
		vma      samples  %        image name               symbol name
		00001129 950      92.3226  t                        leaf
		  00001139 700      73.6842
		  0000113d 250      26.3158
		00001149 40        3.8873  t                        mid
		  0000114d 40       100.000
		00000000 12        1.1662  no-vmlinux               /no-vmlinux
		  10000100 12       100.000
		00001169 12        1.1662  t                        turn(char const*, int)
		  00001169 12       100.000
		00000000 8         0.7775  libc.so.6                /nonexistent/lib/libc.so.6
		  00000200 8        100.000
		00000000 7         0.6803  anon (tgid:4242 range:0x7f0000000000-0x7f0000010fff) anon (tgid:4242 range:0x7f0000000000-0x7f0000010fff)
		  7f0000000010 7        100.000
	END
}

@test "--details --global-percent prints shares of the total" {
	# Rows below the threshold do not make the image column appear.
	expect -d -% -n -t 3 <<-'END'
		00001129 950      92.3226  leaf
		  00001139 700      68.0272
		  0000113d 250      24.2954
		00001149 40        3.8873  mid
		  0000114d 40        3.8873
	END
}

@test "--details --accumulated prints running sums within each function" {
	expect --details --accumulated --no-header lib-image:/home/u/t <<-'END'
		00001129 950      950           94.8104  94.8104    leaf
		  00001139 700      700           73.6842  73.6842
		  0000113d 250      950           26.3158  100.000
		00001149 40       990            3.9920  98.8024    mid
		  0000114d 40       40            100.000  100.000
		00001169 12       1002           1.1976  100.000    turn(char const*, int)
		  00001169 12       12            100.000  100.000
	END
}

@test "--accumulated adds columns with titles" {
	expect -l -a <<-'END'
		CPU: AMD64 generic, speed 2400 MHz (estimated)
		Counted CPU_CLK_UNHALTED events (CPU Clocks not Halted) with a unit mask of 0x00 (No unit mask) count 100000
		samples  cum. samples  %        cum. %     image name               symbol name
		950      950           92.3226  92.3226    t                        leaf
		40       990            3.8873  96.2099    t                        mid
		12       1002           1.1662  97.3761    no-vmlinux               /no-vmlinux
		12       1014           1.1662  98.5423    t                        turn(char const*, int)
		8        1022           0.7775  99.3197    libc.so.6                /nonexistent/lib/libc.so.6
		7        1029           0.6803  100.000    anon (tgid:4242 range:0x7f0000000000-0x7f0000010fff) anon (tgid:4242 range:0x7f0000000000-0x7f0000010fff)
	END
}

@test "--accumulated adds up in line order, for each of two events" {
	session=masks
	expect -lan -r -m unitmask <<-'END'
		3        3             37.5000  37.5000    1        1             100.000  100.000    leaf
		5        8             62.5000  100.000    0        1                   0  100.000    mid
	END
	report -l -a -m unitmask | sed -n 4p | diff -u <(printf '%s%s\n' \
		'samples  cum. samples  %        cum. %     ' \
		'samples  cum. samples  %        cum. %     symbol name') -
}

@test "--show-address pads to 8 digits, and to 16 where a function needs them" {
	expect -l -w -t 1 -n <<-'END'
		00001129 950      92.3226  t                        leaf
		00001149 40        3.8873  t                        mid
		00000000 12        1.1662  no-vmlinux               /no-vmlinux
		00001169 12        1.1662  t                        turn(char const*, int)
	END
	session=wide
	expect --symbols --show-address <<-'END'
		CPU: AMD64 generic, speed 2400 MHz (estimated)
		Counted CPU_CLK_UNHALTED events (CPU Clocks not Halted) with a unit mask of 0x00 (No unit mask) count 100000
		vma              samples  %        symbol name
		0000000140001129 3        75.0000  leaf
		0000000140001149 1        25.0000  mid
	END
	expect -dn <<-'END'
		0000000140001129 3        75.0000  leaf
		  0000000140001129 3        100.000
		0000000140001149 1        25.0000  mid
		  000000014000114a 1        100.000
	END
}

@test "--exclude-dependent keeps only samples of the program itself" {
	expect -x -n <<-'END'
		     1002 100.000 t
	END
	expect -l --exclude-dependent <<-'END'
		CPU: AMD64 generic, speed 2400 MHz (estimated)
		Counted CPU_CLK_UNHALTED events (CPU Clocks not Halted) with a unit mask of 0x00 (No unit mask) count 100000
		samples  %        symbol name
		950      94.8104  leaf
		40        3.9920  mid
		12        1.1976  turn(char const*, int)
	END
	session=apps
	expect -x -n -f <<-'END'
		       30 60.0000 /usr/bin/alpha
		       20 40.0000 /usr/bin/beta
	END
}

@test "--exclude-symbols and --include-symbols match whole names and change the totals" {
	expect -ln -e leaf,/no-vmlinux -e '/nonexistent/lib/libc.so.6' lib-image-exclude:'anon*' <<-'END'
		40       76.9231  mid
		12       23.0769  turn(char const*, int)
	END
	expect -ln --include-symbols=mid,_Z4turnPKci,lea <<-'END'
		40       76.9231  mid
		12       23.0769  turn(char const*, int)
	END
	expect -ln -i leaf,mid --exclude-symbols mid <<-'END'
		950      100.000  leaf
	END
	expect -ln -i 'turn(char const*\, int)' <<-'END'
		12       100.000  turn(char const*, int)
	END
	expect --by symbol -n -i mid <<-'END'
		40       100.000  [.] mid
	END
	refused "error: no sample files found: profile specification too strict ? No function matches 'nothing'" -l -i nothing
	refused "error: no sample files found: profile specification too strict ? No function matches 'leav' (Did you mean leaf?)" -l -i leav,x
}

@test "--separate: what is nested below programs" {
	session=apps
	expect -n --separate=kernel <<-'END'
		       60 60.0000 alpha
		>       30 50.0000 alpha
		>       20 33.3333 t
		>       10 16.6667 no-vmlinux
		       40 40.0000 beta
		>       20 50.0000 t
		>       20 50.0000 beta
	END
	expect -n --separate=all,library < <(report -n)
	expect -n --separate=library <<-'END'
		       50 50.0000 alpha
		>       30 60.0000 alpha
		>       20 40.0000 t
		       40 40.0000 beta
		>       20 50.0000 t
		>       20 50.0000 beta
		       10 10.0000 no-vmlinux
	END
	expect -n --separate=none <<-'END'
		       40 40.0000 t
		       30 30.0000 alpha
		       20 20.0000 beta
		       10 10.0000 no-vmlinux
	END
	expect -n --separate=none image:t <<-'END'
		       40 100.000 t
	END
	expect -n --separate=none --by app <<-'END'
		40       40.0000  t
		30       30.0000  alpha
		20       20.0000  beta
		10       10.0000  [kernel.kallsyms]
	END
	refused "--separate: unknown value 'libs': expected none, lib, library, kernel, thread, cpu or all" \
		--separate=none,libs
}

@test "a session of opcontrol is printed as it separates" {
	local flags want
	while IFS='|' read -r flags want; do
		mkdir -p "$BATS_TEST_TMPDIR/$flags/samples/current"
		describe_apps | sed "s/^info.*/&|$flags/" |
			write_segment "$BATS_TEST_TMPDIR/$flags/samples/current"
		diff -u <(opreport --session-dir "$DIR/apps" -n --separate="$want" 2>/dev/null) \
			<(opreport --session-dir "$BATS_TEST_TMPDIR/$flags" -n 2>/dev/null)
	done <<-'END'
		6144|none
		4096|library
		0|all
	END
	# Tables for programs keep what was recorded.
	diff <(opreport --session-dir "$DIR/apps" --csv 2>/dev/null) \
		<(opreport --session-dir "$BATS_TEST_TMPDIR/6144" --csv 2>/dev/null)
	# Threads and CPUs: more axes than a report can print.
	mkdir -p "$BATS_TEST_TMPDIR/all/samples/current"
	describe_threads | sed 's/^info.*/&|24/' |
		write_segment "$BATS_TEST_TMPDIR/all/samples/current"
	run --separate-stderr opreport --session-dir "$BATS_TEST_TMPDIR/all" -n
	[ "$status" -eq 0 ]
	diff <(opreport --session-dir "$DIR/threads" -n 2>/dev/null) <(echo "$output")
	[[ "$stderr" == *"threads and CPUs are summed up: --separate-thread or --separate-cpu shows them"* ]]
	diff <(opreport --session-dir "$DIR/threads" -n --separate-cpu 2>/dev/null) \
		<(opreport --session-dir "$BATS_TEST_TMPDIR/all" -n --separate=cpu 2>/dev/null)
}

# Describes a program of which only `leaf` has a name; the other functions have unwind entries.
describe_half_named() {
	local id=5123456789abcdef0123456789abcdef01234567 at
	cat >"$DIR/half.s" <<-'END'
		.text
		.globl leaf
		.type leaf, %function
		leaf: .cfi_startproc
		.fill 32, 1, 0x90
		.cfi_endproc
		.size leaf, 32
		one: .cfi_startproc
		.fill 32, 1, 0x90
		.cfi_endproc
		two: .cfi_startproc
		.fill 32, 1, 0x90
		.cfi_endproc
		.section .note.GNU-stack,"",%progbits
	END
	mkdir -p "$DIR/half/samples/current/images"
	gcc -nostdlib -shared -Wl,--build-id=0x$id -o "$DIR/half.so" "$DIR/half.s"
	at=$(($(text_offset "$DIR/half.so")))
	strip -o "$DIR/half/samples/current/images/$id" "$DIR/half.so"
	cat <<-END
		info|2400|AMD64 generic|host1||1000
		event|CPU_CLK_UNHALTED|CPU Clocks not Halted|3|100000|0|0
		image|1|/home/u/half.so|$id
		thread|1|1|half|0|0|
		sample|0|0|0|2000|1|0+$((at + 4))|40
		sample|0|0|0|2000|1|0+$((at + 36))|30
		sample|0|0|0|2000|1|0+$((at + 68))|20
		sample|0|0|0|2000|1|0+$((at + 72))|10
	END
}

@test "functions without names are one line per binary, or with --unnamed one each" {
	describe_half_named | make_session half
	session=half
	expect -ln <<-'END'
		60       60.0000  /home/u/half.so
		40       40.0000  leaf
	END
	report -ln --unnamed | sed 's/0x[0-9a-f]*$/0xADDRESS/' | diff -u - <(cat <<-'END'
		40       40.0000  leaf
		30       30.0000  0xADDRESS
		30       30.0000  0xADDRESS
	END
	)
	# Other outputs have each function.
	[ "$(report --by symbol --csv | grep -c '^0x')" -eq 2 ]
}

@test "--accept-changed: a binary that was rebuilt since" {
	local there="$BATS_TEST_TMPDIR/there" id=6123456789abcdef0123456789abcdef01234567
	mkdir -p "$there/home/u" "$BATS_TEST_TMPDIR/samples/current"
	cp "$DIR/bin/t" "$there/home/u/t"
	describe_t | sed "s/$ID/$id/" | write_segment "$BATS_TEST_TMPDIR/samples/current"
	set -- --session-dir "$BATS_TEST_TMPDIR" --root "$there" -ln image:t lib-image:t
	run --separate-stderr opreport "$@"
	[ "$output" = "1002     100.000  /home/u/t" ]
	[[ "$stderr" == *"the build-id of the binary file does not match that of the sample file for /home/u/t"* ]]
	[[ "$stderr" == *"its symbols are not used; to use them, give --accept-changed"* ]]
	run --separate-stderr opreport "$@" --accept-changed
	diff -u - <(echo "$output") <<-'END'
		950      94.8104  leaf
		40        3.9920  mid
		12        1.1976  turn(char const*, int)
	END
	[[ "$stderr" == *"does not match that of the sample file for /home/u/t"* ]]
	[[ "$stderr" == *"its symbols are used because of --accept-changed"* ]]
}

@test "--sort: samples break ties" {
	mkdir -p "$BATS_TEST_TMPDIR/ties"
	DIR=$BATS_TEST_TMPDIR/ties
	mkdir -p "$DIR/bin"
	cp "${BATS_FILE_TMPDIR}"/bin/* "$DIR/bin"
	# The later a function is in the binary, the more samples it has.
	describe_t | sed 's/|700$/|1/; s/|250$/|2/; s/|40$/|5/' | make_session ties
	session=ties
	expect -ln -s image image:t lib-image:t <<-'END'
		12       60.0000  turn(char const*, int)
		5        25.0000  mid
		3        15.0000  leaf
	END
	expect -ln -s image,vma image:t lib-image:t <<-'END'
		3        15.0000  leaf
		5        25.0000  mid
		12       60.0000  turn(char const*, int)
	END
}

@test "--sort=debug compares what is shown, and lines as numbers" {
	local id=7123456789abcdef0123456789abcdef01234567 names
	cd "$BATS_TEST_TMPDIR"
	mkdir -p z a sources/samples/current/images
	{
		seq -f '/* %g */' 8
		echo 'void nine(void) {}'
		echo 'void ten(void) {}'
	} >z/a.c
	echo 'void other(void) {}' >a/b.c
	gcc -g -O0 -fPIC -nostdlib -shared -Wl,--build-id=0x$id -o sources/samples/current/images/$id \
		z/a.c a/b.c
	{
		printf '%s\n' 'info|2400|AMD64 generic|host1||1000' \
			'event|CLK|Clocks|3|100000|0|0' "image|1|/home/u/s.so|$id" 'thread|1|1|s|0|0|'
		nm sources/samples/current/images/$id | awk '$2 == "T" { print "sample|0|0|0|2000|1|0+0x" $1 "|1" }'
	} | write_segment sources/samples/current
	names=$(opreport --session-dir sources -lgn -s debug 2>/dev/null | awk '{ print $3, $NF }')
	diff -u - <(echo "$names") <<-'END'
		a.c:9 nine
		a.c:10 ten
		b.c:1 other
	END
	names=$(opreport --session-dir sources -lgfn -s debug 2>/dev/null | awk '{ print $NF }')
	diff -u - <(echo "$names") <<-'END'
		other
		nine
		ten
	END
}

@test "a hint for options that mean something else in other commands" {
	local hint words
	cd "$DIR"
	: >perf.data
	while IFS='|' read -r words hint; do
		run --separate-stderr opreport --session-dir "$DIR/t" $words
		[ "$(grep -c hint: <<<"$stderr")" -eq 1 ]
		[[ "$stderr" == *"opreport: hint: $hint"* ]]
	done <<-'END'
		-d t|-d prints details; to choose a session directory: opreport --session-dir=t
		-nd t|-d prints details; to choose a session directory: opreport --session-dir=t
		-i t|-i selects functions; to read a recording: opreport --input=t
		-i perf.data|-i selects functions; to read a recording: opreport --input=perf.data
		-ln 5|-n omits the header; to print only the first lines: opreport -n | head -n 5
		-g|-g adds source lines: opreport -lg; call graphs are printed by opreport -c
	END
	for words in "-d /home/u/t" "-li mid" "-l -n" "-lg" "-l -- -n 5"; do
		run --separate-stderr opreport --session-dir "$DIR/t" $words
		[[ "$stderr" != *hint:* ]]
	done
}

@test "functions are selected by any of their names" {
	session=other_names
	expect -ln <<-'END'
		30       50.0000  leaf
		20       33.3333  mid_r
		10       16.6667  turn(char const*, int)
	END
	expect -ln -i __leaf,mid <<-'END'
		30       60.0000  leaf
		20       40.0000  mid_r
	END
	expect -ln -i 'other(__int128),mid' -e __leaf,mid_r <<-'END'
		10       100.000  turn(char const*, int)
	END
	expect -ln 'symbol:__l*,_Z5*' symbol-exclude:_Z4turn\* <<-'END'
		30       100.000  leaf
	END
}

@test "symbol: matches patterns against mangled and demangled names" {
	expect -ln 'symbol:mid,turn(*' <<-'END'
		40       76.9231  mid
		12       23.0769  turn(char const*, int)
	END
	expect -ln 'symbol:_Z4*,l??f' symbol-exclude:leaf <<-'END'
		12       100.000  turn(char const*, int)
	END
	expect -ln 'symbol:turn(char const\*\, int)' --no-demangle <<-'END'
		12       100.000  _Z4turnPKci
	END
	# Functions can be selected without a key for functions, and together with these options.
	expect --by comm -n symbol:mid,leaf symbol-exclude:leaf <<-'END'
		40       100.000  t
	END
	refused "error: no sample files found: profile specification too strict ? No function matches 'nothing'" symbol:nothing
	refused "error: no sample files found: profile specification too strict ? No function matches 'trun(char const\*, int)' (Did you mean turn(char const*, int)?)" -l 'symbol:trun(char const\*\, int)'
	refused "unknown tag in profile specification 'symbols:x': did you mean 'symbol:'?" symbols:x
}

@test "--global-percent shows dependents as shares of the total" {
	session=apps
	expect -n <<-'END'
		       60 60.0000 alpha
		>       30 50.0000 alpha
		>       20 33.3333 t
		>       10 16.6667 no-vmlinux
		       40 40.0000 beta
		>       20 50.0000 t
		>       20 50.0000 beta
	END
	expect -n --global-percent <<-'END'
		       60 60.0000 alpha
		>       30 30.0000 alpha
		>       20 20.0000 t
		>       10 10.0000 no-vmlinux
		       40 40.0000 beta
		>       20 20.0000 t
		>       20 20.0000 beta
	END
}

@test "--sort sorts by each key and breaks ties with the others" {
	session=apps
	expect -ln -s symbol <<-'END'
		10       10.0000  no-vmlinux               alpha                    /no-vmlinux
		30       30.0000  alpha                    alpha                    /usr/bin/alpha
		20       20.0000  beta                     beta                     /usr/bin/beta
		20       20.0000  t                        alpha                    leaf
		15       15.0000  t                        beta                     leaf
		5         5.0000  t                        beta                     mid
	END
	# Functions without an address come first, then the rows are sorted by samples.
	expect -ln -s vma,sample <<-'END'
		30       30.0000  alpha                    alpha                    /usr/bin/alpha
		20       20.0000  beta                     beta                     /usr/bin/beta
		10       10.0000  no-vmlinux               alpha                    /no-vmlinux
		20       20.0000  t                        alpha                    leaf
		15       15.0000  t                        beta                     leaf
		5         5.0000  t                        beta                     mid
	END
	# Sorted by the image's name; without further keys, by samples.
	expect -ln --sort=image -s debug <<-'END'
		30       30.0000  alpha                    alpha                    /usr/bin/alpha
		20       20.0000  beta                     beta                     /usr/bin/beta
		10       10.0000  no-vmlinux               alpha                    /no-vmlinux
		20       20.0000  t                        alpha                    leaf
		15       15.0000  t                        beta                     leaf
		5         5.0000  t                        beta                     mid
	END
	expect -ln --sort app-name,sample -r <<-'END'
		5         5.0000  t                        beta                     mid
		15       15.0000  t                        beta                     leaf
		20       20.0000  beta                     beta                     /usr/bin/beta
		10       10.0000  no-vmlinux               alpha                    /no-vmlinux
		20       20.0000  t                        alpha                    leaf
		30       30.0000  alpha                    alpha                    /usr/bin/alpha
	END
	expect --by symbol,app -s app-name,symbol -n lib-image:/home/u/t <<-'END'
		20       50.0000  [.] leaf                          alpha
		15       37.5000  [.] leaf                          beta
		5        12.5000  [.] mid                           beta
	END
}

@test "--top shows the lines with the most samples, and leaves the shares unchanged" {
	session=apps
	expect -ln --top 2 <<-'END'
		30       30.0000  alpha                    /usr/bin/alpha
		20       20.0000  beta                     /usr/bin/beta
	END
	# The order of the lines is independent of the selection.
	expect -ln --top 2 -r <<-'END'
		20       20.0000  beta                     /usr/bin/beta
		30       30.0000  alpha                    /usr/bin/alpha
	END
	expect -ln --top 3 -s symbol <<-'END'
		30       30.0000  alpha                    alpha                    /usr/bin/alpha
		20       20.0000  beta                     beta                     /usr/bin/beta
		20       20.0000  t                        alpha                    leaf
	END
	diff <(report -n | head -n 4) <(report -n --top 1)
	diff <(report -nr | tail -n 4) <(report -nr --top 1)
	[ "$(report -ln --top 100)" = "$(report -ln)" ]
	refused '--top: 0 is too small' -l --top 0
	refused '--top is incompatible with --tree' --tree --top 3
	refused '--top is incompatible with --callgraph' -c --top 3
	# One line of each of three events.
	session=masks
	diff -u - <(report --by event,symbol --csv --top 1 | tr -d '\r') <<-'END'
		event,symbol,samples,period,percent
		MISS,mid,4,4,100
		MISS,leaf,3,3,75
		MISS,leaf,1,1,100
	END
}

@test "--sort rejects unknown keys, and keys that are for --by" {
	refused 'unknown sort option: foo' -l -s foo
	refused 'unknown sort option: comm (to group by it, use --by comm)' -l -s sample,comm
	refused 'unknown sort option: dso (to group by it, use --by dso)' -s dso
	# perf has its keys in --sort.
	refused 'unknown sort option: comm (to group by it, use --by comm,dso,sym)' \
		--sort comm,dso,sym
	refused "--sort=image: it is not among the keys of --by" --by comm -s image
	refused '--sort=vma is meaningless with --csv' -l --csv -s vma
}

@test "--demangle prints names as in the source or as in the binary" {
	expect -ln -D none lib-image:/home/u/t <<-'END'
		950      94.8104  leaf
		40        3.9920  mid
		12        1.1976  _Z4turnPKci
	END
	expect -ln --no-demangle -i _Z4turnPKci <<-'END'
		12       100.000  _Z4turnPKci
	END
	expect -ln --demangle=normal -i _Z4turnPKci <<-'END'
		12       100.000  turn(char const*, int)
	END
	refused 'invalid option --demangle=some' -l --demangle=some
	refused '--demangle needs a value' -l --demangle
}

@test "--merge=lib shows libraries as applications" {
	session=apps
	expect -m lib <<-'END'
		CPU: Some CPU
		Counted CLK events (Clocks) with a unit mask of 0x00 (No unit mask) count 6000
		         CLK:6000|
		  samples|      %|
		------------------
		       40 40.0000 t
		       30 30.0000 alpha
		       20 20.0000 beta
		       10 10.0000 no-vmlinux
	END
	expect -l --merge=lib <<-'END'
		CPU: Some CPU
		Counted CLK events (Clocks) with a unit mask of 0x00 (No unit mask) count 6000
		samples  %        app name                 symbol name
		35       35.0000  t                        leaf
		30       30.0000  alpha                    /usr/bin/alpha
		20       20.0000  beta                     /usr/bin/beta
		10       10.0000  no-vmlinux               /no-vmlinux
		5         5.0000  t                        mid
	END
	expect -ln -m all image:/usr/bin/beta <<-'END'
		20       50.0000  beta                     /usr/bin/beta
		15       37.5000  t                        leaf
		5        12.5000  t                        mid
	END
	expect -dn -m cpu,lib lib-image:/home/u/t <<-'END'
		00001129 35       87.5000  leaf
		  00001129 35       100.000
		00001149 5        12.5000  mid
		  00001149 5        100.000
	END
}

@test "unit masks have separate columns, and --merge=unitmask adds them" {
	session=masks
	expect <<-'END'
		CPU: Some CPU
		Counted MISS events (Misses) with a unit mask of 0x01 (one flag) count 50000
		Counted MISS events (Misses) with a unit mask of 0x01 (one flag) count 100000
		Counted MISS events (Misses) with a unit mask of 0x41 (LONG_MISS: of the last-level cache) count 50000
		       MISS:50000|      MISS:100000|       MISS:50000|
		  samples|      %|  samples|      %|  samples|      %|
		------------------------------------------------------
		        4 100.000         1 100.000         4 100.000 t
	END
	expect --merge=unitmask -l <<-'END'
		CPU: Some CPU
		Counted MISS events (Misses) with a unit mask of 0x01 (one flag) count 50000
		Counted MISS events (Misses) with a unit mask of 0x01 (one flag) count 100000
		samples  %        samples  %        symbol name
		5        62.5000  0              0  mid
		3        37.5000  1        100.000  leaf
	END
}

@test "--separate-cpu prints one column per CPU in numeric order" {
	session=threads
	expect --separate-cpu <<-'END'
		CPU: Some CPU
		Counted CLK events (Clocks) with a unit mask of 0x00 (No unit mask) count 6000
		Samples on CPU 0
		Samples on CPU 9
		Samples on CPU 10
		            cpu:0|            cpu:9|           cpu:10|
		  samples|      %|  samples|      %|  samples|      %|
		------------------------------------------------------
		      120 100.000        20 100.000        60 100.000 t
		>            cpu:0|            cpu:9|           cpu:10|
		>  samples|      %|  samples|      %|  samples|      %|
		>------------------------------------------------------
		>      100 83.3333        20 100.000        60 100.000 t
		>       20 16.6667         0       0         0       0 no-vmlinux
	END
	expect --separate-cpu -l cpu:9,10 <<-'END'
		CPU: Some CPU
		Counted CLK events (Clocks) with a unit mask of 0x00 (No unit mask) count 6000
		Samples on CPU 9
		Samples on CPU 10
		samples  %        samples  %        symbol name
		20       100.000  0              0  mid
		0              0  60       100.000  leaf
	END
	expect --separate-cpu --merge=cpu -n -x <<-'END'
		      180 100.000 t
	END
	expect --separate-cpu -n -x --csv cpu:0 < <(printf '/home/u/t,/home/u/t,0,100,100,100\r\n')
}

@test "--separate-thread prints columns for threads or processes" {
	session=threads
	expect --separate-thread tgid:1000 -l <<-'END'
		CPU: Some CPU
		Counted CLK events (Clocks) with a unit mask of 0x00 (No unit mask) count 6000
		Processes with a thread ID of 1000
		Processes with a thread ID of 1001
		samples  %        samples  %        image name               symbol name
		60       100.000  0              0  t                        leaf
		0              0  20       50.0000  no-vmlinux               /no-vmlinux
		0              0  20       50.0000  t                        mid
	END
	expect --separate-thread --merge=tid -x <<-'END'
		CPU: Some CPU
		Counted CLK events (Clocks) with a unit mask of 0x00 (No unit mask) count 6000
		Processes with a thread group ID of 999
		Processes with a thread group ID of 1000
		         tgid:999|        tgid:1000|
		  samples|      %|  samples|      %|
		------------------------------------
		      100 100.000        80 100.000 t
	END
	expect --separate-thread -m tgid -n -x <<-'END'
		      180 100.000 t
	END
	expect --separate-thread --separate-cpu -m all -n -x <<-'END'
		      180 100.000 t
	END
}

@test "separately recorded data is shown separately, and --merge adds it" {
	session=by_thread
	expect -n -x tgid:1000 <<-'END'
		       60 100.000        20 100.000 t
	END
	expect -n -x --merge=tid <<-'END'
		      100 100.000        80 100.000 t
	END
	expect -n -x -m tgid <<-'END'
		      180 100.000 t
	END
	expect --by image -n lib-image:/home/u/t <<-'END'
		180      100.000  t
	END
	session=by_cpu
	expect -n -l -x <<-'END'
		100      100.000  0              0  60       100.000  leaf
		0              0  20       100.000  0              0  mid
	END
	expect -n -l -x --merge cpu <<-'END'
		160      88.8889  leaf
		20       11.1111  mid
	END
	refused 'which conflicts with parameter cpu' --separate-thread tgid:1000 -x
}

@test "opreport rejects a second separate axis and suggests an option" {
	session=threads
	run report --separate-thread
	[ "$status" -eq 1 ]
	[ -z "$output" ]
	diff -u - "$BATS_TEST_TMPDIR/stderr" <<-'END'
		oprofile report: Already displaying results for parameter tgid with values:
		tgid:999,tgid:1000,
		which conflicts with parameter tid.
		Suggestion: specify tgid: or --merge tgid
	END
	session=masks
	run report --separate-cpu
	[ "$status" -eq 0 ]
}

@test "opreport rejects meaningless combinations of options" {
	refused '--show-address is meaningless without --symbols, --details, --callgraph or --xml' -w
	refused '--accumulated is meaningless without --symbols' -a
	refused '--exclude-symbols is meaningless without --symbols' -e a
	refused '--include-symbols is meaningless without --symbols' --include-symbols=a
	refused '--include-symbols is meaningless without --symbols' -i a --by image
	refused '--sort=vma is meaningless without --symbols' --sort=image,vma
	refused '--global-percent is meaningless with --symbols and without --details or --callgraph' -l -%
	refused '--global-percent is incompatible with --by' --global-percent --by image
	refused '--since is incompatible with --between' --since @5 --between @5,@7
	refused '--since is incompatible with --time' --since @5 --time 1s-2s
	refused '--merge=lib is meaningless with --exclude-dependent' -x --merge=lib
	refused '--merge=lib is meaningless with --exclude-dependent' -x -m cpu -m library
	refused 'unknown merge option: foo' -m lib,foo
	refused '--symbols is incompatible with --by: give --by image,symbol' -l --by image
	refused '--details is incompatible with --by: give --by image,symbol,address' -d --by image
	refused '--csv is incompatible with --json' --csv --json
	refused '--show-address is incompatible with --csv: give --by address' -lw --csv
	refused '--accumulated is incompatible with --json' -la --json
	refused '--global-percent is incompatible with --csv' -d -% --csv
	refused '--separate-thread is incompatible with --by: give --by pid,tid' \
		--separate-thread --by image
	refused '--separate-cpu is incompatible with --by: give --by cpu' --separate-cpu --by image
	report -x -m all
	report -l -d -w
}

@test "--verbose accepts OProfile's names only" {
	refused 'unknown --verbose= options: foo' -V all,foo
	for name in all debug bfd level1 sfile stats xml arcs debug,xml; do
		report -ln --verbose="$name" -t 3 | diff -u - <(report -ln -t 3)
	done
	report -l -V bfd >/dev/null
	grep -q "^/home/u/t: symbols from .*/images/$ID\$" "$BATS_TEST_TMPDIR/stderr"
	report -V stats,sfile >/dev/null
	grep -q '^1 segments, 1029 samples read, 1029 selected' "$BATS_TEST_TMPDIR/stderr"
	grep -q '/samples/current/segment-000001$' "$BATS_TEST_TMPDIR/stderr"
}

@test "--image-path and --root set where binaries are found" {
	session=away
	mkdir -p "$DIR/elsewhere/deep" "$DIR/sysroot/gone/bin"
	link away 2123456789abcdef0123456789abcdef01234567 0x1129
	cp "$DIR/bin/away" "$DIR/elsewhere/deep"
	cp "$DIR/bin/away" "$DIR/sysroot/gone/bin"
	expect -ln -x <<-'END'
		6        100.000  /gone/bin/away
	END
	grep -q 'warning: /gone/bin/away could not be found.' "$BATS_TEST_TMPDIR/stderr"
	for way in "--image-path=$DIR/sysroot/gone,$DIR/elsewhere" "-p$DIR/elsewhere" "-R$DIR/sysroot" \
		"--root=$DIR/sysroot/"; do
		expect -ln -x "$way" <<-'END'
			6        100.000  mid
		END
		[ ! -s "$BATS_TEST_TMPDIR/stderr" ]
	done
	refused "/nonexistent isn't a valid directory (invalid --image-path= options)" \
		-p "$DIR/elsewhere,/nonexistent"
	refused "/nonexistent isn't a valid directory (invalid --root= options)" -R /nonexistent
}

@test "--vmlinux names the kernel's functions, under the name of the file" {
	session=away
	sed 's/leaf/_text/g' "$DIR/t.s" > "$DIR/kernel.s"
	gcc -nostdlib -static -no-pie -Wl,-e,_text,--build-id=none,-Ttext=0xffffffff81000000 \
		-o "$DIR/bin/vmlinux" "$DIR/kernel.s"
	for way in -k --vmlinux; do
		expect -lw -n "$way" "$DIR/bin/vmlinux" lib-image:"$DIR/bin/vmlinux" <<-'END'
			ffffffff81000020 2        100.000  vmlinux                  mid
		END
	done
	refused '--vmlinux: /nonexistent' -k /nonexistent
}

@test "exports have the same rows" {
	session=apps
	expect -l --csv -x -n < <(printf '%s\r\n' \
		'/usr/bin/alpha,/usr/bin/alpha,/usr/bin/alpha,30,30,60' \
		'/usr/bin/beta,/usr/bin/beta,/usr/bin/beta,20,20,40')
	expect -d --csv -n -s symbol lib-image:/home/u/t image:beta < <(printf '%s\r\n' \
		'/usr/bin/beta,/home/u/t,leaf,0x1129,15,15,75' \
		'/usr/bin/beta,/home/u/t,mid,0x1149,5,5,25')
}

bats_require_minimum_version 1.5.0

# 3 misses with count 2000 per 6 instructions with count 100000 are 0.01; zero by zero is a dash.
@test "--ratio adds a column that divides the periods of two events" {
	dir=$BATS_TEST_TMPDIR/ratio
	mkdir -p "$dir/samples/current"
	"$WRITE_SESSION" "$dir/samples/current/segment-000001" <<-'END'
		info|0||host||1000000000|0||
		event|MISSES|misses|3|2000|0|0
		event|INSTRUCTIONS|instructions|3|100000|0|0
		image|1|/nonexistent/t|
		thread|7|7|work|0|0|/
		thread|8|8|idle|0|0|/
		sample|0|0|0|2000|2000|0+0x10|3
		sample|0|1|0|2000|100000|0+0x10|6
		sample|1|0|0|2000|2000|0+0x10|1
	END
	"$OPROFILE" report --session-dir "$dir" --by comm --ratio MISSES/INSTRUCTIONS >"$dir/out"
	cat "$dir/out"
	grep -q 'MISSES/INSTRUCTIONS' "$dir/out"
	grep -Eq '^6 +100\.000 +3 +75\.0000 +0\.01 +work$' "$dir/out"
	grep -Eq '^0 +0 +1 +25\.0000 +- +idle$' "$dir/out"
	run -1 "$OPROFILE" report --session-dir "$dir" --by comm --ratio MISSES/CYCLES
	[[ $output == *'--ratio MISSES/CYCLES: expected EVENT/EVENT with recorded events: MISSES, INSTRUCTIONS'* ]]
	"$OPROFILE" report --session-dir "$dir" --ratio MISSES/INSTRUCTIONS \
		--ratio INSTRUCTIONS/MISSES >"$dir/out"
	cat "$dir/out"
	grep -Fqx 'INSTRUCTIONS:1...|      MISSES:2000|MISSES/INSTRUC...|INSTRUCTIONS/M...|' "$dir/out"
	grep -Fqx '  samples|      %|  samples|      %|            ratio|            ratio|' "$dir/out"
	# 8000 misses per 600000 instructions.
	grep -Eqx ' +6 100\.000 +4 100\.000 +0\.01333 +75 t' "$dir/out"
	# One row per event; each has the ratio of its group.
	"$OPROFILE" report --session-dir "$dir" --by comm --csv --ratio MISSES/INSTRUCTIONS \
		--ratio INSTRUCTIONS/MISSES | tr -d '\r' | sort >"$dir/csv"
	diff - "$dir/csv" <<-'END'
		INSTRUCTIONS,work,6,600000,100,0.01,100
		MISSES,idle,1,2000,25,,0
		MISSES,work,3,6000,75,0.01,100
		event,comm,samples,period,percent,MISSES/INSTRUCTIONS,INSTRUCTIONS/MISSES
	END
	"$OPROFILE" report --session-dir "$dir" --symbols --json --ratio MISSES/INSTRUCTIONS >"$dir/json"
	python3 - "$dir/json" <<-'END'
		import json, sys
		rows = json.load(open(sys.argv[1]))["rows"]
		assert {r["event"] for r in rows} == {"MISSES", "INSTRUCTIONS"}, rows
		# The misses of idle and work at the same address: 8000 per 600000 instructions.
		assert all(abs(r["ratios"]["MISSES/INSTRUCTIONS"] - 8 / 600) < 1e-9 for r in rows), rows
	END
	"$OPROFILE" report --session-dir "$dir" --by comm --json --ratio MISSES/INSTRUCTIONS >"$dir/json"
	grep -q '"comm":"idle","samples":1,"period":2000,"ratios":{"MISSES/INSTRUCTIONS":null}' "$dir/json"
	run -1 "$OPROFILE" report --session-dir "$dir" --callgraph --ratio MISSES/INSTRUCTIONS
	[[ $output == *'--callgraph is incompatible with --ratio'* ]]
}

@test "an event that was counted only part of the time is marked" {
	dir=$BATS_TEST_TMPDIR/share
	mkdir -p "$dir/samples/current"
	"$WRITE_SESSION" "$dir/samples/current/segment-000001" <<-'END'
		info|0||host||1000000000|0||
		event|A|one|3|2000|0|0
		event|B|other|3|1000|0|0
		image|1|/nonexistent/t|
		thread|7|7|work|0|0|/
		sample|0|0|0|2000|2000|0+0x10|3
		sample|0|1|0|2000|1000|0+0x10|6
		share|0|2550
		share|1|10000
	END
	"$OPROFILE" report --session-dir "$dir" >"$dir/out"
	cat "$dir/out"
	grep -qx 'A was counted for 25.5 % of the time, multiplexed with other events' "$dir/out"
	! grep 'B was counted' "$dir/out" || false
}
