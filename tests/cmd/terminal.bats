#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The layout of reports on a terminal; none of it may reach files and pipes.

bats_require_minimum_version 1.5.0

setup_file() {
	export DIR="$BATS_FILE_TMPDIR"
	mkdir -p "$DIR/long/samples/current"
	describe_long | "$WRITE_SESSION" "$DIR/long/samples/current/segment-000001"
	export LONG="$DIR/long"
}

setup() {
	# Make the test independent of the terminal it runs on.
	unset COLUMNS NO_COLOR PAGER OPROFILE_PAGER LESS
	export TERM=xterm LC_ALL=C.UTF-8
}

# Describes long names, East Asian names, and a name that would set a terminal's title.
describe_long() {
	local escape=$'\033]0;owned\007'
	cat <<-END
		info|2400|AMD64 generic|host1||1000
		event|CPU_CLK_UNHALTED|CPU Clocks not Halted|3|100000|0|0
		image|1|/usr/bin/a-program-with-a-rather-long-name-for-a-binary
		image|1|/usr/lib/x86_64-linux-gnu/libsomething-with-a-long-name.so.6.0.30
		image|2|[kernel.kallsyms]
		image|1|/tmp/evil-$escape-name
		image|1|/tmp/grüße/測試程序測試程序測試程序測試程序測試程序.so
		image|6|//anon||4242|0x7f0000000000|0x7f0000010fff
		thread|1|1|prog|0|0|/user.slice
		thread|2|2|other|1|0|/user.slice
		sample|0|0|0|2000|1|0+0x10|900
		sample|0|0|0|2000|1|1+0x10|60
		sample|0|0|0|2000|1|2+0x10|12
		sample|1|0|0|2000|1|3+0x10|8
		sample|1|0|0|2000|1|4+0x10|3
		sample|1|0|0|2000|1|5+0x10|1
	END
}

report() {
	"$OPROFILE" report --session-dir "$LONG" "$@" 2>"$BATS_TEST_TMPDIR/stderr"
}

# on_terminal COLUMNS OPTIONS...: runs the report without pager and colour, and discards warnings.
on_terminal() {
	local columns=$1
	shift
	on_terminal_as_is "$columns" --no-pager --color=never "$@"
}

on_terminal_as_is() {
	local columns=$1
	shift
	"$SOURCE_ROOT/tests/cmd/on_terminal.py" --stderr "$BATS_TEST_TMPDIR/stderr" \
		"$columns" "$OPROFILE" report --session-dir "$LONG" "$@"
}

# Runs a command with both standard output and standard error on the terminal.
on_whole_terminal() {
	"$SOURCE_ROOT/tests/cmd/on_terminal.py" "$@"
}

# Prints the columns of the widest line after the header; all bytes of the line must be valid
# characters.
widest_row() {
	python3 -c '
import sys, unicodedata
wide = 0
for line in sys.stdin.buffer.read().decode().splitlines():
    assert all(c == "\t" or c.isprintable() for c in line), ascii(line)
    if line.startswith(("CPU: ", "Counted ")):
        continue
    line = line.expandtabs()
    wide = max(wide, sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line))
print(wide)'
}

# Prints the counts and percentages alone.
numbers() {
	grep -oE '^[[:space:]]*[0-9]+ +[0-9]+\.[0-9]+' | tr -s ' \t' ' '
}

@test "no row is wider than the terminal, and no number is shortened" {
	for options in "" "-l" "--by image" "--by app,symbol" "-n -l -r"; do
		for columns in 40 80 200; do
			on_terminal $columns $options > "$BATS_TEST_TMPDIR/screen"
			wide=$(widest_row < "$BATS_TEST_TMPDIR/screen")
			echo "$options, $columns columns: $wide"
			[ "$wide" -gt 20 ]
			[ "$wide" -le "$columns" ]
			diff <(numbers < "$BATS_TEST_TMPDIR/screen") <(report $options | numbers)
		done
	done
}

@test "the report fits the terminal with several columns of numbers" {
	for options in "-l -a -w" "-d" "--by pid,tid,cpu,image,symbol"; do
		on_terminal 80 $options > "$BATS_TEST_TMPDIR/screen"
		[ "$(widest_row < "$BATS_TEST_TMPDIR/screen")" -le 80 ]
	done
}

