# SPDX-License-Identifier: GPL-2.0-or-later
# opannotate: sources with the sample counts of their lines. The layouts are those of OProfile's
# manual and output. Which instruction counts for which line is compared with binutils' addr2line.
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

# Makes a library with functions of 16 bytes and hand-written line numbers: leaf has lines 5, 6
# and 0 of src/t.c; mid has line 9 and, inlined, line 2 of src/t.h.
make_library()
{
	cat >t.s <<END
	.file 1 "$PWD/src/t.c"
	.file 2 "$PWD/src/t.h"
	.text
	.globl leaf
	.type leaf, @function
leaf:
	.loc 1 5
	.rept 4
	nop
	.endr
	.loc 1 6
	.rept 8
	nop
	.endr
	.loc 1 0
	.rept 4
	nop
	.endr
	.size leaf, . - leaf
	.globl mid
	.type mid, @function
mid:
	.loc 1 9
	.rept 8
	nop
	.endr
	.loc 2 2
	.rept 8
	nop
	.endr
	.size mid, . - mid
.Lend:
	# A unit that has only these lines: (DWARF 4) stmt_list 0, low_pc, high_pc.
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
	printf '%s\n' one two three 'void leaf(void)' '{' '	work();' '}' '' 'void mid(void) {' \
		'}' >src/t.c
	printf '%s\n' '/* helper */' 'inline void helper(void) { }' >src/t.h
	printf '	.text\n	.globl bare\n	.type bare, @function\nbare:\n	.rept 16\n	nop\n	.endr\n	.size bare, 16\n' >u.s
	clang -c -o t.o t.s
	gcc -c -o u.o u.s
	ld -shared --build-id=0x1111111111111111 -o t t.o
	ld -shared --build-id=0x2222222222222222 -o u u.o
	touch -d 2000-01-01 src/t.c src/t.h
}

# make_session [EVENT...]: makes a session of 1000 samples; the second event has other counts.
make_session()
{
	local t=$(($(text_offset t))) u=$(($(text_offset u)))
	"$WRITE_SESSION" "$DIR/samples/current/segment-000001" <<END
info|0||$(uname -n)||1000000000|0||
event|TIMER|time|3|0|1000|0
image|1|$PWD/t|1111111111111111
image|1|$PWD/u|2222222222222222
thread|7|7|work|0|0|/
sample|0|0|0|2000|1|0+$((t + 1))|10
sample|0|0|0|2000|1|0+$((t + 5))|900
sample|0|0|0|2000|1|0+$((t + 13))|5
sample|0|0|0|2000|1|0+$((t + 17))|40
sample|0|0|0|2000|1|0+$((t + 25))|25
sample|0|0|0|2000|1|1+$((u + 4))|20
END
}

@test "opannotate prints the same bytes as OProfile" {
	make_library
	make_session
	run -0 --separate-stderr opannotate --source
	diff <(printf '%s\n' "$output" | sed "s,$PWD/,,") - <<'END'
/* 
 * Command line: opannotate --session-dir session --source 
 * 
 * Interpretation of command line:
 * Output annotated source file with samples
 * Output all files
 * 
 * CPU: unknown
 * Counted TIMER events (time) with a unit mask of 0x00 (No unit mask) count 0
 * Sampling rate: 1000 samples per second and CPU
 */
/* 
 * Total samples for file : "src/t.c"
 * 
 *    955 95.5000
 */

<credited to line zero>      5  0.5000 :
               :one
               :two
               :three
               :void leaf(void)
    10  1.0000 :{ /* leaf total:    915 91.5000 */
   900 90.0000 :	work();
               :}
               :
    40  4.0000 :void mid(void) { /* mid total:     65  6.5000 */
               :}
/* 
 * Total samples for file : "src/t.h"
 * 
 *     25  2.5000
 */


               :/* helper */
    25  2.5000 :inline void helper(void) { }
/* 
 * Samples
 * 
 *    980 98.0000 in the lines shown
 *     20  2.0000 without a source line, of which:
 *     20  2.0000   u (no debug information)
 *   1000 100.000 in all
 * 
 * The event is not precise: a sample can belong to the line executed just before.
 */
END
	[ -z "$stderr" ]
}

