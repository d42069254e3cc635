# SPDX-License-Identifier: GPL-2.0-or-later
# Source lines in reports: -g, the keys line, file, inline and function-line, --sort debug.
# Expected results are written by hand; the lines of a compiled program come from binutils.
load helpers

bats_require_minimum_version 1.5.0

setup_file()
{
	export DIR=$BATS_FILE_TMPDIR/session
	export BIN=$BATS_FILE_TMPDIR/bin
	mkdir -p "$DIR/samples/current" "$BIN/src/deep"
	# Functions of 16 bytes with hand-written line numbers.
	cat >"$BIN/p.s" <<'END'
	.file 1 "/src/deep/a.c"
	.file 2 "/src/other/a.c"
	.text
	.globl first
	.type first, @function
first:
	.loc 1 9
	.rept 8
	nop
	.endr
	.loc 1 100
	.rept 8
	nop
	.endr
	.size first, . - first
	.globl second
	.type second, @function
second:
	.loc 2 9
	.rept 4
	nop
	.endr
	.loc 1 9
	.rept 12
	nop
	.endr
	.size second, . - second
END
	cat >"$BIN/plain.s" <<'END'
	.text
	.globl third
	.type third, @function
third:
	.rept 16
	nop
	.endr
	.size third, . - third
END
	gcc -c -o "$BIN/p.o" "$BIN/p.s"
	gcc -c -o "$BIN/plain.o" "$BIN/plain.s"
	ld -shared --build-id=0x1111111111111111 -o "$BIN/p" "$BIN/p.o"
	ld -shared --build-id=0x2222222222222222 -o "$BIN/q" "$BIN/plain.o"
	local p q
	p=$(($(text_offset "$BIN/p")))
	q=$(($(text_offset "$BIN/q")))
	"$WRITE_SESSION" "$DIR/samples/current/segment-000001" <<END
info|0||host||1000000000|0||
event|TIMER|time|3|0|1000|0
image|1|$BIN/p|1111111111111111
image|1|$BIN/q|2222222222222222
thread|7|7|work|0|0|/
sample|0|0|0|2000|1|0+$((p + 2))|10
sample|0|0|0|2000|1|0+$((p + 8))|20
sample|0|0|0|2000|1|0+$((p + 16))|30
sample|0|0|0|2000|1|0+$((p + 20))|35
sample|0|0|0|2000|1|1+$((q + 4))|5
END
}

setup()
{
	cd "$BATS_TEST_TMPDIR"
	export XDG_CACHE_HOME=$PWD/cache
}

opreport()
{
	"$OPROFILE_LINKS/opreport" --session-dir "$DIR" "$@"
}

rows()
{
	opreport --csv "$@" 2>/dev/null | tail -n +2 | tr -d '\r'
}

@test "--symbols -g prints the line where each function begins" {
	run -0 --separate-stderr opreport --symbols -g --no-header --exclude-dependent
	diff <(printf '%s\n' "$output") - <<'END'
65       68.4211  a.c:9                       second
30       31.5789  a.c:9                       first
END
	run -0 --separate-stderr opreport --symbols --debug-info -f --no-header -w image:"$BIN/p" \
		--exclude-dependent
	diff <(printf '%s\n' "$output" | cut -d' ' -f2- | sed 's/^ *//; s/  */ /g') - <<'END'
65 68.4211 /src/other/a.c:9 second
30 31.5789 /src/deep/a.c:9 first
END
}

@test "-g marks addresses without a line" {
	run -0 --separate-stderr opreport -g -l --no-header lib-image:"$BIN/q"
	[[ $output == *"(no location information)  "*third ]]
}

@test "-g without functions is rejected" {
	run -1 opreport -g
	[[ $output == *"--debug-info is meaningless without --symbols"* ]]
}

@test "--details -g prints the line of each address" {
	run -0 --separate-stderr opreport -gd --no-header --exclude-dependent
	diff <(printf '%s\n' "$output" | sed 's/^\( *\)[0-9a-f]*/\1VMA/') - <<'END'
VMA 65       68.4211  a.c:9                       second
  VMA 30       46.1538  a.c:9
  VMA 35       53.8462  a.c:9
VMA 30       31.5789  a.c:9                       first
  VMA 10       33.3333  a.c:9
  VMA 20       66.6667  a.c:100
END
	run -0 --separate-stderr opreport -gdf --no-header --exclude-dependent
	[[ $output == *" 53.8462  /src/deep/a.c:9"* ]]
}

