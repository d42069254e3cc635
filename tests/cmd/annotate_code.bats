# SPDX-License-Identifier: GPL-2.0-or-later
# opannotate --assembly, alone and with --source: the columns of instructions, and code that is in
# no program file. Lines are compared with binutils' addr2line, code with objdump.
load helpers

bats_require_minimum_version 1.5.0

setup()
{
	cd "$BATS_TEST_TMPDIR"
	export XDG_CACHE_HOME=$PWD/cache
	DIR=$PWD/session
	mkdir -p "$DIR/samples/current" src
}

opannotate()
{
	timeout -k 5 60 "$OPROFILE_LINKS/opannotate" --session-dir "$DIR" "$@"
}

build_id()
{
	readelf -n "$1" | sed -n 's/ *Build ID: //p'
}

# Makes a program with a loop and a helper that is inlined twice.
make_program()
{
	cat >src/h.h <<'END'
static inline __attribute__((always_inline)) unsigned mix(unsigned x)
{
	x ^= x << 13;
	return x ^ x >> 17;
}

static inline __attribute__((always_inline)) unsigned twice(unsigned x)
{
	return mix(mix(x) + 1);
}
END
	cat >src/p.c <<'END'
#include "h.h"

unsigned table[16];

unsigned work(unsigned n)
{
	unsigned x = n;

	for (unsigned i = 0; i < n; i++)
		x += mix(x) / (i + 1);
	return x;
}

unsigned other(unsigned n)
{
	if (n > 3)
		return twice(n);
	return table[n];
}
END
	gcc -g -O2 -shared -fPIC -nostdlib -Wl,--build-id -o p src/p.c
}

# Makes a session with one sample for each instruction of p. Their addresses are in the file
# `addresses`.
sample_all()
{
	local base text
	base=$(($(text_offset p)))
	text=0x$(readelf -SW p | sed -n 's/.* \.text *PROGBITS *\([0-9a-f]*\).*/\1/p')
	objdump -d --no-show-raw-insn -j .text p | sed -n 's/^ *\([0-9a-f]*\):	.*/0x\1/p' >addresses
	{
		echo "info|0||$(uname -n)||1000000000|0||"
		echo "event|TIMER|time|3|0|1000|0"
		echo "image|1|$PWD/p|$(build_id p)"
		echo "thread|7|7|p|0|0|/"
		while read -r address; do
			echo "sample|0|0|0|2000|1|0+$((address - text + base))|1"
		done <addresses
	} | "$WRITE_SESSION" "$DIR/samples/current/segment-000001"
}