@test "--output-dir keeps the line numbers and adds comments after the source" {
	make_library
	make_session
	run -0 --separate-stderr opannotate -s -o out
	[[ ${lines[3]} == " *    980 98.0000 in the lines shown" ]]
	head -n 10 "out/$PWD/src/t.c" | diff - <(cat <<'END'
               :one
               :two
               :three
               :void leaf(void)
    10  1.0000 :{ /* leaf total:    915 91.5000 */
   900 90.0000 :	work();
               :}
               :
    40  4.0000 :void mid(void) { /* mid total:     65  6.5000 */
               :}
END
	)
	tail -n +11 "out/$PWD/src/t.c" | grep -qx '<credited to line zero>      5  0.5000 :'
	grep -q '^ \* Command line: opannotate .*-s -o out $' "out/$PWD/src/t.c"
	[ -e "out/$PWD/src/t.h" ]
	# A second run replaces existing files.
	cp -r out before
	run -0 opannotate -s -o out
	diff -r before out
}

@test "--output-dir follows no link and does not change the sources" {
	make_library
	make_session
	mkdir -p "out/${PWD%/*}" elsewhere
	ln -s "$PWD/elsewhere" "out/$PWD"
	run -3 opannotate -s -o out
	[[ $output == *"refusing to create file out$PWD/src/t.c outside of output directory out"* ]]
	[ -z "$(ls elsewhere)" ]
	rm "out/$PWD"
	mkdir -p "out/$PWD/src"
	echo precious >precious
	ln -s "$PWD/precious" "out/$PWD/src/t.c"
	run -3 opannotate -s -o out
	[[ $output == *"refusing to create file"* ]]
	[ "$(cat precious)" = precious ]
	rm "out/$PWD/src/t.c"
	ln src/t.c "out/$PWD/src/t.c"
	run -3 opannotate -s -o out
	[[ $output == *"input and output files are identical"* ]]
	# Only that source is left out.
	[ -e "out/$PWD/src/t.h" ]
	run -1 opannotate -s -o /
	[[ $output == *"Output path of / would over-write the source files"* ]]
	[ "$(head -n 1 src/t.c)" = one ]
}

@test "a source path with '..' stays below the output directory" {
	make_library
	sed -i "s,$PWD/src/t.h,/../../../../../etc/../t.h," t.s
	clang -c -o t.o t.s
	ld -shared --build-id=0x1111111111111111 -o t t.o
	make_session
	run -0 opannotate -s -o out
	[ -e out/t.h ]
	[ ! -e /t.h ]
}

@test "opannotate searches sources below other directories" {
	make_library
	make_session
	mkdir -p moved/deep
	mv src moved/deep/
	run -0 --separate-stderr opannotate -s
	[[ $stderr == *"unable to open for reading: $PWD/src/t.c (No such file or directory)"* ]]
	[[ $output == *"   900 90.0000 :/* line 6 */"* ]]
	[[ $output == *"    10  1.0000 :/* line 5 */ /* leaf total:    915 91.5000 */"* ]]
	[[ $output == *"    980 98.0000 in the lines shown"* ]]
	run -0 --separate-stderr opannotate -s --search-dirs moved/deep --base-dirs "$PWD"
	[ -z "$stderr" ]
	[[ $output == *"   900 90.0000 :	work();"* ]]
	run -0 --separate-stderr opannotate -s --source-dir nowhere,moved/deep -b "/none,$PWD" || true
	[[ $stderr == *"nowhere isn't a valid directory"* ]]
	mkdir -p "root/$PWD"
	cp -r moved/deep/src "root/$PWD/"
	cp t u "root/$PWD/"
	run -0 --separate-stderr opannotate -s --root root
	[[ $output == *"   900 90.0000 :	work();"* ]]
}

