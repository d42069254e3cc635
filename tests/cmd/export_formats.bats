#!/usr/bin/env bats
# oprofile export: the formats that are made of a profile, each by its own rules.

bats_require_minimum_version 1.5.0
load helpers

formats='pprof speedscope firefox chrome'

setup()
{
	out=$BATS_TEST_TMPDIR
	new_session
}

export_it()
{
	timeout -k 5 60 "$OPROFILE" export "$@"
}

# check [WORD...]: each format of these sources says what the report and the folded stacks say.
check()
{
	export_it folded "$@" -o "$out/folded" 2>"$out/err"
	opreport --by symbol --csv "$@" 2>"$out/err" | tr -d '\r' >"$out/report"
	for format in $formats; do
		export_it "$format" "$@" -o "$out/made" 2>"$out/err"
		timeout 60 python3 "$SOURCE_ROOT/tests/cmd/exported.py" check "$format" "$out/made" \
			"$out/report" "$out/folded"
	done
}

# A session of a library's functions leaf, mid and turn with samples at known stacks; other
# names for them are the arguments.
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

@test "known by construction: stacks, counts and labels" {
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
	# What is narrow is its caller's: of 11 samples mid has 8, leaf in turn 2.
	export_it pprof --session-dir "$session" --threshold 20 -o "$out/p.pb.gz"
	python3 "$SOURCE_ROOT/tests/cmd/exported.py" stacks pprof "$out/p.pb.gz" >"$out/stacks"
	diff - "$out/stacks" <<-'END'
		[3, "a;b\"<", "turn(char const*, int)", "mid"]
		[5, "a;b\"<", "turn(char const*, int)", "mid", "leaf"]
		[1, "two"]
		[2, "two", "turn(char const*, int)"]
	END
}

@test "go tool pprof: tops, traces, peeks and tags" {
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
		grep -q 'comm: a;b"< pid: 7 tid: 7 3 mid turn(char const\*, int)'
	go tool pprof -peek '^mid$' "$out/p.pb.gz" | tr -s ' ' >"$out/peek"
	grep -q '^ 8 100% | turn(char const\*, int)$' "$out/peek"
	grep -q '^ 5 62\.50% | leaf$' "$out/peek"
	go tool pprof -tags "$out/p.pb.gz" | tee "$out/tags" | tr -s ' ' | grep -q '3\.0 (27\.27%): two$' ||
		{ cat "$out/tags" && false; }
	go tool pprof -raw "$out/p.pb.gz" | grep "lib.so $(readelf -n lib.so | sed -n 's/^.*Build ID: //p')"
}

@test "names with everything in them: the same in all formats, and of 64 KB" {
	local long
	long=$(head -c 65000 /dev/zero | tr '\0' x)
	made_session --redefine-sym leaf=$'a;b "c" </script><script>alert(1)</script>\n2\\ \x01\x7f<!--' \
		--redefine-sym mid="$long" \
		--redefine-sym _Z4turnPKci=$'\xff\xfe(not UTF-8)\xc3\xa9'
	check --session-dir "$session"
	export_it speedscope --session-dir "$session" -o "$out/s.json"
	python3 "$SOURCE_ROOT/tests/cmd/exported.py" stacks speedscope "$out/s.json" >"$out/stacks"
	grep -qF '"\ufffd\ufffd(not UTF-8)\u00e9", "'"$long"'", "a;b \"c\" </script><script>alert(1)</script>\n2\\ \u0001\u007f<!--"]' "$out/stacks"
}

@test "recordings of other machines and of several events" {
	need_data
	export PERF_BUILDID_DIR=$DATA/arm64/debug-cache
	check "$DATA/arm64/perf.dwarf.data"
	check "$DATA/perf-history/perf.data.callgraph-3.8"
	check "$DATA/arm64/perf.full.data" event:page-faults
	# Values of each event.
	export_it pprof "$DATA/arm64/perf.full.data" -o "$out/all.pb.gz" 2>"$out/err"
	python3 "$SOURCE_ROOT/tests/cmd/exported.py" stacks pprof "$out/all.pb.gz" |
		sed 's/^\[\([0-9]*\).*/\1/' | awk '{ n += $1 } END { print n }' >"$out/sum"
	[ "$(cat "$out/sum")" -eq "$(opreport "$DATA/arm64/perf.full.data" --by event --csv 2>"$out/err" |
		awk -F, 'NR > 1 { n += $2 } END { print n }')" ]
	run -1 --separate-stderr export_it chrome "$DATA/arm64/perf.full.data" -o "$out/no"
	[[ $stderr == *"choose one, as in event:"* ]]
	[ ! -e "$out/no" ]
}

@test "the same from a session, with one thread, and in a pipe" {
	need_data
	local f=$DATA/perf-history/perf.data.callgraph-3.8
	export PERF_BUILDID_DIR=$out/nothing
	"$OPROFILE" import --session-dir "$session" "$f" 2>"$out/err"
	for format in $formats; do
		export_it "$format" "$f" -o "$out/file" 2>"$out/err"
		export_it "$format" --threads 1 "$f" 2>"$out/err" | cmp - "$out/file"
		export_it "$format" --session-dir "$session" 2>"$out/err" >"$out/session.$format"
	done
	for format in pprof speedscope chrome; do
		diff <(python3 "$SOURCE_ROOT/tests/cmd/exported.py" stacks "$format" "$out/session.$format") \
			<(export_it "$format" "$f" 2>"$out/err" >"$out/file"
				python3 "$SOURCE_ROOT/tests/cmd/exported.py" stacks "$format" "$out/file")
	done
}

@test "every format is in the manual, in --help and in what is said of a wrong one" {
	run -1 --separate-stderr export_it no-such-format
	names=${stderr##* of }
	[ "$(tr ',' '\n' <<<"$names" | wc -l)" -ge 6 ]
	for name in ${names//,/}; do
		"$OPROFILE" export --help | grep -q "^  *$name "
		grep -q "^\.It Cm $name$" "$SOURCE_ROOT/man/oprofile-export.1"
	done
}
