#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# JSON profiles of other tools: speedscope, the Firefox Profiler, Node.js and Chrome.

bats_require_minimum_version 1.5.0
load helpers

setup()
{
	out=$BATS_TEST_TMPDIR
	cd "$out"
	new_session
	"$OPROFILE" --version | grep -q '^  yajl  *no ' && skip "built without yajl: NOT TESTED"
	write_segment made <<-END
		info|0||$(uname -n)||1000000000|0||
		event|cycles|c|11|1000000|0|0
		image|1|/opt/lib.so|
		image|1|/opt/other.so|
		thread|7|7|a b 1|0|0|/
		thread|7|8|two|0|0|/
		sample|0|0|0|1000002000|1000000|0+16;0+4112;1+8208|5
		sample|0|0|1|1000004000|1000000|1+4112;1+8208|3
		sample|1|0|0|1009002000|2000000|0+16;0+8208|2
		sample|1|0|3|1009003000|1000000|0+8208;T|1
		sample|1|0|3|1009004000|1000000|1+8208|1
	END
}

# by KEYS FILE: prints "VALUE|...|samples|period" for each row.
by()
{
	timeout -k 5 60 "$OPROFILE_LINKS/opreport" --csv --by "$1" "$2" >"$out/csv" || return
	python3 - "$out/csv" "$1" <<-'END' | sort
		import csv, sys
		for row in csv.DictReader(open(sys.argv[1], newline="", errors="surrogateescape")):
		    print("|".join([row[k] for k in sys.argv[2].split(",")] + [row["samples"], row["period"]]))
	END
}

without_period()
{
	sed 's/|[^|]*$//' "$@"
}

@test "exports to speedscope and the Firefox Profiler have the counts of the session" {
	"$OPROFILE" export speedscope made -o x.json
	for view in comm,symbol image,symbol event; do
		by "$view" made | without_period >wanted
		[ -s wanted ]
		by "$view" x.json | without_period | diff wanted -
	done
	"$OPROFILE" export folded made | sort >wanted
	"$OPROFILE" export folded x.json | sort | diff wanted -
	"$OPROFILE" export firefox made -o x.json
	for view in comm,pid,tid,symbol image,symbol; do
		by "$view" made | without_period >wanted
		by "$view" x.json | without_period | diff wanted -
	done
	"$OPROFILE" import --session-dir "$session" x.json
	by tid made | without_period >wanted
	"$OPROFILE_LINKS/opreport" --csv --by tid --session-dir "$session" >csv
	grep -qx '7,8,.*' csv
	# Samples with the same time are printed as a single sample with their number.
	[ "$("$OPROFILE" script x.json | awk '/ samples:/ { n += $(NF - 1) } END { print n }')" -eq 12 ]
}

@test "the export to .cpuprofile has one millisecond for each sample" {
	"$OPROFILE" export chrome made -o x.cpuprofile
	by symbol made | awk -F'|' '{ print $1 "|" $2 * 1000000 }' >wanted
	by symbol x.cpuprofile | grep -v '^(idle)' | cut -d'|' -f1,3 | diff wanted -
}

@test "an imported node --cpu-prof profile has the samples that node counted per function" {
	need node
	cat >w.js <<-'END'
		function inner(n) { let s = 0; for (let i = 0; i < n; i++) s += Math.sqrt(i); return s; }
		function outer() { let s = 0; for (let i = 0; i < 40; i++) s += inner(1e5); return s; }
		outer();
	END
	node --cpu-prof --cpu-prof-name=x.cpuprofile w.js
	# The last sample is counted by no node.
	python3 - >wanted <<-'END'
		import collections, json
		profile = json.load(open("x.cpuprofile"))
		names = {n["id"]: n["callFrame"]["functionName"] or "(anonymous)" for n in profile["nodes"]}
		counts = collections.Counter(names[i] for i in profile["samples"] if names[i] != "(root)")
		print("\n".join(sorted(f"{name}|{nr}" for name, nr in counts.items())))
	END
	by symbol x.cpuprofile | without_period | grep -v '^(no symbols)' | LC_ALL=C sort >found
	LC_ALL=C sort wanted | diff - found
	grep -q '^inner|' found
	by image x.cpuprofile | grep -q "^$PWD/w.js|"
	"$OPROFILE" script x.cpuprofile >script
	grep -q 'inner.*w.js' script
	# A trace has the same samples, and the thread.
	node --cpu-prof --cpu-prof-name=x.cpuprofile --trace-event-file-pattern=x.trace \
		--trace-event-categories disabled-by-default-v8.cpu_profiler w.js
	grep -q ProfileChunk x.trace || skip "node writes no samples to traces: NOT TESTED"
	python3 - >wanted <<-'END'
		import json
		events = json.load(open("x.trace"))["traceEvents"]
		print(sum(len(e["args"]["data"].get("cpuProfile", {}).get("samples", []))
		          for e in events if e["name"] == "ProfileChunk"))
	END
	[ "$(by event x.trace | cut -d'|' -f2)" -eq "$(cat wanted)" ]
	by pid,symbol x.trace | grep -q '^[1-9][0-9]*|inner|'
}

