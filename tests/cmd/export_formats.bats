#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# oprofile export: the formats that are made from a profile; a reader for each checks its rules.

bats_require_minimum_version 1.5.0
load helpers

formats='flamegraph heatmap pprof speedscope firefox chrome'

setup()
{
	out=$BATS_TEST_TMPDIR
	new_session
}

export_it()
{
	timeout -k 5 60 "$OPROFILE" export "$@"
}

# check [SOURCE...]: exports these sources to each format and compares it with the report and the
# folded stacks.
check()
{
	export_it folded "$@" -o "$out/folded" 2>"$out/err"
	opreport --by symbol --csv "$@" 2>"$out/err" | tr -d '\r' >"$out/report"
	for format in $formats; do
		export_it "$format" --threshold 0 "$@" -o "$out/made" 2>"$out/err"
		timeout 60 python3 "$SOURCE_ROOT/tests/cmd/exported.py" check "$format" "$out/made" \
			"$out/report" "$out/folded"
	done
}

# Makes a session of a library's functions leaf, mid and turn, with samples at known stacks.
# Arguments are objcopy options, which rename the functions.
made_session()
{
	need as
	need objcopy
	cd "$out"
	three_functions 4096 | as -o f.o
	ld -shared --build-id -o lib.so f.o
	objcopy "$@" lib.so
	local at=$(text_offset lib.so) id=$(readelf -n lib.so | sed -n 's/^.*Build ID: //p')
	local leaf=$((at + 16)) mid=$((at + 4096 + 16)) turn=$((at + 8192 + 16))
	write_segment "$session/samples/current" <<-END
		info|0||$(uname -n)||1000000000|0||
		event|TIMER|time|7|1000000|0|0
		image|1|$out/lib.so|$id
		thread|7|7|a;b"<|0|0|/
		thread|7|8|two|0|0|/
		sample|0|0|0|2000|1000000|0+$leaf;0+$mid;0+$turn|5
		sample|0|0|0|4000|1000000|0+$mid;0+$turn|3
		sample|1|0|0|9002000|1000000|0+$leaf;0+$turn|2
		sample|1|0|0|9003000|1000000|0+$turn;T|1
	END
}

@test "exports of a known session have its stacks, counts and labels" {
	made_session
	check --session-dir "$session"
	export_it pprof --session-dir "$session" -o "$out/p.pb.gz"
	python3 "$SOURCE_ROOT/tests/cmd/exported.py" stacks pprof "$out/p.pb.gz" >"$out/stacks"
	diff - "$out/stacks" <<-'END'
		[3, "a;b\"<", "turn(char const*, int)", "mid"]
		[5, "a;b\"<", "turn(char const*, int)", "mid", "leaf"]
		[1, "two", "[truncated]", "turn(char const*, int)"]
		[2, "two", "turn(char const*, int)", "leaf"]
	END
	# A function below the threshold is counted for its caller: of 11 samples mid has 8, leaf
	# in turn 2.
	export_it pprof --session-dir "$session" --threshold 20 -o "$out/p.pb.gz"
	python3 "$SOURCE_ROOT/tests/cmd/exported.py" stacks pprof "$out/p.pb.gz" >"$out/stacks"
	diff - "$out/stacks" <<-'END'
		[3, "a;b\"<", "turn(char const*, int)", "mid"]
		[5, "a;b\"<", "turn(char const*, int)", "mid", "leaf"]
		[1, "two"]
		[2, "two", "turn(char const*, int)"]
	END
}

@test "an exported and imported pprof of an event with the name samples has the same numbers" {
	cd "$BATS_TEST_TMPDIR"
	for count in 5 20000000; do
		printf 'a;b %d\na;c 1\n' "$count" >in.folded
		"$OPROFILE" export pprof -o out.pb.gz in.folded 2>err
		for input in in.folded out.pb.gz; do
			"$OPROFILE" report --by symbol --csv --show-total-period "$input" 2>err >"$input.csv"
		done
		grep "^b,.*,$count," in.folded.csv
		diff in.folded.csv out.pb.gz.csv
	done
}

