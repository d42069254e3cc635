#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# oprofile export bolt: the output equals that of perf2bolt for the same recording, and llvm-bolt
# accepts it.

bats_require_minimum_version 1.5.0
load helpers

setup()
{
	need clang
	[ "$(uname -m)" = x86_64 ] || skip "the stepper knows x86-64 alone: NOT TESTED"
	perf2bolt=$(command -v perf2bolt-16 || true)
	llvm_bolt=$(command -v llvm-bolt-16 || true)
	cd "$BATS_TEST_TMPDIR"
	cat >calls.c <<-'END'
		#include <stdio.h>
		static __attribute__((noinline)) int local(int x) { return x % 7 ? x * 3 : x + 1; }
		__attribute__((noinline)) int global(int x) { return local(x) + (x & 1 ? 5 : local(x + 1)); }
		int main(int argc, char **argv)
		{
			int s = 0;
			for (int i = 0; i < (argc > 2 ? 30000000 : 200); i++)
				s += global(i) ^ local(s);
			printf("%d\n", s);
			return 0;
		}
	END
}

export_bolt()
{
	timeout -k 5 60 "$OPROFILE" export bolt "$@"
}

# theirs OUT ARG...: runs perf2bolt; the program chooses its mode by the name it is called with.
theirs()
{
	ln -sf "$perf2bolt" perf2bolt
	timeout -k 5 120 ./perf2bolt "${@:2}" -o "$1" >log 2>&1 || {
		cat log
		return 1
	}
}

@test "bolt of branch stacks prints the lines of perf2bolt, and llvm-bolt accepts them" {
	local name
	clang -O1 -fno-jump-tables -Wl,-q -Wl,--build-id -o calls calls.c
	# A program that jumps through a table.
	clang -O2 -Wl,-q -Wl,--build-id -o table "$SOURCE_ROOT/tests/workloads/interpreter.c"
	for name in calls table; do
		python3 "$SOURCE_ROOT/tests/cmd/step_branches.py" "$name.data" "./$name" 60
		export_bolt -V "$name.data" -o "$name.ours" 2>err
		grep -q "/$name: branches" err
		grep -q '^1 main [0-9a-f]* 1 main [0-9a-f]* 0 [1-9][0-9]*$' "$name.ours"
	done
	grep -q '^1 local/1 ' calls.ours
	[ -n "$perf2bolt" ] && command -v perf >/dev/null || skip "needs perf2bolt-16 (bolt-16) and perf: NOT TESTED"
	for name in calls table; do
		theirs "$name.theirs" "$name" -p "$name.data"
		diff <(sort "$name.theirs") <(sort "$name.ours")
		"$llvm_bolt" "$name" -o "$name.bolt" -data "$name.ours" -reorder-blocks=ext-tsp >log 2>&1
		# llvm-bolt does not change functions with some kinds of jump tables.
		[ "$name" = table ] || grep -q "^BOLT-INFO: [1-9][0-9]* out of .* have non-empty execution profile" log
		[ "$("./$name.bolt")" = "$("./$name")" ]
	done
}

@test "bolt of samples prints the lines of perf2bolt -nl, from perf.data and from a session" {
	need perf
	need_recording
	clang -O1 -Wl,-q -Wl,--build-id -o calls calls.c
	perf_record -F 1999 -e cpu-clock:u -o data ./calls x y >out
	export_bolt data -o ours
	[ "$(head -n 1 ours)" = "no_lbr cpu-clock:u:" ]
	# All samples of the binary are written.
	opreport --by event --csv data lib-image:calls | awk -F, 'NR == 2 { print $2 }' >wanted
	awk '/^1 / { n += $4 } END { print n }' ours | diff wanted -
	new_session
	"$OPROFILE" import --session-dir "$session" data
	export_bolt --session-dir "$session" | cmp - ours
	[ -n "$perf2bolt" ] || skip "needs perf2bolt-16 (bolt-16): NOT TESTED"
	theirs theirs calls -nl -p data
	diff <(sort theirs) <(sort ours)
	"$llvm_bolt" calls -o calls.bolt -data ours -reorder-blocks=ext-tsp >log 2>&1
	[ "$(./calls.bolt)" = "$(./calls)" ]
}

@test "bolt reports inputs that it cannot export" {
	new_session
	write_segment "$session/samples/current" <<-END
		info|0||$(uname -n)||1000000000|0||
		event|TIMER|time|7|1000000|0|0
		image|1|$PWD/gone|0123456789
		thread|7|7|p|0|0|/
		sample|0|0|0|2000|1000000|0+4096|1
	END
	run -1 --separate-stderr export_bolt --session-dir "$session" -o none
	echo "$stderr"
	# The command warns that the binary is missing, and writes no file.
	[ "${#stderr_lines[@]}" -le 2 ] && [[ $stderr == *"cannot read the symbols of '$PWD/gone'"* ]] && [ ! -e none ]
}