@test "samples without a source are shown by line number, and the sums include them" {
	make_library
	make_session
	local text
	for text in folder fifo binary empty; do
		rm -rf src/t.c
		case $text in
		folder) mkdir src/t.c ;;
		fifo) mkfifo src/t.c ;;
		binary) printf 'one\ntwo\0\1\2\nthree\n' >src/t.c ;;
		empty) : >src/t.c ;;
		esac
		run -0 --separate-stderr opannotate -s
		[[ $output == *"   900 90.0000 :/* line 6 */"* ]]
		[[ $output == *"   1000 100.000 in all"* ]]
		[[ $text == empty || $stderr == *"t.c ("*")"* ]]
	done
}

@test "opannotate handles CRLF, a missing last newline, invalid UTF-8 and long lines" {
	make_library
	make_session
	printf 'one\r\ntwo\r\n\r\n\r\n{\r\n\xff\xfe work\r\n}\n\nlast' >src/t.c
	touch -d 2000-01-01 src/t.c
	opannotate -s >got
	grep -qax '    10  1.0000 :{ /\* leaf total:    915 91.5000 \*/' got
	grep -qFx '   900 90.0000 :\xff\xfe work' got
	grep -qax '    40  4.0000 :last /\* mid total:     65  6.5000 \*/' got
	{ printf '%s\n' one two three four five; head -c 20000000 /dev/zero | tr '\0' x; } >src/t.c
	opannotate -s 2>/dev/null | grep -a '^   900 90.0000 :x' | wc -c >got
	[ "$(cat got)" -eq 20000017 ]
}

@test "opannotate marks a source that is newer than the binary" {
	make_library
	make_session
	touch src/t.c
	touch -d '1 hour ago' t
	run -0 --separate-stderr opannotate -s
	[[ $stderr == *"/src/t.c' is newer than '$PWD/t': line numbers can differ from those of the recorded program"* ]]
	[[ $output == *" * The source is newer than the binary: line numbers can differ"* ]]
	run -1 opannotate -s --strict
}

@test "--threshold keeps a symbol if any of the events reaches it" {
	make_library
	local t=$(($(text_offset t)))
	"$WRITE_SESSION" "$DIR/samples/current/segment-000001" <<-END
		info|0||$(uname -n)||1000000000|0||
		event|CYCLES|clocks|3|100000|0|0
		event|MISSES|misses|3|500|0|0
		image|1|$PWD/t|1111111111111111
		thread|7|7|work|0|0|/
		sample|0|0|0|2000|1|0+$((t + 1))|99
		sample|0|0|0|2000|1|0+$((t + 17))|1
		sample|0|1|0|2000|1|0+$((t + 17))|10
	END
	run -0 --separate-stderr opannotate -a --threshold 50
	grep -q '<mid>: /\* mid total' <<<"$output"
	grep -q '<leaf>: /\* leaf total' <<<"$output"
	run -0 --separate-stderr opannotate -a --threshold 50 event:CYCLES
	[[ $output != *'<mid>'* ]]
	opannotate -a --json --threshold 50 >j
	[ "$(python3 -c 'import json; print(len(json.load(open("j"))["functions"]))')" -eq 2 ]
	opannotate -s --threshold 50 | grep -q 'src/t.c"'
}

@test "options select files, functions and thresholds, and the sums report the omitted samples" {
	make_library
	make_session
	run -0 --separate-stderr opannotate -s --include-file 't.h'
	[[ $output != *'src/t.c"'* && $output == *'src/t.h"'* ]]
	[[ $output == *"    955 95.5000 in files and lines not shown"* ]]
	run -0 --separate-stderr opannotate -s --exclude-file '*.h,none'
	[[ $output == *'src/t.c"'* && $output != *'src/t.h"'* ]]
	run -0 --separate-stderr opannotate -s --exclude-file src
	[[ $output != *'src/t.'* ]]
	run -0 --separate-stderr opannotate -s -t 50
	[[ $output == *"Output files where samples count reach 50% of the samples"* ]]
	[[ $output == *'src/t.c"'* && $output != *'src/t.h"'* ]]
	[[ $output == *"     25  2.5000 in files and lines not shown"* ]]
	run -0 --separate-stderr opannotate -s -i mid
	[[ $output == *"    40 61.5385 :void mid(void) { /* mid total:     65 100.000 */"* ]]
	run -0 --separate-stderr opannotate -s -e mid,bare
	[[ $output == *"    915 100.000 in all"* ]]
	run -0 --separate-stderr opannotate -s --top 1
	[[ $output == *"     85  8.5000 in functions not shown"* && $output != *"mid total"* ]]
}