@test "go tool pprof shows the export's tops, traces, peeks and tags" {
	need go
	made_session
	export HOME=$out GOFLAGS=-mod=mod
	export_it pprof --session-dir "$session" -o "$out/p.pb.gz"
	go tool pprof -top "$out/p.pb.gz" >"$out/top"
	cat "$out/top"
	grep -q '^ *7 63\.64% 63\.64% *7 63\.64%  leaf$' "$out/top"
	grep -q '^ *1 .* 11 *100%  turn(char const\*, int)$' "$out/top"
	go tool pprof -sample_index=cpu -top "$out/p.pb.gz" | grep -q '^ *7ms .*leaf$'
	go tool pprof -traces "$out/p.pb.gz" >"$out/traces"
	cat "$out/traces"
	paste -sd' ' "$out/traces" | tr -s ' ' |
		grep -q 'cpu: CPU 0 comm: a;b"< host: [^ ]* pid: 7 tid: 7 3 mid turn(char const\*, int)'
	go tool pprof -peek '^mid$' "$out/p.pb.gz" | tr -s ' ' >"$out/peek"
	grep -q '^ 8 100% | turn(char const\*, int)$' "$out/peek"
	grep -q '^ 5 62\.50% | leaf$' "$out/peek"
	go tool pprof -tags "$out/p.pb.gz" | tee "$out/tags" | tr -s ' ' | grep -q '3\.0 (27\.27%): two$' ||
		{ cat "$out/tags" && false; }
	go tool pprof -raw "$out/p.pb.gz" | grep "lib.so $(readelf -n lib.so | sed -n 's/^.*Build ID: //p')"
}

# Makes a program of which each line's calls and samples are known: outer calls mid in its line 13
# and leaf in line 15, which has twist from a header inlined; mid calls leaf in line 8.
lines_program()
{
	need gcc
	cd "$out"
	printf '%s\n' 'static inline __attribute__((always_inline)) int twist(int x)' '{' '	x *= 7;' \
		'	return x ^ x / 3;' '}' >twist.h
	cat >t.c <<-'END'
		#include "twist.h"
		int leaf(int x)
		{
			return twist(x) + 1;
		}
		int mid(int x)
		{
			return leaf(x) + 2;
		}

		int outer(int x)
		{
			int y = mid(x);

			return y - leaf(y);
		}
		int main(int argc, char **argv)
		{
			return outer(argc) + !argv;
		}
	END
	gcc -g -O1 -fno-inline -fno-pie -no-pie -Wl,--build-id -o t t.c
	objdump -d --no-show-raw-insn t >code
	local from_mid=$(return_address mid leaf) from_outer=$(return_address outer mid) leaf_in_outer=$(return_address outer leaf)
	# Find one instruction of each wanted line of leaf: its own lines, and those of the
	# inlined function.
	local at own inner
	for at in $(sed -n '/<leaf>:/,/^$/p' code | sed -n 's/^ *\([0-9a-f]*\):.*/0x\1/p'); do
		case $(addr2line -e t "$at" | sed 's/.*\///; s/ .*//') in
		t.c:4) own=$at ;;
		twist.h:4) inner=$at ;;
		esac
	done
	local shift=$(($(text_offset t) - $(text_address t)))
	write_segment "$session/samples/current" <<-END
		info|0||$(uname -n)||1000000000|0||
		event|TIMER|time|15|1000000|0|0
		image|1|$out/t|$(readelf -n t | sed -n 's/^.*Build ID: //p')
		thread|7|7|one|0|0|/
		sample|0|0|0|2000|1000000|0+$((own + shift));0+$((from_mid + shift));0+$((from_outer + shift))|40
		sample|0|0|0|2000|1000000|0+$((inner + shift));0+$((leaf_in_outer + shift))|25
		sample|0|0|1|2000|1000000|0+$(($(begin_of outer) + shift))|5
	END
	export XDG_CACHE_HOME=$out/cache
}