# Applies the regular expressions of kcachegrind's op2calltree, and counts as it does.
@test "op2calltree can read the output of -gdf" {
	opreport -gdf 2>/dev/null | python3 -c '
import re, sys
lines = [line.rstrip("\n") for line in sys.stdin]
events = sum(bool(re.match(r"Counted\s*\S+|Profiling through timer", l)) for l in lines)
assert events == 1, events
title = next(i for i, l in enumerate(lines) if l.startswith("vma"))
assert "image" in lines[title]
cost = {}
for line in lines[title + 1:]:
    symbol = re.match(r"([0-9a-fA-F]+)\s*(.*)$", line)
    sample = re.match(r"\s+([0-9a-fA-F]+)\s*(.*)$", line)
    if symbol:
        rest = re.match(r"\d+\s+\S+\s+(.*)", symbol[2])[1]
        rest = re.sub(r"^\(no location information\)\s+|^\S+?:\d+\s+", "", rest)
        image, app, name = re.match(r"(\S+)\s+(?:(\S+)\s+)?(\S+)$", rest).groups()
        continue
    assert sample, line
    count, rest = re.match(r"(\d+)\s+\S+\s+(.*)", sample[2]).groups()
    where = re.match(r"(\S+?:\d+)$", rest)
    key = name, where[1] if where else rest
    cost[key] = cost.get(key, 0) + int(count)
assert cost == {
    ("first", "/src/deep/a.c:9"): 10, ("first", "/src/deep/a.c:100"): 20,
    ("second", "/src/other/a.c:9"): 30, ("second", "/src/deep/a.c:9"): 35,
    ("third", "(no location information)"): 5,
}, cost
'
}

@test "--sort debug sorts by file, then by line number" {
	run -0 --separate-stderr opreport -l --sort debug,symbol --no-header --exclude-dependent
	[[ ${lines[0]} == *first && ${lines[1]} == *second ]]
	run -0 --separate-stderr opreport -l --sort debug,symbol --reverse --no-header \
		--exclude-dependent
	[[ ${lines[0]} == *second && ${lines[1]} == *first ]]
}

@test "--by accepts line, file and function-line" {
	diff <(rows --by line | cut -d, -f1,2) - <<'END'
/src/deep/a.c:9,45
/src/other/a.c:9,30
/src/deep/a.c:100,20
(no location information),5
END
	diff <(rows --by srcline) <(rows --by line)
	diff <(rows --by srcfile | cut -d, -f1,2) - <<'END'
/src/deep/a.c,65
/src/other/a.c,30
(no location information),5
END
	diff <(rows --by function-line,symbol,line | cut -d, -f1-4) - <<'END'
/src/other/a.c:9,second,/src/deep/a.c:9,35
/src/other/a.c:9,second,/src/other/a.c:9,30
/src/deep/a.c:9,first,/src/deep/a.c:100,20
/src/deep/a.c:9,first,/src/deep/a.c:9,10
(no location information),third,(no location information),5
END
	run -0 --separate-stderr opreport --by line --no-header
	diff <(printf '%s\n' "$output") - <<'END'
45       45.0000  a.c:9
30       30.0000  a.c:9
20       20.0000  a.c:100
5         5.0000  (no location information)
END
}

@test "an index of another version is ignored, and --no-cache writes none" {
	local name=1111111111111111.lines
	rows --by line --no-cache >without
	[ ! -e "$XDG_CACHE_HOME" ]
	rows --by line >with
	diff without with
	# An index of so small a binary would cost more than it saves.
	[ ! -e "$XDG_CACHE_HOME/oprofile/$name" ]
	"$OPROFILE" cache --build "$BIN/p"
	[ -e "$XDG_CACHE_HOME/oprofile/$name" ]
	rows --by line | diff without -
	for byte in 8 70 150; do
		printf X | dd of="$XDG_CACHE_HOME/oprofile/$name" bs=1 seek="$byte" \
			conv=notrunc status=none
		rows --by line | diff without -
	done
}

