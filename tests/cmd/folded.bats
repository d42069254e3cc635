#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# oprofile export folded, and reports grouped by stack.

bats_require_minimum_version 1.5.0
load helpers

setup()
{
	out=$BATS_TEST_TMPDIR
}

folded()
{
	timeout -k 5 60 "$OPROFILE" export folded "$@"
}

# Sums the counts of lines "a;b;c N" by the innermost function.
leaves()
{
	awk '{ n = $NF; sub(/ [0-9]+$/, ""); sub(/.*;/, ""); sum[$0] += n }
		END { for (k in sum) print sum[k], k }' "$@" | sort
}

@test "folded has one path for a program with a known stack, with the shares of a report" {
	need_recording
	operf --callgraph --session-dir "$out" "$WORKLOADS/ratio" 1000 >/dev/null 2>"$out/err"
	folded --session-dir "$out" >"$out/folded"
	# Nearly all samples are in the expected stack.
	awk '/^ratio;.*;main;work_run_parts;.*work_b [0-9]+$/ { b += $NF } { all += $NF }
		END { exit !(b > 0.9 * all) }' "$out/folded"
	# Compare with the counts of a report without callers, function by function.
	diff <(leaves "$out/folded" | grep 'work_[ab]$') \
		<("$OPROFILE" report --session-dir "$out" --by symbol --csv |
			tr -d '\r' | awk -F, '/^work_[ab],/ { print $2, $1 }' | sort)
	[ "$(awk '{ n += $NF } END { print n }' "$out/folded")" -eq \
		"$("$OPROFILE" report --session-dir "$out" --by event --csv | tr -d '\r' |
			awk -F, 'NR == 2 { print $2 }')" ]
}

@test "folded shows a recursion of 300 without frame pointers" {
	need perf
	perf_record -e cpu-clock -F 999 --call-graph dwarf,32768 \
		-o "$out/perf.data" "$WORKLOADS/deep" 300 500 >/dev/null 2>&1 ||
		skip "perf cannot record here"
	folded "$out/perf.data" -o "$out/folded"
	# The stack with the most samples is complete.
	sort -k2 -n -t' ' -r "$out/folded" | awk -F'[; ]' '{ n = $NF; d = 0
		for (i = 1; i < NF; i++) d += $i == "descend"
		if (d == 301) whole += n
		all += n } END { print whole, all; exit !(whole > 0.9 * all) }'
	# The output is the same if the file is first imported as a session.
	"$OPROFILE" import --session-dir "$out" "$out/perf.data"
	folded --session-dir "$out" >"$out/session"
	cmp "$out/folded" "$out/session"
}

# The output of perf on the recording machine, name by name (a file in brackets if it has no
# name).
@test "folded of another machine's recording has the stacks that perf printed there" {
	need_data
	export PERF_BUILDID_DIR=$DATA/arm64/debug-cache
	folded "$DATA/arm64/perf.dwarf.data" 2>"$out/err" | grep ';main;' |
		sed 's/^\(.*\) \([0-9]*\)$/\2 \1/; s/\[kernel\.kallsyms\]/[unknown]/g' |
		awk '{ n = $1; sub(/^[0-9]+ /, ""); gsub(/\[[^];]*\]/, "[unknown]"); sum[$0] += n }
			END { for (k in sum) print k, sum[k] }' | sort >"$out/ours"
	zcat "$DATA/arm64/perf.dwarf.data.script.txt.gz" |
		awk '/^[^\t ]/ { comm = $1; stack = ""; next }
			/^\t/ { name = $2; sub(/\+0x[0-9a-f]+$/, "", name); stack = ";" name stack; next }
			/^$/ { n[comm stack]++ }
			END { for (k in n) print k, n[k] }' | grep ';main;' | sort >"$out/native"
	[ "$(wc -l <"$out/native")" -gt 30 ]
	[ "$(comm -3 "$out/native" "$out/ours" | wc -l)" -le $(($(wc -l <"$out/native") / 10)) ]
}

@test "folded shows truncated stacks, needs one event, and rejects wrong calls with one line" {
	need_data
	export PERF_BUILDID_DIR=$DATA/arm64/debug-cache
	local f=$DATA/perf-history/perf.data.callgraph-3.8
	folded "$DATA/arm64/perf.dwarf.data" 2>/dev/null | grep -q '^work;\[truncated\];'
	run -1 --separate-stderr folded "$DATA/arm64/perf.full.data"
	[ "$(grep -vcE 'warning:|--accept-changed' <<<"$stderr")" -eq 1 ]
	[[ $stderr == *"select one, for example event:"* ]]
	run -0 --separate-stderr folded "$DATA/arm64/perf.full.data" event:page-faults
	[ "${#lines[@]}" -gt 3 ]
	run -1 --separate-stderr folded "$out/nothing.data"
	run -1 --separate-stderr folded "$f" -o "$out/no/where"
	[ "$(grep -vc 'warning:' <<<"$stderr")" -eq 1 ]
	# An existing file is only replaced by a complete one.
	echo old >"$out/kept"
	run -1 folded "$DATA/arm64/perf.full.data" -o "$out/kept"
	[ "$(cat "$out/kept")" = old ]
	[ "$(ls "$out" | grep -c part)" -eq 0 ]
}

@test "--by stack works with other keys and with one thread" {
	need_data
	local f=$DATA/perf-history/perf.data.callgraph-3.8
	export PERF_BUILDID_DIR=$out/nothing
	"$OPROFILE" report --by comm,image,stack --csv "$f" 2>/dev/null >"$out/two"
	"$OPROFILE" report --threads 1 --by comm,image,stack --csv "$f" 2>/dev/null >"$out/one"
	cmp "$out/one" "$out/two"
	[ "$(tr -d '\r' <"$out/two" | awk -F, 'NR > 1 { n += $(NF - 2) } END { print n }')" -eq \
		"$("$OPROFILE" report --by event --csv "$f" 2>/dev/null | tr -d '\r' |
			awk -F, 'NR > 1 { n += $2 } END { print n }')" ]
}