@test "go tool pprof shows lines of functions, callers and inlined calls" {
	need go
	lines_program
	export HOME=$out GOFLAGS=-mod=mod
	export_it pprof --session-dir "$session" -o p.pb.gz
	# Counted by hand: self and cumulative samples of each line.
	go tool pprof -list '^(leaf|mid|outer)$' p.pb.gz >list
	cat list
	grep -q ' 65  *65 (flat, cum) 92\.86% of Total$' list
	grep -Eq '^ +65 +65 +4:.*return twist\(x\) \+ 1;$' list
	grep -Eq '^ +\. +40 +8:.*return leaf\(x\) \+ 2;$' list
	grep -Eq '^ +5 +5 +12:\{$' list
	grep -Eq '^ +\. +40 +13:.*int y = mid\(x\);$' list
	grep -Eq '^ +\. +25 +15:.*return y - leaf\(y\);$' list
	go tool pprof -lines -top p.pb.gz | tr -s ' ' >lines
	cat lines
	grep -q '^ 65 92\.86% 92\.86% 65 92\.86% leaf .*/t\.c:4$' lines
	grep -q '^ 0 0% 100% 40 57\.14% mid .*/t\.c:8$' lines
	go tool pprof -lines -peek '^mid ' p.pb.gz | tr -s ' ' >peek
	cat peek
	grep -q '^ 40 100% | outer .*/t\.c:13$' peek
	grep -q '^ 40 100% | leaf .*/t\.c:4$' peek
	# With inlined functions, the counts are at the line of the call and at their own line.
	export_it pprof --session-dir "$session" --inline -o i.pb.gz
	go tool pprof -list '^(leaf|twist)$' i.pb.gz >list
	cat list
	grep -Eq '^ +40 +65 +4:.*return twist\(x\) \+ 1;$' list
	grep -Eq '^ +25 +25 +4:.*return x \^ x / 3;$' list
	go tool pprof -raw i.pb.gz | tr -s ' ' >raw
	cat raw
	grep -Eq 'twist .*/twist\.h:4(:0)? s=1' raw
	grep -Eq '^ leaf .*/t\.c:4(:0)? s=2' raw
	# Labels contain the CPU.
	go tool pprof -tagfocus='cpu=CPU 1' -top p.pb.gz | tr -s ' ' >top
	cat top
	grep -q '^ 5 7\.14% 7\.14% 5 7\.14% outer$' top
	# The totals of functions equal those of the folded stacks, whichever lines they have.
	check --session-dir "$session"
}