@test "times of any unit become periods; truncated profiles are incomplete, malformed refused" {
	cat >x.json <<-'END'
		{"$schema": "https://www.speedscope.app/file-format-schema.json",
		 "shared": {"frames": [{"name": "f"}, {"name": "g", "file": "/a/b.rb"}]},
		 "profiles": [
		  {"type": "sampled", "name": "one", "unit": "seconds", "startValue": 0, "endValue": 71,
		   "samples": [[0, 1], [0]], "weights": [70.5, 0.25]},
		  {"type": "evented", "name": "two", "unit": "milliseconds", "startValue": 0, "endValue": 3,
		   "events": [{"type": "O", "frame": 0, "at": 0}, {"type": "C", "frame": 0, "at": 3}]}]}
	END
	by event,comm,symbol x.json >found
	diff - found <<-'END'
		time|one|f|1|250000000
		time|one|g|1|70500000000
		time|two|f|1|3000000
	END
	[ "$("$OPROFILE" script x.json | grep -c time:)" -eq 3 ]
	head -c -60 x.json >cut.json
	run -3 --separate-stderr "$OPROFILE" import --session-dir "$session" cut.json
	[[ $stderr == *"cut.json: it ends within a sample: its end is missing"* ]]
	sed 's/"weights"/weights/' x.json >bad.json
	run -1 --separate-stderr "$OPROFILE" import --session-dir "$session" bad.json
	[[ $stderr == *"bad.json: malformed JSON at byte "* ]]
	[ "${#stderr_lines[@]}" -eq 1 ]
	# The file can be compressed, and can come from standard input.
	gzip -k x.json
	by event,comm,symbol x.json.gz | diff found -
	by event,comm,symbol - <x.json | diff found -
}

@test "addresses in profiles of samply and pprof get the functions of the binary, or an offset" {
	need gcc nm
	cat >prog.c <<-'END'
		__attribute__((noinline)) int leaf(int n) { volatile int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
		__attribute__((noinline)) int mid(int n) { return leaf(n) + 1; }
		int main(void) { return mid(1000) & 1; }
	END
	gcc -O1 -g -fno-ipa-icf -Wl,--build-id prog.c -o pie
	gcc -O1 -g -no-pie -Wl,--build-id prog.c -o fixed
	gcc -O1 -g -Wl,-Ttext-segment=0x10000,--build-id prog.c -o moved
	# lld puts code at addresses that differ from its file offsets.
	local -a binaries=(pie fixed moved)
	! ld.lld --version >/dev/null 2>&1 || {
		gcc -O1 -g -fuse-ld=lld -Wl,--build-id prog.c -o lld && binaries+=(lld)
	}
	local positions=$BATS_TEST_DIRNAME/positions.py binary kind
	for binary in "${binaries[@]}"; do
		for kind in samply pprof; do
			echo "$binary $kind"
			python3 "$positions" $kind "$out/$binary" >x
			by image,symbol,line x >found
			diff - found <<-END
				$out/$binary|leaf|$out/prog.c:1|3|3
				$out/$binary|mid|$out/prog.c:2|1|1
			END
			"$OPROFILE" export folded x | sed 's/^[^;]*;//' | sort >found
			diff - found <<-'END'
				main;mid 1
				main;mid;leaf 3
			END
		done
	done
	# Without the binary, or with another binary, functions have no names.
	python3 "$positions" samply pie /nowhere/prog >x
	by image,symbol x >found
	local leaf=$(python3 -c 'import json; print(json.load(open("x"))["threads"][0]["stringArray"][0])')
	grep -qx "/nowhere/prog|prog+$leaf|3|3" found
	python3 "$positions" samply pie "$out/pie" 0123456789012345678901234567890123456789 >x
	by image,symbol x >found
	grep -qx "$out/pie|pie+$leaf|3|3" found
	python3 "$positions" pprof pie "$out/pie" 0123456789012345678901234567890123456789 >x
	by image,symbol x 2>err >found
	grep -qx "$out/pie|$out/pie|4|4" found && grep -q 'build-id .* does not match' err
	# pprof has offsets, so the binary can be elsewhere when the report is made.
	python3 "$positions" pprof pie /nowhere/pie >x
	"$OPROFILE_LINKS/opreport" --image-path "$out" --csv --by symbol x | tr -d '\r' >found
	grep -qx 'leaf,3,3,75' found
}

# speedscope_of SAMPLES WEIGHTS: prints a profile with the frames a and b.
speedscope_of()
{
	printf '{"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames":
		[{"name": "a"}, {"name": "b"}]}, "profiles": [{"type": "sampled", "name": "p",
		"unit": "none", "startValue": 0, "endValue": 1, "samples": %s, "weights": %s}]}' "$1" "$2"
}

@test "fractions of weights add up for each stack" {
	cd "$BATS_TEST_TMPDIR"
	speedscope_of "[$(printf '[0],%.0s' {1..1000})[1]]" "[$(printf '0.4,%.0s' {1..1000})10]" >x.json
	opreport --by symbol --csv x.json >out
	grep -q '^a,400,' out && grep -q '^b,10,' out
}

@test "columns of different lengths are reported, and nothing is invented" {
	cd "$BATS_TEST_TMPDIR"
	speedscope_of '[[0], [1], [1]]' '[5, 1]' >x.json
	run -3 --separate-stderr opreport --by symbol --csv x.json
	[[ "$stderr" == *"1 lines were not recognised"* ]]
	grep -q '^b,1,' <<<"$output"
	speedscope_of '[[0]]' '[5, 1, 7]' >x.json
	run -3 --separate-stderr opreport --by symbol --csv x.json
	[[ "$stderr" == *"2 lines were not recognised"* ]]
	speedscope_of '[[0], [1.5]]' '[5, 1]' >x.json
	run -3 --separate-stderr opreport --by symbol --csv x.json
	! grep -q '^b,' <<<"$output"
	printf '{"nodes": [{"id": 1, "callFrame": {"functionName": "f"}}], "startTime": 0, "endTime": 9,
		"samples": [1, 1], "timeDeltas": [3]}' >x.cpuprofile
	run -3 --separate-stderr opreport --by symbol --csv x.cpuprofile
	grep -q '^f,2,' <<<"$output"
}