# 3 and 7 of 80 columns are for the numbers and 4 are blanks, which leaves 66. Each name gets at
# least 7; the other 45 are divided into 11, 11 and 23.
@test "the list of symbols fits 80 columns" {
	diff -u - <(on_terminal 80 -l -n) <<-'END'
		900 91.4634 a-program…a-binary a-program…a-binary /usr/bin/a-prog…e-for-a-binary
		60   6.0976 libsometh…o.6.0.30 a-program…a-binary /usr/lib/x86_64…name.so.6.0.30
		12   1.2195 no-vmlinux         a-program…a-binary /no-vmlinux
		8    0.8130 evil-\x1b…x07-name libsometh…o.6.0.30 /…/evil-\x1b]0;owned\x07-name
		3    0.3049 測試程序…程序.so   libsometh…o.6.0.30 /tmp/grüße/測試…序測試程序.so
		1    0.1016 anon (tgi…0010fff) libsometh…o.6.0.30 anon (tgid:4242…x7f0000010fff)
	END
}

@test "the image summary fits 50 columns" {
	diff -u - <(on_terminal 50 | tail -n +3 | sed 's/\t/>/') <<-'END'
		CPU_CLK_UNHALT...|
		  samples|      %|
		------------------
		      972 98.7805 a-program-with-a…me-for-a-binary
		>CPU_CLK_UNHALT...|
		>  samples|      %|
		>------------------
		>      900 92.5926 a-program-wi…or-a-binary
		>       60  6.1728 libsomething…e.so.6.0.30
		>       12  1.2346 no-vmlinux
		       12  1.2195 libsomething-wit…-name.so.6.0.30
		>CPU_CLK_UNHALT...|
		>  samples|      %|
		>------------------
		>        8 66.6667 evil-\x1b]0;…ed\x07-name
		>        3 25.0000 測試程序測試…測試程序.so
		>        1  8.3333 anon (tgid:4…0000010fff)
	END
}

@test "a wide terminal gets OProfile's layout" {
	describe_long | sed 's/-with-a-[a-z-]*//; /evil/s/evil.*$/short/; s/測.*\.so/short.so/' |
		grep -v 'sample|1|0|0|2000|1|5' > "$BATS_TEST_TMPDIR/description"
	mkdir -p "$BATS_TEST_TMPDIR/short/samples/current"
	"$WRITE_SESSION" "$BATS_TEST_TMPDIR/short/samples/current/segment-000001" \
		< "$BATS_TEST_TMPDIR/description"
	LONG=$BATS_TEST_TMPDIR/short
	for options in "" "-l" "-l -a -w" "-d" "--by image,pid"; do
		diff -u <(report $options) <(on_terminal 200 $options)
	done
}

@test "a terminal without UTF-8 shows ... for the ellipsis" {
	LC_ALL=C run on_terminal 60 -l
	[[ $output == *"..."* ]]
	[[ $output != *"…"* ]]
	[[ $output == *'/gr\xc3\xbc'* || $output == *'\x'* ]]
}

@test "a pipe and a file get complete names at any terminal width" {
	for options in "" "-l" "-d -a" "--by image,symbol" "--by image --csv" "--quality"; do
		env -u TERM -u LC_ALL "$OPROFILE" report --session-dir "$LONG" $options \
			> "$BATS_TEST_TMPDIR/plain" 2>/dev/null
		report $options | cat | cmp - "$BATS_TEST_TMPDIR/plain"
		COLUMNS=40 report $options | cat | cmp - "$BATS_TEST_TMPDIR/plain"
		on_terminal_as_is 40 --color=always -o "$BATS_TEST_TMPDIR/file" $options
		cmp "$BATS_TEST_TMPDIR/file" "$BATS_TEST_TMPDIR/plain"
	done
	# Colours add only escape sequences to the output.
	report -l --color=always | sed 's/\x1b\[[0-9]*m//g' | cmp - <(report -l)
	report --color=always | sed 's/\x1b\[[0-9]*m//g' | cmp - <(report)
}