@test "hostile names are equal in all formats, also with 64 KB" {
	local long
	long=$(head -c 65000 /dev/zero | tr '\0' x)
	made_session --redefine-sym leaf=$'a;b "c" </script><script>alert(1)</script>\n2\\ \x01\x7f<!--' \
		--redefine-sym mid="$long" \
		--redefine-sym _Z4turnPKci=$'\xff\xfe(not UTF-8)\xc3\xa9'
	check --session-dir "$session"
	export_it speedscope --session-dir "$session" -o "$out/s.json"
	python3 "$SOURCE_ROOT/tests/cmd/exported.py" stacks speedscope "$out/s.json" >"$out/stacks"
	grep -qF '"\ufffd\ufffd(not UTF-8)\u00e9", "'"$long"'", "a;b \"c\" </script><script>alert(1)</script>\n2\\ \u0001\u007f<!--"]' "$out/stacks"
	# One line for each of the 11 samples: a name with a line end must not start a new line.
	export_it perf-script --session-dir "$session" -o "$out/text"
	[ "$(LC_ALL=C grep -ac ' TIMER: .*/lib.so)$' "$out/text")" -eq 11 ]
	[ "$(wc -l <"$out/text")" -eq 11 ]
	grep -qaF 'a;b "c" </script><script>alert(1)</script>?2\ ??<!--+0x10 (' "$out/text"
	grep -qaF " $long+0x10 (" "$out/text"
	# Commands, which can have any name that a program chooses, are written as safely.
	write_segment "$out/odd" <<-END
		info|0||$(uname -n)||1000000000|0||
		event|TIMER|time|15|1000000|0|0
		image|1|$out/lib.so|00
		thread|7|7|$(printf 'a\tb\x01\x7f')|0|0|/
		sample|0|0|0|2000|1000000|0+16|1
	END
	export_it perf-script "$out/odd" -o "$out/odd.text"
	cat "$out/odd.text"
	grep -q '^a?b?? *7 \[000\] ' "$out/odd.text"
	opreport --by comm --csv "$out/odd.text" | grep -q '^a?b??,1,'
	# Every other format, also future ones: it must not fail, or write text that a program
	# would run.
	run -1 --separate-stderr export_it no-such-format
	names=${stderr##* of }
	for name in ${names//,/}; do
		[ "$name" != afdo ] || continue
		export_it "$name" --session-dir "$session" -o "$out/any.$name"
		ls "$out/any.$name"*
	done
	# Each name in a callgrind file is on one line; in a file for llvm-bolt a backslash quotes
	# the next character.
	python3 "$SOURCE_ROOT/tests/cmd/exported.py" totals callgrind "$out"/any.callgrind* "$long" |
		cut -c 65001- | grep -x ' 3 8'
	python3 - "$out/any.bolt" <<-'END'
		import re, sys
		text = open(sys.argv[1], "rb").read()
		assert text.startswith(b"no_lbr TIMER:\n"), text[:50]
		rows = re.findall(rb"1 ((?:\\.|[^\\ \n])+) 10 (\d+)\n", text[14:], re.S)
		assert sum(len(name) + len(nr) + 7 for name, nr in rows) == len(text) - 14
		assert sum(int(nr) for _, nr in rows) == 11
		assert any(b"</script>?2\\\\\\ ??<!--" in name for name, _ in rows)
	END
}

@test "the callgrind export has one file per application, with calls and lines" {
	made_session --redefine-sym leaf=$'a;b "c" (1)\n2=\x01'
	cd "$out"
	export_it folded --session-dir "$session" -o folded
	export_it callgrind --session-dir "$session"
	python3 "$SOURCE_ROOT/tests/cmd/exported.py" callgrind folded callgrind.out.lib.so
	export_it callgrind --session-dir "$session" -o - | cmp - callgrind.out.lib.so
	grep -q '^summary: 11$' callgrind.out.lib.so
	if command -v callgrind_annotate >/dev/null; then
		callgrind_annotate --inclusive=yes callgrind.out.lib.so >annotated
		cat annotated
		grep -q '^ *8 .*???:mid ' annotated
		grep -qF '???:a;b "c" (1)?2=?' annotated
	fi
}

@test "the callgrind export has one file per application, whatever its name" {
	local long=$(printf 'y%.0s' {1..400}) prefix=$(printf 'p%.0s' {1..100}) i
	cd "$out"
	{
		printf 'info|0||%s||1000000000|0||\nevent|TIMER|time|7|1000000|0|0\n' "$(uname -n)"
		printf 'image|1|%s|%d%d\n' $'/x/\e]0;owned\a.c' 1 0 /opt/dir/ 1 1 "/x/$long" 1 2 \
			"/y/$long" 1 3 / 1 4
		for i in 0 1 2 3 4; do
			printf 'thread|%d|%d|c|%d|0|/\n' $((i + 7)) $((i + 7)) $i
		done
		for i in 0 1 2 3 4; do
			printf 'sample|%d|0|0|2000|1000000|%d+4096|5\n' $i $i
		done
	} | write_segment "$session/samples/current"
	export_it callgrind --session-dir "$session" 2>err
	cat err
	ls -b callgrind.out*
	[ "$(ls callgrind.out* | wc -l)" -eq 5 ]
	[ -f 'callgrind.out.\x1b]0;owned\x07.c' ]
	[ -f callgrind.out._opt_dir_ ] && [ -f callgrind.out._ ]
	[ -f "callgrind.out.${long:0:200}" ] && [ -f "callgrind.out.${long:0:200}.2" ]
	export_it callgrind --session-dir "$session" -o "$prefix" 2>err
	[ "$(ls "$prefix".* | wc -l)" -eq 5 ]
}

@test "the callgrind export has lines of inlined calls, and several events" {
	need gcc
	cd "$out"
	printf '%s\n' 'static inline __attribute__((always_inline)) unsigned mix(unsigned x)' '{' \
		'	return x * 7 + x / 3;' '}' >mix.h
	printf '%s\n' '#include "mix.h"' 'unsigned work(unsigned n)' '{' '	unsigned x = n;' \
		'	while (n--)' '		x = mix(x);' '	return x;' '}' >i.c
	gcc -g -O1 -shared -fPIC -nostdlib -Wl,--build-id -o lib.so i.c
	objdump -d --no-show-raw-insn lib.so | sed -n 's/^ *\([0-9a-f]*\):.*/0x\1/p' >addresses
	{
		printf '%s\n' "info|0||$(uname -n)||1000000000|0||" "event|TIMER|time|7|1000000|0|0" \
			"event|page-faults|faults|1|1|0|0" \
			"image|1|$out/lib.so|$(readelf -n lib.so | sed -n 's/^.*Build ID: //p')" \
			"thread|7|7|p|0|0|/"
		local n=0
		while read -r address; do
			n=$((n + 1))
			address=$((address + $(text_offset lib.so) - $(text_address lib.so)))
			echo "sample|0|0|0|2000|1000000|0+$address|$n"
			echo "sample|0|1|0|2000|1000000|0+$address|1"
		done <addresses
	} | write_segment "$session/samples/current"
	export XDG_CACHE_HOME=$out/cache
	export_it callgrind --session-dir "$session" -o made
	cat made
	grep -q '^events: TIMER page_faults$\|^events: page_faults TIMER$' made
	# The output of addr2line for each address, summed by file and line.
	addr2line -e lib.so <addresses | sed 's/ (discriminator.*//; s/.*\///' |
		awk '{ t[$0] += NR; f[$0]++ } END { for (k in t) print k, t[k], f[k] }' | sort >wanted
	awk '/^events:/ { timer_first = $2 == "TIMER" }
		/^f[lie]=/ { id = $0; sub(/=.*/, "", id); id = $1; sub(/^f.=/, "", id)
			if (NF > 1) name[id] = $2; file = name[id]; sub(/.*\//, "", file) }
		/^[0-9]/ { print file ":" $1, timer_first ? $2 : $3, timer_first ? $3 : $2 }' made |
		sort >found
	diff wanted found
	grep -q 'mix.h:3' found
}

@test "an exported picture is XML without scripts" {
	made_session --redefine-sym leaf=$'</text><script>alert(1)</script>&\x01\xff"'
	export_it flamegraph --svg --session-dir "$session" -o "$out/f.svg"
	python3 - "$out/f.svg" <<-'END'
		import sys, xml.etree.ElementTree as tree
		svg = "{http://www.w3.org/2000/svg}"
		root = tree.parse(sys.argv[1]).getroot()
		assert {e.tag for e in root.iter()} == {svg + t for t in ("svg", "g", "rect", "text", "title")}
		frames = [(g.find(svg + "title").text, g.find(svg + "rect").attrib) for g in root.iter(svg + "g")]
		print(frames)
		assert sum("</script>" in name for name, _ in frames) == 2
		wide = [float(r["width"]) for name, r in frames if name.startswith("turn(char const*, int) (")]
		# The first command has 8 of 11 samples, the second 2, and 1 is truncated.
		assert [round(w / 1180 * 11) for w in wide] == [8, 1, 2], wide
	END
	run -1 --separate-stderr export_it pprof --svg --session-dir "$session"
	[[ $stderr == *--svg* ]]
}

@test "--inline exports inlined functions as calls" {
	need gcc
	cd "$out"
	cat >i.c <<-'END'
		static inline __attribute__((always_inline)) unsigned mix(unsigned x) { return x * 7 + x / 3; }
		unsigned work(unsigned n) { unsigned x = n; while (n--) x = mix(x); return x; }
	END
	gcc -g -O1 -shared -fPIC -nostdlib -Wl,--build-id -o lib.so i.c
	local at=$(addr2line -i -f -e lib.so $(objdump -d --no-show-raw-insn lib.so |
		sed -n 's/^ *\([0-9a-f]*\):.*imul.*/\1/p; s/^ *\([0-9a-f]*\):.*lea.*,8).*/\1/p' | head -n 1) | head -n 1)
	[ "$at" = mix ]
	at=$(objdump -d --no-show-raw-insn lib.so | sed -n 's/^ *\([0-9a-f]*\):.*imul.*/\1/p; s/^ *\([0-9a-f]*\):.*lea.*,8).*/\1/p' | head -n 1)
	write_segment "$session/samples/current" <<-END
		info|0||$(uname -n)||1000000000|0||
		event|TIMER|time|7|1000000|0|0
		image|1|$out/lib.so|$(readelf -n lib.so | sed -n 's/^.*Build ID: //p')
		thread|7|7|p|0|0|/
		sample|0|0|0|2000|1000000|0+$((0x$at + $(text_offset lib.so) - $(text_address lib.so)))|4
	END
	export XDG_CACHE_HOME=$out/cache
	export_it speedscope --session-dir "$session" --inline -o "$out/s.json"
	run -0 python3 "$SOURCE_ROOT/tests/cmd/exported.py" stacks speedscope "$out/s.json"
	[ "$output" = '[4, "p", "work", "mix (inlined)"]' ]
	export_it pprof --session-dir "$session" --inline -o "$out/p.pb.gz"
	run -0 python3 "$SOURCE_ROOT/tests/cmd/exported.py" stacks pprof "$out/p.pb.gz"
	[ "$output" = '[4, "p", "work", "mix"]' ]
	export_it speedscope --session-dir "$session" -o "$out/s.json"
	run -0 python3 "$SOURCE_ROOT/tests/cmd/exported.py" stacks speedscope "$out/s.json"
	[ "$output" = '[4, "p", "work"]' ]
}

@test "every format exports recordings of other machines and of several events" {
	need_data
	export PERF_BUILDID_DIR=$DATA/arm64/debug-cache
	check "$DATA/arm64/perf.dwarf.data"
	check "$DATA/perf-history/perf.data.callgraph-3.8"
	check "$DATA/arm64/perf.full.data" event:page-faults
	mkdir "$out/callgrind"
	export_it folded "$DATA/arm64/perf.dwarf.data" -o "$out/folded" 2>"$out/err"
	export_it callgrind "$DATA/arm64/perf.dwarf.data" -o "$out/callgrind/c" 2>"$out/err"
	python3 "$SOURCE_ROOT/tests/cmd/exported.py" callgrind "$out/folded" "$out/callgrind"/*
	# One value for each event.
	export_it pprof "$DATA/arm64/perf.full.data" -o "$out/all.pb.gz" 2>"$out/err"
	python3 "$SOURCE_ROOT/tests/cmd/exported.py" stacks pprof "$out/all.pb.gz" |
		sed 's/^\[\([0-9]*\).*/\1/' | awk '{ n += $1 } END { print n }' >"$out/sum"
	[ "$(cat "$out/sum")" -eq "$(opreport "$DATA/arm64/perf.full.data" --by event --csv 2>"$out/err" |
		awk -F, 'NR > 1 { n += $2 } END { print n }')" ]
	run -1 --separate-stderr export_it chrome "$DATA/arm64/perf.full.data" -o "$out/no"
	[[ $stderr == *"select one, for example event:"* ]]
	[ ! -e "$out/no" ]
}

# The formats' own descriptions of types and required members are in tests/cmd/schemas, as JSON
# schemas.
@test "exported JSON matches its schema" {
	python3 -c 'import jsonschema' 2>"$out/err" || skip "needs python3-jsonschema: NOT TESTED"
	made_session --redefine-sym leaf=$'a;b "c" </script>\n2\\ \x01\x7f\xff'
	for format in speedscope firefox chrome; do
		export_it "$format" --session-dir "$session" -o "$out/$format.json"
		python3 - "$SOURCE_ROOT/tests/cmd/schemas/$format.json" "$out/$format.json" <<-'END'
			import json, jsonschema, sys
			schema, data = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:])
			jsonschema.Draft7Validator.check_schema(schema)
			check = jsonschema.Draft7Validator(schema)
			errors = [f"{list(e.path)}: {e.message[:300]}" for e in check.iter_errors(data)]
			assert not errors, errors[:5]
			# A schema must not accept everything: removing any required member must
			# make the data invalid.
			for name in schema["required"]:
			    assert not check.is_valid({k: v for k, v in data.items() if k != name}), name
		END
	done
}

@test "exports are the same from a session, with one thread, and into a pipe" {
	need_data
	local f=$DATA/perf-history/perf.data.callgraph-3.8
	export PERF_BUILDID_DIR=$out/nothing
	"$OPROFILE" import --session-dir "$session" "$f" 2>"$out/err"
	for format in $formats; do
		export_it "$format" "$f" -o "$out/file" 2>"$out/err"
		export_it "$format" --threads 1 "$f" 2>"$out/err" | cmp - "$out/file"
		export_it "$format" --session-dir "$session" 2>"$out/err" >"$out/session.$format"
	done
	for format in flamegraph heatmap pprof speedscope chrome; do
		diff <(python3 "$SOURCE_ROOT/tests/cmd/exported.py" stacks "$format" "$out/session.$format") \
			<(export_it "$format" "$f" 2>"$out/err" >"$out/file"
				python3 "$SOURCE_ROOT/tests/cmd/exported.py" stacks "$format" "$out/file")
	done
}

@test "a heat map counts samples by time offset, CPU and thread" {
	made_session
	cells() {
		export_it heatmap --session-dir "$session" "$@" -o "$out/h.html"
		python3 - "$out/h.html" <<-'END'
			import json, re, sys
			text = open(sys.argv[1], encoding="utf-8").read()
			data = json.loads(re.search("id=data>(.*?)</script>", text, re.S)[1])
			print(data["heat"]["names"], {tuple(w): sum(r[2::3]) for w, r in zip(data["who"], data["rows"])})
		END
	}
	# At 0 ms there are 8 samples of the first thread on CPU 0, and 3 of the second.
	[ "$(cells)" = "[] {(0, 0): 11}" ]
	[ "$(cells --rows=cpu)" = "['CPU 0'] {(0, 0): 11}" ]
	[ "$(cells --rows=thread)" = "['a;b\"< 7/7', 'two 7/8'] {(0, 0): 8, (0, 1): 3}" ]
	run -1 --separate-stderr export_it heatmap --rows=colour --session-dir "$session"
	[[ $stderr == *"--rows=colour: expected offset, cpu or thread" ]]
	run -1 --separate-stderr export_it folded --rows=cpu --session-dir "$session"
	[[ $stderr == *"only supported for heatmap"* ]]
}

@test "perf-script prints the text of oprofile script" {
	made_session
	export_it perf-script --session-dir "$session" -o "$out/text"
	"$OPROFILE" script --session-dir "$session" | diff - "$out/text"
	cat "$out/text"
	[ "$(grep -c " TIMER: " "$out/text")" -eq 11 ]
	export_it perf-script --session-dir "$session" comm:two | grep -c " TIMER: " | grep -qx 3
	run -1 --separate-stderr export_it perf-script "$out/no.data" -o "$out/none"
	[ "${#stderr_lines[@]}" -eq 2 ] && [ ! -e "$out/none" ]
	[[ ${stderr_lines[0]} == *"$out/no.data: No such file"* ]]
}

@test "every format is in the manual, in --help and in the message about an unknown one" {
	run -1 --separate-stderr export_it no-such-format
	names=${stderr##* of }
	[ "$(tr ',' '\n' <<<"$names" | wc -l)" -ge 6 ]
	for name in ${names//,/}; do
		"$OPROFILE" export --help | grep -q "^  *$name "
		grep -q "^\.It Cm $name$" "$SOURCE_ROOT/man/oprofile-export.1"
	done
}
