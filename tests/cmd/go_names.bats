#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Stripped Go programs: functions, lines and inlined calls from .gopclntab. The first program is
# assembled here, with the layout of Go 1.20; the others are built by Go, if it is installed.

load helpers

setup_file() {
	export DIR="$BATS_FILE_TMPDIR" ID=0123456789abcdef0123456789abcdef01234567
	export HOME="$DIR/home"
	mkdir -p "$HOME" "$DIR/s/samples/current/images"
	go_program >"$DIR/t.s"
	gcc -nostdlib -static -no-pie -s -Wl,-e,code,--build-id=0x"$ID",-Ttext=0x401100 \
		-o "$DIR/t" "$DIR/t.s"
	cp "$DIR/t" "$DIR/s/samples/current/images/$ID"
	describe | write_segment "$DIR/s/samples/current"
}

# main.hot (0x20 bytes): hot.go:10, at 0x10 hot.go:12. main.work (0x40 bytes): hot.go:20; at 0x10
# main.add[...], inlined: add.go:5; at 0x20 hot.go:21; at 0x30 padding.
go_program() {
	cat <<-'END'
		.text
		code: .fill 0x60, 1, 0x90
		.section .gopclntab, "a", @progbits
		table: .long 0xfffffff1
		.byte 0, 0, 1, 8
		.quad 2, 2, code, names - table, units - table, files - table
		.quad values - table, functions - table
		names: .asciz "main.hot"
		work: .asciz "main.work"
		add: .asciz "main.add[...]"
		units: .long hot_go - files, add_go - files
		files:
		hot_go: .asciz "/nowhere/hot.go"
		add_go: .asciz "/nowhere/add.go"
		values: .byte 0
		hot_files: .byte 2, 0x20, 0
		hot_lines: .byte 22, 0x10, 4, 0x10, 0
		work_files: .byte 2, 0x10, 2, 0x10, 1, 0x10, 0
		work_lines: .byte 42, 0x10, 29, 0x10, 32, 0x10, 0
		work_calls: .byte 0, 0x10, 2, 0x10, 1, 0x10, 0
		.balign 4
		functions: .long 0, hot_record - functions, 0x20, work_record - functions, 0x60
		hot_record: .long 0, 0, 0, 0, 0
		.long hot_files - values, hot_lines - values, 0, 0, 9
		.byte 0, 0, 0, 0
		work_record: .long 0x20, work - names, 0, 0, 0
		.long work_files - values, work_lines - values, 3, 0, 18
		.byte 0, 0, 0, 4
		.long 0, 0, work_calls - values, -1, -1, -1, call - inlined
		.section .rodata
		.fill 16
		inlined: .fill 16
		call: .long 0, add - names, 0x0f, 4
		.section .noptrdata, "aw", @progbits
		.quad 0, 0
		.quad table, names
		.fill 38, 8, 0
		.quad inlined
		.fill 20, 8, 0
		.section .note.GNU-stack, "", @progbits
	END
}

describe() {
	local text
	text=$(($(text_offset "$DIR/t")))
	echo 'info|2400|Some CPU|host1||1000'
	echo 'event|cpu-clock|clock|3|100000|0|0'
	echo "image|1|/home/u/t|$ID"
	echo 'thread|4242|4242|t|0|0|'
	echo "sample|0|0|0|2000|1|0+$((text + 0x14))|50"
	echo "sample|0|0|0|2000|1|0+$((text + 0x24))|30"
	echo "sample|0|0|0|2000|1|0+$((text + 0x32))|20"
}

setup() {
	export HOME="$DIR/home"
}

need_go() {
	command -v go >/dev/null || skip "no Go compiler (scripts/deps.sh languages): NOT TESTED"
}

# build_go DIRECTORY: a program whose time is in main.hot, which main.main calls through an inlined
# function; "whole" with debug information, "stripped" and "pie" without.
build_go() {
	cd "$1" || return 1
	export GOCACHE="$DIR/go-cache" GO111MODULE=off CGO_ENABLED=0
	cat >main.go <<-'END'
		package main

		//go:noinline
		func hot(n int) int {
			s := 0
			for i := 0; i < n; i++ {
				s = s*31 + i
			}
			return s
		}

		func once(n int) int { return hot(n) }

		func main() {
			s := 0
			for i := 0; i < 400; i++ {
				s += once(1000000)
			}
			println(s)
		}
	END
	go build -o whole main.go
	go build -ldflags='-s -w' -o stripped main.go
	go build -ldflags='-s -w' -buildmode=pie -o pie main.go
}