@test "-f and exports are never shortened" {
	on_terminal 40 -l -f > "$BATS_TEST_TMPDIR/screen"
	grep -q ' /usr/lib/x86_64-linux-gnu/libsomething-with-a-long-name.so.6.0.30 ' \
		"$BATS_TEST_TMPDIR/screen"
	on_terminal 40 -f > "$BATS_TEST_TMPDIR/screen"
	grep -q '/usr/bin/a-program-with-a-rather-long-name-for-a-binary$' "$BATS_TEST_TMPDIR/screen"
	on_terminal 40 --by image --csv > "$BATS_TEST_TMPDIR/screen"
	grep -q '^/usr/lib/x86_64-linux-gnu/libsomething-with-a-long-name.so.6.0.30,60,' \
		"$BATS_TEST_TMPDIR/screen"
	on_terminal 40 --by image --json > "$BATS_TEST_TMPDIR/screen"
	python3 -m json.tool "$BATS_TEST_TMPDIR/screen" > /dev/null
}

@test "terminal control sequences in names are escaped" {
	for options in "" "-l" "-f" "-l -f" "--by image --csv" "--quality" "-l --color=always"; do
		on_terminal 80 $options > "$BATS_TEST_TMPDIR/screen"
		if grep -q $'\033]\|\007' "$BATS_TEST_TMPDIR/screen"; then
			echo "with '$options' it can"
			return 1
		fi
		if ! grep -q 'evil-' "$BATS_TEST_TMPDIR/screen"; then
			echo "with '$options' it is not there:"
			cat -v "$BATS_TEST_TMPDIR/screen" "$BATS_TEST_TMPDIR/stderr"
			return 1
		fi
	done
	# Names do not control the terminal on standard error either.
	on_whole_terminal 80 "$OPROFILE" report --session-dir "$LONG" --no-pager -l \
		> "$BATS_TEST_TMPDIR/screen"
	grep -q 'warning: /tmp/evil-\\x1b]0;owned\\x07-name could' "$BATS_TEST_TMPDIR/screen"
	# Names are also escaped in a file or pipe, which can be displayed later with less or cat.
	report -f -l > "$BATS_TEST_TMPDIR/piped"
	grep -qF 'evil-\x1b]0;owned\x07-name could' "$BATS_TEST_TMPDIR/stderr"
	grep -qF '/tmp/evil-\x1b]0;owned\x07-name' "$BATS_TEST_TMPDIR/piped"
	report -f --color=always >> "$BATS_TEST_TMPDIR/piped"
	report -o "$BATS_TEST_TMPDIR/written" -f
	report -c >> "$BATS_TEST_TMPDIR/written"
	run -1 --separate-stderr "$OPROFILE" where --session-dir "$LONG" "*evil*"
	echo "$output" >> "$BATS_TEST_TMPDIR/written"
	"$OPROFILE" dump --session-dir "$LONG" >> "$BATS_TEST_TMPDIR/written"
	[ "$(grep -cF '\x1b]0;owned\x07' "$BATS_TEST_TMPDIR/written")" -ge 5 ]
	run ! grep -q $'\033]\|\007' "$BATS_TEST_TMPDIR/piped" "$BATS_TEST_TMPDIR/written"
}

@test "a name cannot start a new line, and CSV is UTF-8" {
	mkdir -p "$BATS_TEST_TMPDIR/lines/samples/current"
	printf '%s\n' 'info|2400|AMD64 generic|host1||1000' \
		'event|CPU_CLK_UNHALTED|CPU Clocks not Halted|3|100000|0|0' \
		'image|1|/usr/bin/plain' $'thread|1|1|a\rb\xff|0|0|/' 'sample|0|0|0|2000|1|0+0x10|9' |
		"$WRITE_SESSION" "$BATS_TEST_TMPDIR/lines/samples/current/segment-000001"
	"$OPROFILE" report --session-dir "$BATS_TEST_TMPDIR/lines" --by comm > "$BATS_TEST_TMPDIR/text"
	grep -qF 'a\x0db\xff' "$BATS_TEST_TMPDIR/text"
	"$OPROFILE" report --session-dir "$BATS_TEST_TMPDIR/lines" --by comm --csv -n > "$BATS_TEST_TMPDIR/csv"
	cmp "$BATS_TEST_TMPDIR/csv" <(printf 'a\\x0db\xef\xbf\xbd,9,9,100\r\n')
}