@test "--context and --hottest print excerpts of the sources" {
	make_library
	make_session
	run -0 --separate-stderr opannotate -s --context 0 --include-file t.c
	diff <(printf '%s\n' "$output" | sed -n '/line zero/,/^\/\*/p') - <<'END'
<credited to line zero>      5  0.5000 :
             --
    10  1.0000 :{ /* leaf total:    915 91.5000 */
   900 90.0000 :	work();
             --
    40  4.0000 :void mid(void) { /* mid total:     65  6.5000 */
/* 
END
	run -0 --separate-stderr opannotate -s --hottest --context 1
	[[ $output == *"   900 90.0000 :	work();"* && $output != *"mid(void)"* ]]
	[[ $output == *"    910 91.0000 in the lines shown"* ]]
	[[ $output == *"     70  7.0000 in files and lines not shown"* ]]
}

@test "several events are shown in separate columns" {
	make_library
	local t=$(($(text_offset t)))
	"$WRITE_SESSION" "$DIR/samples/current/segment-000001" <<END
info|0||$(uname -n)||1000000000|0||
event|A|a|1|100|0|0
event|B|b|1|100|0|0
image|1|$PWD/t|1111111111111111
thread|7|7|work|0|0|/
sample|0|0|0|2000|1|0+$((t + 1))|3
sample|0|0|0|2000|1|0+$((t + 5))|1
sample|0|1|0|2000|1|0+$((t + 5))|4
END
	run -0 --separate-stderr opannotate -s
	[[ $output == *" *      4 100.000     4 100.000"* ]]
	[[ $output == *"     3 75.0000     0       0   :{ /* leaf total:      4 100.000     4 100.000 */"* ]]
	[[ $output == *"     1 25.0000     4 100.000   :	work();"* ]]
	[[ $output == *"                               :}"* ]]
}

@test "--ratio divides the periods of one event by those of another" {
	make_library
	local t=$(($(text_offset t)))
	"$WRITE_SESSION" "$DIR/samples/current/segment-000001" <<END
info|0||$(uname -n)||1000000000|0||
event|A|a|1|100|0|0
event|B|b|1|100|0|0
image|1|$PWD/t|1111111111111111
thread|7|7|work|0|0|/
sample|0|0|0|2000|1|0+$((t + 1))|3
sample|0|0|0|2000|1|0+$((t + 5))|1
sample|0|1|0|2000|8|0+$((t + 5))|4
END
	run -0 --separate-stderr opannotate -s --ratio B/A --ratio A/B
	[[ $output == *" * After the counts: B/A, A/B"* ]]
	[[ $output == *" *      4 100.000     4 100.000          8      0.125"* ]]
	[[ $output == *"     3 75.0000     0       0          0          -   :{ /* leaf total:      4 100.000     4 100.000          8      0.125 */"* ]]
	[[ $output == *"     1 25.0000     4 100.000         32    0.03125   :	work();"* ]]
	[[ $output == *"                                                     :}"* ]]
	run -0 --separate-stderr opannotate -a --ratio B/A
	[[ $output == *"     4 100.000     4 100.000          8 in all"* ]]
	opannotate -s --json --ratio B/A --ratio A/B | python3 -c '
import json, sys
all = json.load(sys.stdin)
assert all["ratios"] == [{"of": "B", "by": "A"}, {"of": "A", "by": "B"}], all["ratios"]
assert [line["ratios"] for line in all["files"][0]["lines"]] == [[0, None], [32, 0.03125]], all["files"]
assert all["files"][0]["functions"][0]["total_ratios"] == [8, 0.125], all["files"]'
	run -1 opannotate -s --ratio A/C
	[[ $output == *"--ratio A/C: expected EVENT/EVENT with recorded events: A, B" ]]
}

@test "opannotate rejects contradictory options with OProfile's messages" {
	run -1 opannotate
	[[ $output == *"opannotate: you must specify at least --source or --assembly"* ]]
	run -1 opannotate -s -b /x
	[[ $output == *"--base-dirs is useless unless you specify an alternative source location with --search-dirs"* ]]
	run -1 opannotate -s -t 101
	[[ $output == *"illegal threshold value: 101 allowed range: [0-100]"* ]]
	run -1 opannotate -s '{' image:x '}' '{' image:y '}'
	[[ $output == *"differential profiles not allowed"* ]]
}

# Records one sample for each instruction of PROGRAM and compares our lines and their counts with
# addr2line's. Lines are "FILE:LINE COUNT"; instructions without a line are left out.
compare_with_addr2line()
{
	local base text
	base=$(($(text_offset p)))
	text=0x$(readelf -SW p | sed -n 's/.* \.text *PROGBITS *\([0-9a-f]*\).*/\1/p')
	objdump -d --no-show-raw-insn -j .text p | sed -n 's/^ *\([0-9a-f]*\):	.*/0x\1/p' >addresses
	rm -f "$DIR/samples/current/segment-000001"
	{
		echo "info|0||$(uname -n)||1000000000|0||"
		echo "event|TIMER|time|3|0|1000|0"
		echo "image|1|$PWD/p|"
		echo "thread|7|7|p|0|0|/"
		while read -r address; do
			echo "sample|0|0|0|2000|1|0+$((address - text + base))|1"
		done <addresses
	} | sed "s/p|\$/p|$(build_id p)/;t" |
		"$WRITE_SESSION" "$DIR/samples/current/segment-000001"
	addr2line -e p <addresses | sed 's/ (discriminator.*//' | awk -F: '$2 > 0' |
		while IFS=: read -r file line; do echo "$(realpath -m "$file"):$line"; done |
		sort | uniq -c | awk '{print $2, $1}' | sort >theirs
	opannotate -s >listing
	awk '/^ \* Total samples for file/ { file = $7; gsub("\"", "", file) }
		/^\/\* $/ { inside = 0 }
		/^ \*\/$/ { inside = 1; line = -2; next }
		inside { line++ }
		inside && /^ *[0-9]+ .......  *:|^ *[0-9]+ ....... :/ { if (line > 0) print file ":" line, $1 }' \
		listing | sort >ours
	diff theirs ours
	awk '/in the lines shown/ {s = $2} /without a source line/ {w = $2} /in all/ {a = $2}
		END {exit s + w != a}' listing
	grep -q " $(wc -l <addresses) 100.000 in all" listing
}

build_id()
{
	readelf -n "$1" | sed -n 's/ *Build ID: //p'
}

@test "lines of inlined code, macros, #line and structs agree with addr2line" {
	cat >src/h.h <<'END'
static inline __attribute__((always_inline)) unsigned mix(unsigned x)
{
	x ^= x << 13;
	return x ^ x >> 17;
}
END
	cat >src/p.c <<'END'
#include "h.h"
#define STEP(x)                                                                \
	do {                                                                   \
		(x) = mix(x) + 1;                                              \
		(x) *= 3;                                                      \
	} while (0)
struct big { long at[40]; };
struct big left, right;
double fun(double a, double b, double c)
{
	double result = 0;
	for (int i = 0; i < 10000; ++i) {
		result += a;
		result *= b;
		result /= c;
	}
	return result;
}
void copy(void) { left = right; }
unsigned work(unsigned n)
{
	unsigned x = n;
	for (unsigned i = 0; i < n; i++)
		STEP(x);
	return x;
}
#line 7 "generated.y"
unsigned parse(unsigned n)
{
	return mix(n) * 5;
}
END
	printf 'one\ntwo\nthree\nfour\nfive\nsix\nsemantic\neight\nnine\nten\n' >generated.y
	for flags in -O0 -O1 -O2; do
		gcc -g $flags -shared -fPIC -nostdlib -Wl,--build-id -o p src/p.c
		compare_with_addr2line
	done
	grep -q 'total:' listing
	# The helper's code counts for its own lines and is included in the totals of its callers.
	gcc -g -O2 -shared -fPIC -nostdlib -Wl,--build-id -o p src/p.c
	grep -q 'src/h.h"' listing
	run -0 grep -c '/\* parse total: ' listing
}

@test "opannotate sums a template instantiated three times, and a unity build" {
	need g++
	cat >src/a.h <<'END'
template <class T> __attribute__((noinline)) T twice(T x)
{
	return x + x;
}
END
	printf '#include "a.h"\nint first(int x) { return twice(x); }\n' >src/a.cc
	printf 'long second(long x) { return twice(x); }\ndouble third(double x) { return twice(x); }\n' >src/b.cc
	printf '#include "a.cc"\n#include "b.cc"\n' >src/all.cc
	g++ -gdwarf-4 -g -O1 -shared -fPIC -nostdlib -Wl,--build-id -o p src/all.cc
	# (With DWARF 5, addr2line of binutils 2.40 prints the wrong file.)
	compare_with_addr2line
	grep -q '/\* .*twice<.*, .*twice<.*, .*twice<.*, total: ' listing
	grep -q 'src/a.cc"' listing
	grep -q 'src/b.cc"' listing
}

@test "opannotate shows the sources in an archive after the originals are gone" {
	make_library
	make_session
	"$OPROFILE_LINKS/oparchive" --session-dir "$DIR" -o kept --sources --search-dirs / >/dev/null 2>&1
	mv src gone
	timeout 60 "$OPROFILE_LINKS/opannotate" -s archive:kept >listing
	grep -q '   900 90.0000 :	work();' listing
}

@test "--assembly prints OProfile's layout, jump targets and samples inside an instruction" {
	cat >a.s <<'END'
	.text
	.globl leaf
	.type leaf, @function
leaf:
	movabs $0x1122334455667788,%rax
	test %rax,%rax
	jne leaf
	ret
	.size leaf, . - leaf
	.globl other
	.type other, @function
other:
	call leaf
	nop
	ret
	.size other, . - other
END
	[ "$(uname -m)" = x86_64 ] || skip "code of x86-64"
	"$OPROFILE" --version | grep -q 'libopcodes *yes' || skip "texts are those of objdump"
	gcc -c -o a.o a.s
	ld --build-id=0x1111111111111111 -e leaf -Ttext=0x401000 -o a a.o
	local t=$(($(text_offset a)))
	"$WRITE_SESSION" "$DIR/samples/current/segment-000001" <<END
info|0||$(uname -n)||1000000000|0||
event|A|a|1|100|0|0
image|1|$PWD/a|1111111111111111
thread|7|7|work|0|0|/
sample|0|0|0|2000|1|0+$((t))|3
sample|0|0|0|2000|1|0+$((t + 4))|2
sample|0|0|0|2000|1|0+$((t + 13))|4
sample|0|0|0|2000|1|0+$((t + 21))|1
END
	run -0 --separate-stderr opannotate --assembly
	diff <(printf '%s\n' "$output" | sed "1,/^ \*\/$/d; s,$PWD/,,") - <<'END'

a:     file format elf64-x86-64


Disassembly of section .text:

0000000000401000 <leaf>: /* leaf total:      9 90.0000 */
     5 50.0000 :  401000:	movabs $0x1122334455667788,%rax
               :  40100a:	test   %rax,%rax
     4 40.0000 :  40100d:	jne    401000 <leaf>
               :  40100f:	ret

0000000000401010 <other>: /* other total:      1 10.0000 */
               :  401010:	call   401000 <leaf>
     1 10.0000 :  401015:	nop
               :  401016:	ret
/* 
 * Samples
 * 
 *     10 100.000 in the instructions shown
 *     10 100.000 in all
 * 
 * The event is not precise: a sample can belong to the instruction executed just before.
 */
END
	[ -z "$stderr" ]
	run -0 --separate-stderr opannotate -a --top 1
	[[ $output == *"      1 10.0000 in functions not shown"* && $output != *"<other>"* ]]
	run -0 --separate-stderr opannotate -a --threshold 50
	[[ $output == *"      1 10.0000 in code not shown"* && $output != *"<other>"* ]]
	run -0 --separate-stderr opannotate -a --hottest --context 0
	[[ $output == *"0x1122334455667788"* && $output != *"jne"* ]]
	# The binary was replaced since the recording, so its code must not be shown.
	ld --build-id=0x3333333333333333 -e leaf -Ttext=0x401000 -o a a.o
	run -0 --separate-stderr opannotate -a
	[[ $stderr == *"'$PWD/a': binary not found; showing addresses only"* ]]
	[[ $output == *"     4 40.0000 :"*":	(no code)"* && $output == *"     10 100.000 in the instructions shown"* ]]
}

@test "--assembly prints the same instructions as objdump" {
	cat >p.c <<'END'
#include <string.h>
double table[64];
__attribute__((noinline)) double work(int n, char *text)
{
	double sum = 0;
	for (int i = 0; i < n; i++) {
		table[i % 64] += i / 3.0;
		sum += table[(i * 7) % 64] > 2 ? text[i % 4] : 1;
		if (i % 5 == 0)
			memset(text, i, 4);
	}
	return sum;
}
int main(int argc, char **argv)
{
	return work(argc * 1000, argv[0]) > 5;
}
END
	gcc -O3 -o p p.c
	local base=$(($(text_offset p))) text
	text=0x$(readelf -SW p | sed -n 's/.* \.text *PROGBITS *\([0-9a-f]*\).*/\1/p')
	local work=0x$(nm p | awk '$3 == "work" {print $1}') main=0x$(nm p | awk '$3 == "main" {print $1}')
	"$WRITE_SESSION" "$DIR/samples/current/segment-000001" <<END
info|0||$(uname -n)||1000000000|0||
event|A|a|1|100|0|0
image|1|$PWD/p|$(build_id p)
thread|7|7|work|0|0|/
sample|0|0|0|2000|1|0+$((work - text + base))|3
sample|0|0|0|2000|1|0+$((main - text + base))|2
END
	opannotate -a | grep ':	' | sed 's/^.*: *\([0-9a-f]*\):	.*/\1/' | sort >ours
	nm -S p | awk '$4 == "work" || $4 == "main" {print $1, $2}' | while read -r start size; do
		objdump -d --no-show-raw-insn --start-address="0x$start" \
			--stop-address="$((0x$start + 0x$size))" p
	done | sed -n 's/^ *\([0-9a-f]*\):	.*/\1/p' | sort >theirs
	[ "$(wc -l <theirs)" -gt 40 ]
	diff theirs ours
	opannotate -a | grep -q 'memset@plt>\|<main'
	"$OPROFILE" --version | grep -q 'libopcodes *yes' || skip "texts are those of Zydis"
	[ "$(grep -c '# [0-9a-f]* <table>$' <(opannotate -a))" -eq "$(objdump -d --disassemble=work p | grep -c '<table>')" ]
	# Without symbols: objdump also names the symbol before an address that none covers.
	opannotate -a | sed -n 's/ <[^>]*>//; s/^.*: *\([0-9a-f]*:	.*[^ ]\) *$/\1/p' | sort >ours
	nm -S p | awk '$4 == "work" || $4 == "main" {print $1, $2}' | while read -r start size; do
		objdump -d --no-show-raw-insn --start-address="0x$start" \
			--stop-address="$((0x$start + 0x$size))" p
	done | sed -n 's/ <[^>]*>//; s/^ *\([0-9a-f]*:	.*[^ ]\) *$/\1/p' | sort >theirs
	diff theirs ours
}

@test "--assembly rejects options that are about sources" {
	run -1 opannotate -a -o out
	[[ $output == *"--output-dir is incompatible with --assembly"* ]]
	run -1 opannotate -a --include-file x
	[[ $output == *"--exclude[include]-file options not supported with --assembly"* ]]
}