@test "--source --assembly shows above each instruction the line that addr2line gives" {
	make_program
	sample_all
	opannotate --source --assembly >listing
	grep -q 'Output annotated source and assembly listing with samples' listing
	grep -q " $(wc -l <addresses) 100.000 in the instructions shown" listing
	# "ADDRESS TEXT": TEXT is the last source line printed before the instruction.
	sed -n 's/^...............://p' listing | cat - <(:) >/dev/null
	awk '/^ \*\/$/ { inside = 1 } !inside { next }
		match($0, /^[ 0-9.]*:  *[0-9a-f]+:\t/) { a = $0; sub(/^[ 0-9.]*: */, "", a)
			sub(/:.*/, "", a); print a, text; next }
		/^               :/ { text = substr($0, 17) }' listing | sort >ours
	while read -r address; do
		place=$(addr2line -e p "$address" | sed 's/ (discr.*//')
		echo "${address#0x} $(sed -n "${place##*:}p" "${place%:*}")"
	done <addresses | sort >theirs
	[ "$(wc -l <theirs)" -gt 20 ]
	diff theirs ours
	# Functions are listed one after the other, each with its total.
	[ "$(grep -c '^[0-9a-f]\{16\} <\(work\|other\)>: /\* [a-z]* total: ' listing)" -eq 2 ]
}

@test "arguments that match no binary are names of functions" {
	make_program
	sample_all
	opannotate --assembly symbol:work 2>/dev/null >want
	opannotate --assembly work 2>err >got
	grep -q '<work>' got
	run ! grep -q '<other>:' got
	# The header shows the command line.
	diff <(grep -v opannotate want) <(grep -v opannotate got)
	[ ! -s err ]
	# Several functions, tags, and sources of samples.
	[ "$(opannotate --assembly work "$DIR" other comm:p 2>/dev/null | grep -c 'total: ')" -eq 2 ]
	# A binary has precedence, and p is not a function.
	opannotate --assembly p 2>/dev/null | grep -q '<other>:'
	# If the word matches nothing, the message is that of a binary.
	for word in wrok ./work; do
		run -1 opannotate --assembly "$word"
		[[ "$output" == *"too strict"* && "$output" != *symbol:* ]]
	done
}

@test "--source --assembly does not show code without a line below another line" {
	cat >z.s <<END
	.file 1 "$PWD/src/z.c"
	.text
	.globl leaf
	.type leaf, @function
leaf:
	.loc 1 1
	nop
	.loc 1 0
	nop
	nop
	.loc 1 1
	nop
	.size leaf, . - leaf
.Lend:
	.section .debug_abbrev,"",@progbits
	.byte 1, 0x11, 0, 0x10, 0x17, 0x11, 1, 0x12, 6, 0, 0, 0
	.section .debug_info,"",@progbits
	.long .Linfo_end - .Linfo
.Linfo:
	.short 4
	.long 0
	.byte 8, 1
	.long 0
	.quad leaf
	.long .Lend - leaf
.Linfo_end:
END
	need clang
	[ "$(uname -m)" = x86_64 ] || skip "code of x86-64"
	echo 'the line' >src/z.c
	touch -d 2000-01-01 src/z.c
	clang -c -o z.o z.s
	ld -shared --build-id=0x3333333333333333 -o p z.o
	sample_all
	opannotate -s -a | sed -n '/ total: /,$s/^.\{15\}:\( *[0-9a-f]*:	\)\{0,1\}//p' >got
	diff got - <<'END'
the line
nop
/* no line */
nop
nop
the line
nop
END
}

@test "--source --assembly without sources prints their names and line numbers" {
	make_program
	sample_all
	rm src/h.h
	run -0 --separate-stderr opannotate --source --assembly
	[[ $output == *"               :/* $PWD/src/h.h:4 */"* ]]
	[[ $output == *"               :		x += mix(x) / (i + 1);"* ]]
	[ "$(grep -c 'h.h (No such file or directory)' <<<"$stderr")" -eq 1 ]
}

@test "--inline-sites counts samples for each call like addr2line -i" {
	make_program
	sample_all
	# "FILE:LINE FUNCTION COUNT": addr2line prints the frames innermost first, two lines each:
	# the function and its location.
	while read -r address; do
		addr2line -f -i -e p "$address" | sed 's/ (discr.*//' | paste - - | awk '
			NR > 1 && !seen[$2 name]++ { print $2, name } { name = $1 }'
	done <addresses | sort | uniq -c | awk '{n = $2; sub(/.*\//, "", n); print n, $3, $1}' | sort >theirs
	[ "$(wc -l <theirs)" -ge 3 ]
	opannotate --source --inline-sites >listing
	awk '/^ \* Total samples for file/ { file = $7; gsub(/"|.*\//, "", file) }
		/^ \*\/$/ { line = -2; next } { line++ }
		{ rest = $0
		  while (match(rest, /\/\* [a-z]+ inlined here: +[0-9]+/)) {
			split(substr(rest, RSTART, RLENGTH), w, / +/); print file ":" line, w[2], w[5]
			rest = substr(rest, RSTART + RLENGTH) } }' listing | sort >ours
	diff theirs ours
	# Inlined code counts for all functions that contain it, and the lines still add up.
	local all
	all=$(awk '$2 == "mix" && $1 ~ /h.h/ || $2 == "mix" && $1 ~ /p.c/ {s += $3} END {print s}' theirs)
	grep -q "/\* mix inlined in all: *$all " listing
	grep -q " $(wc -l <addresses) 100.000 in all" listing
	opannotate --source --assembly --inline-sites >listing
	grep -q "^               :/\* mix inlined at $PWD/src/h.h:9, in twice inlined at $PWD/src/p.c:17, in other \*/" listing
}

@test "--objdump-params prints objdump's output after the sample counts" {
	make_program
	sample_all
	opannotate -a --objdump-params '-M intel' >listing
	grep -q " $(wc -l <addresses) 100.000 in the instructions shown" listing
	grep ':	' listing | sed 's/^ *1 [ .0-9]* ://' | sort >ours
	[ "$(wc -l <ours)" -eq "$(wc -l <addresses)" ]
	objdump -d --no-show-raw-insn -M intel -j .text p | grep ':	' | sort >theirs
	diff theirs ours
	opannotate -s -a --objdump-params '-M intel -w' | grep -q '^               :		x += mix(x) / (i + 1);'
	# If objdump fails, opannotate warns and leaves the binary's code out.
	run -0 --separate-stderr opannotate -a --objdump-params=--nonsense
	[[ $stderr == *"An error occur during the execution of objdump: showing functions without it"* ]]
	[[ $output == *" $(wc -l <addresses) 100.000 in the instructions shown"* ]]
	run -1 opannotate -s --objdump-params=-M
	[[ $output == *"--objdump-params is meaningless without --assembly"* ]]
	run -1 opannotate -a --objdump-params=-M --hottest
	[[ $output == *"--objdump-params is incompatible with --hottest"* ]]
}

@test "--objdump-params is not interpreted by a shell" {
	make_program
	sample_all
	opannotate -a --objdump-params '$(touch${IFS}bad) ;touch bad2 `touch bad3`' >/dev/null 2>&1 || true
	[ -z "$(ls -d bad* 2>/dev/null)" ]
}

@test "on a terminal, jumps have arrows and possible skid is marked" {
	need python3
	cat >a.s <<'END'
	.text
	.globl leaf
	.type leaf, @function
leaf:
	mov $10,%eax
1:
	div %ecx
	test %eax,%eax
	je 2f
	dec %eax
	jne 1b
2:
	ret
	.size leaf, . - leaf
END
	[ "$(uname -m)" = x86_64 ] || skip "code of x86-64"
	gcc -c -o a.o a.s
	ld --build-id=0x1111111111111111 -e leaf -Ttext=0x401000 -o a a.o
	local t=$(($(text_offset a)))
	"$WRITE_SESSION" "$DIR/samples/current/segment-000001" <<END
info|0||$(uname -n)||1000000000|0||
event|A|a|1|100|0|0
image|1|$PWD/a|1111111111111111
thread|7|7|work|0|0|/
sample|0|0|0|2000|1|0+$((t + 7))|97
sample|0|0|0|2000|1|0+$((t + 5))|3
END
	LC_ALL=C TERM=xterm timeout 20 python3 "$SOURCE_ROOT/tests/cmd/on_terminal.py" 100 \
		"$OPROFILE_LINKS/opannotate" --session-dir "$DIR" -a --no-pager --color=never |
		tr -d '\r' | sed 's/:	.*//' | grep 4010 | tail -n +2 >got
	diff got - <<'END'
               :       401000
     3  3.0000 :~/-->  401005
    97 97.0000 : |     401007
               : | /-  401009
               : | |   40100b
               : \-+-  40100d
               :   \>  40100f
END
	# Samples of a precise event are shown at the instruction that caused them.
	rm "$DIR/samples/current/segment-000001"
	"$WRITE_SESSION" "$DIR/samples/current/segment-000001" <<END
info|0||$(uname -n)||1000000000|0||
event|A|a|33|100|0|0
image|1|$PWD/a|1111111111111111
thread|7|7|work|0|0|/
sample|0|0|0|2000|1|0+$((t + 7))|97
END
	run -0 opannotate -a
	[[ $output != *"not precise"* ]]
}

# Makes a module whose sections the kernel loaded apart from each other; *.text begins at
# 0xffffffffc0100040.
make_module()
{
	cat >mod.c <<'END'
int printk(const char *text, ...);
int counter;
static int table[8] = { 1, 2, 3 };
__attribute__((noinline, section(".text.unlikely"))) int rare(int n)
{
	return printk("rare") + n;
}
__attribute__((noinline)) int often(int n)
{
	counter += table[n & 7];
	if (counter < 0)
		return rare(n);
	return often(n - 1) + printk("often");
}
END
	gcc -g -O1 -fno-pic -mcmodel=kernel -fno-asynchronous-unwind-tables -c -o mod.o mod.c
	mkdir -p modules
	ld -r --build-id=0x4444444444444444 -o modules/mod.ko mod.o
}

@test "kernel modules are disassembled as relocated, with lines" {
	[ "$(uname -m)" = x86_64 ] || skip "code of x86-64"
	make_module
	local text=0xffffffffc0100040 rare=0xffffffffc0100800 data=0xffffffffc0102000 bss=0xffffffffc0102100
	local strings=0xffffffffc0103000 read=0xffffffffc0103100
	echo "mod 0xffffffffc0100000 16384 4444444444444444 .text=$text .text.unlikely=$rare .data=$data .bss=$bss .rodata.str1.1=$strings .rodata=$read" \
		>"$DIR/samples/current/modules"
	"$WRITE_SESSION" "$DIR/samples/current/segment-000001" <<END
info|0||$(uname -n)||1000000000|0||
event|A|a|3|100|0|0
image|3|mod|4444444444444444|0|0xffffffffc0100000|0xffffffffc0104000
thread|7|7|work|-|0|/
sample|0|0|0|2000|1|0+$((0x40))|3
sample|0|0|0|2000|1|0+$((0x800))|2
END
	opannotate -a --image-path "$PWD/modules" >listing
	# The linker script places the sections at the same addresses. The linker cannot know
	# symbols outside the module.
	cat >script <<END
SECTIONS {
	.text $text : { *(.text) }
	.text.unlikely $rare : { *(.text.unlikely) }
	.data $data : { *(.data) }
	.bss $bss : { *(.bss) }
	.rodata.str1.1 $strings : { *(.rodata.str1.1) }
	.rodata $read : { *(.rodata) }
}
END
	ld -T script -o linked --defsym=printk=0xffffffffc0100000 -e often modules/mod.ko
	objdump -d --no-show-raw-insn -j .text -j .text.unlikely linked |
		sed -n 's/^ *\([0-9a-f]*\):	\(.*\)/\1 \2/p' | sed 's/<.*//; s/ *#.*//' |
		awk '{print $1, $NF}' | sort >theirs
	# (objdump prints negative numbers with a sign.)
	grep ':	' listing | sed 's/^[^:]*: *\([0-9a-f]*\):	/\1 /; s/\([0-9a-f]\) <[a-z].*/\1/; s/ *#.*//' |
		awk '{print $1, $NF}' | sort | while read -r address last; do
			if [[ $last =~ ^\$(-0x[0-9a-f]+)(,.*)$ ]]; then
				last=$(printf '$0x%x%s' $((BASH_REMATCH[1])) "${BASH_REMATCH[2]}")
			fi
			echo "$address $last"
		done >ours
	[ "$(wc -l <theirs)" -gt 15 ]
	diff <(sed 's/ffffffffc0100000$/<printk>/' theirs) ours
	# The listing has more than the file: calls are resolved to functions of the module.
	grep -q 'call   ffffffffc0100800 <rare>' listing
	grep -q '^Disassembly of section .text.unlikely:' listing
	opannotate -s -a --image-path "$PWD/modules" >listing
	grep -q '^               :	counter += table\[n & 7\];' listing
	grep -q "5 100.000 in the instructions shown" listing
}

@test "the vdso is disassembled" {
	begin_recording_test
	cat >clock.c <<'END'
#include <time.h>
int main(void)
{
	struct timespec begin, now;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		for (int i = 0; i < 1000; i++)
			clock_gettime(CLOCK_MONOTONIC, &now);
	while (now.tv_sec < begin.tv_sec + 1);
}
END
	gcc -O1 -o clock clock.c
	operf --session-dir "$session" ./clock 2>/dev/null
	opreport --session-dir "$session" --csv --by image 2>/dev/null | grep -q '^\[vdso\]' ||
		skip "no samples in the vdso here"
	timeout 60 "$OPROFILE_LINKS/opannotate" --session-dir "$session" -a 'lib-image:[vdso]' >listing
	grep -q 'clock_gettime' listing
	grep -q ':	.*[a-z]' listing
	run ! grep '(no code)' listing
}

@test "JIT code is disassembled from the bytes in its jitdump" {
	begin_recording_test
	operf --session-dir "$session" "$WORKLOADS/jit_dump" 1000 >truth
	timeout 60 "$OPROFILE_LINKS/opannotate" --session-dir "$session" -a >listing 2>said
	grep -q 'file format jitdump' listing
	# All JIT code consists of copies of a section of the program.
	objdump -d --no-show-raw-insn -j region_template "$WORKLOADS/jit_dump" |
		sed -n 's/^ *[0-9a-f]*:	\([a-z]*\).*/\1/p' >theirs
	[ -s theirs ]
	for name in reuse_first mover; do
		awk -v name="<$name>:" '/^[0-9a-f]* </ { inside = $2 == name } inside && /:\t/ {print}' listing |
			sed 's/^[^:]*: *[0-9a-f]*:	\([a-z]*\).*/\1/' >ours
		diff <(sed 's/^nopl$/nop/; s/^movabs$/mov/' theirs) \
			<(sed 's/^nopl$/nop/; s/^movabs$/mov/' ours)
	done
	awk '/in the instructions shown/ {s = $2} /in all/ {a = $2} END {exit s != a}' listing
}

@test "BPF programs are disassembled from the code that perf stored in its file" {
	need_root
	need perf
	[ "$(uname -m)" = x86_64 ] || skip "code of x86-64"
	"$WORKLOADS/bpf_loop" || skip "no BPF programs here: NOT TESTED"
	perf_record -e cpu-clock -F 2000 -o data -- "$WORKLOADS/bpf_loop" 2>/dev/null ||
		skip "perf cannot record here: NOT TESTED"
	perf report --header-only -i data 2>/dev/null | grep -q '^# bpf_prog_info' ||
		skip "perf kept no BPF program: NOT TESTED"
	timeout 60 "$OPROFILE_LINKS/opannotate" -a data >listing 2>/dev/null
	sed -n '/<bpf_prog_[0-9a-f]*_busy_loop>:/,/^$/p' listing >function
	# The instructions are those of the program: multiply by 7, subtract 1, jump back.
	grep -q '^ *[1-9][0-9]* .* :[0-9a-f]*:	imul   $0x7,%rax,%rax' function
	grep -q ':	sub    $0x1,%rdi' function
	grep -q ':	jne    [0-9a-f]* <bpf_prog_[0-9a-f]*_busy_loop+0x' function
	run ! grep '(no code)' function
	local total
	total=$(sed -n 's/.*_busy_loop total: *\([0-9]*\) .*/\1/p' function)
	[ "$(($(sed -n 's/^ *\([0-9][0-9]*\) [ .0-9]\{7\} :.*/\1/p' function | paste -sd +)))" -eq "$total" ]
}