@test "COLUMNS is the width if it is set" {
	COLUMNS=50 report > "$BATS_TEST_TMPDIR/file"
	COLUMNS=50 run on_whole_terminal 200 env COLUMNS=50 "$OPROFILE" report --no-pager \
		--color=never --session-dir "$LONG" -l -n
	[ "$(grep -v warning: <<< "$output" | widest_row)" -le 50 ]
	run on_whole_terminal 66 env COLUMNS=none "$OPROFILE" report --no-pager \
		--color=never --session-dir "$LONG" -l -n
	[ "$(grep -v warning: <<< "$output" | widest_row)" -le 66 ]
}

@test "titles are bold and large shares are coloured" {
	on_terminal_as_is 80 --no-pager -n -l > "$BATS_TEST_TMPDIR/screen"
	diff -u - <(grep -oP '^[0-9]+ +(\x1b\[[0-9]+m)? *[0-9.]+(\x1b\[m)?' \
		"$BATS_TEST_TMPDIR/screen" | tr '\033' '^') <<-'END'
		900 ^[31m91.4634^[m
		60  ^[31m 6.0976^[m
		12  ^[32m 1.2195^[m
		8   ^[32m 0.8130^[m
		3    0.3049
		1    0.1016
	END
	on_terminal_as_is 80 --no-pager | grep $'^\033\[1m  samples|      %|\033\[m$'
	on_terminal_as_is 80 --no-pager -l | grep $'^\033\[1msamples\033\[m '
}

@test "NO_COLOR, dumb terminals and --color control colours" {
	local escape=$'\033['
	[[ $(on_terminal_as_is 80) == *"$escape"* ]]
	[[ $(on_terminal_as_is 80 --colour=never) != *"$escape"* ]]
	[[ $(NO_COLOR=1 on_terminal_as_is 80) != *"$escape"* ]]
	[[ $(NO_COLOR= on_terminal_as_is 80) == *"$escape"* ]]
	[[ $(NO_COLOR=1 on_terminal_as_is 80 --color) == *"$escape"* ]]
	[[ $(TERM=dumb on_terminal_as_is 80) != *"$escape"* ]]
	[[ $(TERM=dumb on_terminal_as_is 80 --color=always) == *"$escape"* ]]
	[[ $(report --color=auto) != *"$escape"* ]]
	[[ $(report --color) == *"$escape"* ]]
	run -1 "$OPROFILE" report --session-dir "$LONG" --color=blue
	[[ $output == *"--color=blue (auto, always, never)"* ]]
}

# Makes a pager that saves its input.
fake_pager() {
	cat > "$BATS_TEST_TMPDIR/pager" <<-END
		#!/bin/sh
		echo "LESS=\$LESS \$*" > "$BATS_TEST_TMPDIR/paged"
		cat >> "$BATS_TEST_TMPDIR/paged"
		echo "[\$1 was here]"
	END
	chmod +x "$BATS_TEST_TMPDIR/pager"
}

@test "the report uses a pager on a terminal" {
	fake_pager
	PAGER="$BATS_TEST_TMPDIR/pager first" run -0 on_whole_terminal 80 \
		"$OPROFILE" report --session-dir "$LONG" -l --color=never
	[[ $output == *"[first was here]"* ]]
	[ "$(head -n 1 "$BATS_TEST_TMPDIR/paged")" = "LESS=FRX first" ]
	tail -n +2 "$BATS_TEST_TMPDIR/paged" | cmp - <(on_terminal 80 -l)
	# OPROFILE_PAGER takes precedence, and the user's LESS is kept.
	LESS=S PAGER=false OPROFILE_PAGER="'$BATS_TEST_TMPDIR/pager' second" run -0 \
		on_whole_terminal 80 "$OPROFILE" report --session-dir "$LONG"
	[[ $output == *"[second was here]"* ]]
	[ "$(head -n 1 "$BATS_TEST_TMPDIR/paged")" = "LESS=S second" ]
}

@test "no pager starts with --no-pager, PAGER=cat, a dumb terminal or an output file" {
	fake_pager
	export PAGER="$BATS_TEST_TMPDIR/pager first"
	local command=("$OPROFILE" report --session-dir "$LONG")
	on_whole_terminal 80 "${command[@]}" --no-pager | grep '^ *972 '
	OPROFILE_PAGER= on_whole_terminal 80 "${command[@]}" | grep '^ *972 '
	OPROFILE_PAGER=cat on_whole_terminal 80 "${command[@]}" | grep '^ *972 '
	TERM=dumb on_whole_terminal 80 "${command[@]}" | grep '^ *972 '
	on_terminal_as_is 80 | grep '^ *972 ' # the standard error is a file
	report | grep '^ *972 '
	on_whole_terminal 80 "${command[@]}" -o "$BATS_TEST_TMPDIR/file"
	run -1 on_whole_terminal 80 "${command[@]}" event:NONE
	[ ! -e "$BATS_TEST_TMPDIR/paged" ]
}

@test "the report is printed directly if the pager cannot be started" {
	for pager in "$BATS_TEST_TMPDIR/none" "'$BATS_TEST_TMPDIR/n o n e' -x" /; do
		PAGER=$pager run -0 on_whole_terminal 80 "$OPROFILE" report --session-dir "$LONG" \
			--color=never
		[[ $output == *"  972 98.7805 a-program"* ]]
	done
	# If less is not installed, there is no message about it.
	mkdir "$BATS_TEST_TMPDIR/bin"
	ln -s "$(command -v sh)" "$BATS_TEST_TMPDIR/bin/sh"
	run -0 on_whole_terminal 80 env PATH="$BATS_TEST_TMPDIR/bin" "$OPROFILE" report \
		--session-dir "$LONG" --color=never comm:prog
	[[ $output == *"  972 100.000 a-program"* ]]
	[[ $output != *"less"* ]]
}

@test "quitting the pager ends the report silently with status 0" {
	# The session has more names than a pipe holds.
	{
		echo 'info|0|cpu|h||1'
		echo 'event|E||3|1|0|0'
		echo 'image|1|/a'
		echo 'thread|1|1|t|0|0'
		for ((i = 0; i < 9000; i++)); do
			echo "sample|0|0|0|2|1|0+$i|1"
		done
	} | "$WRITE_SESSION" "$BATS_TEST_TMPDIR/segment-000001"
	for pager in "head -n 1" "exit 0" "exit 5" 'kill -INT $$'; do
		PAGER=$pager run -0 on_whole_terminal 80 "$OPROFILE" report \
			"$BATS_TEST_TMPDIR" --by address
		[[ $output != *"write"* ]]
		[[ $output != *"roken pipe"* ]]
	done
	PAGER="head -n 1" run -0 on_whole_terminal 80 "$OPROFILE" report \
		"$BATS_TEST_TMPDIR" --by address
	[ "$(grep -v 'warning: /a could not be found' <<< "$output")" = "CPU: cpu" ]
}

@test "Ctrl-C goes to the pager, and opreport waits for it" {
	cat > "$BATS_TEST_TMPDIR/pager" <<-'END'
		#!/bin/bash
		trap 'echo interrupted' INT
		cat
		echo ready
		for i in 1 2 3 4 5 6 7 8 9 10; do
			sleep 0.1 &
			wait
		done
		echo over
	END
	chmod +x "$BATS_TEST_TMPDIR/pager"
	PAGER=$BATS_TEST_TMPDIR/pager run -0 on_whole_terminal --press ^C --after ready \
		80 "$OPROFILE" report --session-dir "$LONG"
	[[ $output == *"interrupted"*"over"* ]]
}

@test "a full disk is an error, also with a pager" {
	[ -w /dev/full ] || skip "needs /dev/full"
	run -1 bash -c '"$OPROFILE" report --session-dir "$LONG" > /dev/full 2>"$1"; s=$?
		tail -n 1 "$1"; exit $s' - "$BATS_TEST_TMPDIR/stderr"
	[[ $output == *"cannot write 'standard output'"* ]]
}