@test "opreport shows the functions of a stripped Go program" {
	diff -u - <("$OPROFILE" report --session-dir "$DIR/s" -ln | awk '{ print $1, $NF }') <<-'END'
		50 main.hot
		50 main.work
	END
}

@test "opreport shows the lines and inlined calls of a stripped Go program" {
	"$OPROFILE" report --session-dir "$DIR/s" --csv --by inline,line | tr -d '\r' \
		>"$BATS_TEST_TMPDIR/out"
	diff -u - "$BATS_TEST_TMPDIR/out" <<-'END'
		inline,line,samples,period,percent
		main.hot,/nowhere/hot.go:12,50,50,50
		main.work,/nowhere/hot.go:20,30,30,30
		main.add[...] (inlined),/nowhere/add.go:5,20,20,20
	END
}

@test "addr2line shows inlined calls of a stripped Go program" {
	diff -u - <("$OPROFILE" addr2line --no-cache -e "$DIR/t" -f -i 0x401100 0x401132 0x401152) \
		<<-'END'
		main.hot
		/nowhere/hot.go:10
		main.add[...]
		/nowhere/add.go:5
		main.work
		/nowhere/hot.go:20
		??
		??:0
	END
}

@test "the line index stores the lines of a Go program" {
	export XDG_CACHE_HOME="$BATS_TEST_TMPDIR/cache"
	"$OPROFILE" addr2line -e "$DIR/t" -f -i 0x401112 0x401132 >"$BATS_TEST_TMPDIR/first"
	"$OPROFILE" addr2line -e "$DIR/t" -f -i 0x401112 0x401132 | diff "$BATS_TEST_TMPDIR/first" -
}

@test "a stripped Go program has the same lines as with debug information" {
	need_go
	build_go "$BATS_TEST_TMPDIR"
	local start size kind name at
	nm -S whole | grep -E ' main\.(hot|main)$' | while read -r start size kind name; do
		for ((at = 0; at < 0x$size; at++)); do printf '0x%x\n' $((0x$start + at)); done
	done >addrs
	"$OPROFILE" addr2line --no-cache -e whole -f -i <addrs >expected
	"$OPROFILE" addr2line --no-cache -e stripped -f -i <addrs | diff -u expected -
	grep -qx main.once expected
	grep -q 'main.go:7$' expected
}

@test "recordings of stripped Go programs show names, lines and sources" {
	need_go
	build_go "$BATS_TEST_TMPDIR"
	local program
	for program in stripped pie; do
		mkdir "$program.s"
		"$OPROFILE" record --session-dir "$program.s" "./$program" >log 2>&1 || { cat log; return 1; }
		"$OPROFILE" report --session-dir "$program.s" -l 2>/dev/null >out
		cat out
		[ "$(awk '/^[0-9]/ { print $NF; exit }' out)" = main.hot ]
		"$OPROFILE" report --session-dir "$program.s" --csv --by line 2>/dev/null |
			awk -F, 'NR == 2 { exit $1 !~ /main.go:[67]$/ }'
		"$OPROFILE" annotate --source --session-dir "$program.s" 2>/dev/null |
			grep -E '^ *[0-9]+ .*s = s\*31 \+ i'
	done
}

@test "stacks of stripped Go programs contain the caller of a frameless function" {
	need_go
	build_go "$BATS_TEST_TMPDIR"
	local program
	for program in stripped pie; do
		mkdir "$program.s"
		"$OPROFILE" record --callgraph --session-dir "$program.s" "./$program" >log 2>&1
		"$OPROFILE" export folded --session-dir "$program.s" 2>/dev/null >out
		cat log out
		awk '/main\.hot/ { n += $NF } /runtime\.main;main\.main;(main\.once[^;]*;)?main\.hot/ { whole += $NF }
			END { exit !n || whole < n * 0.9 }' out
	done
}