# The index is written after the report is printed; the next reader waits for it.
@test "a report reads the index that an earlier report wrote" {
	{
		for i in {1..300}; do
			printf 'int f%d(int x)\n{\n\tif (x)\n\t\treturn x * %d;\n' "$i" "$i"
			printf '\treturn x + %d;\n}\n' "$i"
		done
	} >many.c
	gcc -g -O1 -shared -fPIC -nostdlib -Wl,--build-id=0x4444444444444444 -o many.so many.c
	local base=$(($(text_offset many.so)))
	mkdir -p dir/samples/current
	"$WRITE_SESSION" dir/samples/current/segment-000001 <<END
info|0||host||1000000000|0||
event|TIMER|time|3|0|1000|0
image|1|$PWD/many.so|4444444444444444
thread|7|7|work|0|0|/
sample|0|0|0|2000|1|0+$base|1
END
	for i in 1 2 3 4 5; do
		rm -rf "$XDG_CACHE_HOME"
		cp many.so with.so
		"$OPROFILE_LINKS/opreport" --session-dir dir --by line --csv >first
		# Without debug information, the lines can only come from the index.
		strip -g many.so
		"$OPROFILE_LINKS/opreport" --session-dir dir --by line --csv >second
		mv with.so many.so
		grep -q "many.c:[1-6]," first
		diff first second
		"$OPROFILE" cache --list >list
		grep "^4444444444444444 .* 1/1 .*many.so" list
	done
	# If the cache directory cannot be made, the report still succeeds.
	XDG_CACHE_HOME=/proc/none "$OPROFILE_LINKS/opreport" --session-dir dir --by line \
		--csv >third
	diff first third
	# A reader of the report gets end of file before the index is written: the writer has
	# closed its files.
	rm -rf "$XDG_CACHE_HOME"
	timeout 30 "$OPROFILE_LINKS/opreport" --session-dir dir --by line --csv | diff first -
}

# Compares each address of a real program with binutils.
@test "lines and inlined functions agree with addr2line" {
	cat >i.c <<'END'
static inline __attribute__((always_inline)) unsigned mix(unsigned x)
{
	x ^= x << 13;
	return x ^ x >> 17;
}
static inline __attribute__((always_inline)) unsigned twice(unsigned x)
{
	return mix(mix(x) + 3);
}
__attribute__((noinline)) unsigned work(unsigned n)
{
	unsigned x = n;

	for (unsigned i = 0; i < n; i++)
		x = twice(x) + i;
	return x;
}
END
	gcc -g -O2 -shared -fPIC -nostdlib -Wl,--build-id=0x3333333333333333 -o i.so i.c
	local start=0x$(nm i.so | awk '$3 == "work" {print $1}')
	local base=$(($(text_offset i.so)))
	local text=0x$(readelf -SW i.so | sed -n 's/.* \.text *PROGBITS *\([0-9a-f]*\).*/\1/p')
	local size=0x$(nm -S i.so | awk '$4 == "work" {print $2}')
	mkdir -p dir/samples/current
	{
		echo "info|0||host||1000000000|0||"
		echo "event|TIMER|time|3|0|1000|0"
		echo "image|1|$PWD/i.so|3333333333333333"
		echo "thread|7|7|work|0|0|/"
		for ((i = 0; i < size; i++)); do
			echo "sample|0|0|0|2000|1|0+$((start - text + base + i))|1"
		done
	} | "$WRITE_SESSION" dir/samples/current/segment-000001
	for ((i = 0; i < size; i++)); do
		printf '0x%x\n' $((start + i))
	done >addresses
	while read -r address; do
		addr2line -f -i -e i.so "$address" |
			awk -v a="$address" 'NR == 1 {f = $0} NR == 2 {l = $1}
				END {print a "," f (NR > 2 ? " (inlined)" : "") "," l}'
	done <addresses | sort >theirs
	"$OPROFILE_LINKS/opreport" --session-dir dir --by address,inline,line --csv |
		tail -n +2 | cut -d, -f1-3 | sort >ours
	diff theirs ours
	grep -q 'mix (inlined)' ours
}

# lines_of FILE: makes a library whose lines name FILE; all such libraries have the same build-id.
lines_of()
{
	printf 'int chosen(int x)\n{\n\treturn x + 1;\n}\n' >"$1.c"
	gcc -g -O1 -shared -fPIC -nostdlib -Wl,--build-id=0x5555555555555555 -o "$1.so" "$1.c"
}

@test "another user's program with the same build-id does not change our lines" {
	need_root
	local change
	lines_of ours
	lines_of theirs
	for change in "chown 65534" "chmod o+w"; do
		rm -rf "$XDG_CACHE_HOME"
		$change theirs.so
		"$OPROFILE" cache --build theirs.so
		run -0 "$OPROFILE" addr2line -e ours.so "$(nm ours.so | awk '$3 == "chosen" { print $1 }')"
		[[ "$output" == *ours.c:* ]]
		# The index of theirs.so is used only for that file, and is found again.
		[ -n "$(find "$XDG_CACHE_HOME/oprofile" -name 'file-*.lines')" ]
		"$OPROFILE" cache --build ours.so
		run -0 "$OPROFILE" addr2line -e theirs.so "$(nm theirs.so | awk '$3 == "chosen" { print $1 }')"
		[[ "$output" == *theirs.c:* ]]
		chown 0 theirs.so
		chmod o-w theirs.so
	done
}
