# Machines with counters that this one has not: fake_pmu.c stands for them.
bats_require_minimum_version 1.5.0
load helpers

setup()
{
	need_recording
	! ldd "$OPROFILE" | grep -q asan || skip "what is preloaded comes before ASan"
	FAKE_PMU=${FAKE_PMU:-$BUILD_ROOT/tests/cmd/fake_pmu.so}
	FAKE_SYSFS=$BATS_TEST_TMPDIR/sys
	mkdir -p "$FAKE_SYSFS"
	new_session
}

# fake COMMAND...: with such counters.
fake()
{
	timeout -k 5 60 env LD_PRELOAD="$FAKE_PMU" FAKE_SYSFS="$FAKE_SYSFS" "${fakes[@]}" "$@"
}

# pmu NAME TYPE: a PMU of the machine.
pmu()
{
	mkdir -p "$FAKE_SYSFS/$1/format" "$FAKE_SYSFS/$1/events" "$FAKE_SYSFS/$1/caps"
	echo "$2" >"$FAKE_SYSFS/$1/type"
	echo config:0-7 >"$FAKE_SYSFS/$1/format/event"
}

spin()
{
	cat <<-'END'
	i=0
	while [ $i -lt 200000 ]; do i=$((i+1)); done
	END
}

hybrid()
{
	pmu cpu_core 101
	pmu cpu_atom 102
	echo 0 >"$FAKE_SYSFS/cpu_core/cpus"
	echo 1 >"$FAKE_SYSFS/cpu_atom/cpus"
}

@test "two kinds of cores: one name is counted on each of them" {
	hybrid
	run -0 --separate-stderr fake "$OPROFILE_LINKS/ocount" -b -e cycles,cpu_atom/event=3/ true
	echo "$output"
	[[ ${lines[0]} == cpu_core/cycles/,* ]]
	[[ ${lines[1]} == cpu_atom/cycles/,* ]]
	[[ ${lines[2]} == cpu_atom/event=3/,* ]]
	[ "${#lines[@]}" -eq 3 ]
}

@test "two kinds of cores: sampled by default, told apart or merged" {
	hybrid
	fake "$OPROFILE_LINKS/operf" --session-dir "$session" sh -c "$(spin)"
	opreport --session-dir "$session" >"$BATS_TEST_TMPDIR/split"
	opreport --session-dir "$session" --merge core >"$BATS_TEST_TMPDIR/merged"
	cat "$BATS_TEST_TMPDIR/split" "$BATS_TEST_TMPDIR/merged"
	grep -q '^Counted cpu_[a-z]*/cycles/ events ' "$BATS_TEST_TMPDIR/split"
	! grep -q '^Counted cycles events ' "$BATS_TEST_TMPDIR/split"
	[ "$(grep -c '^Counted ' "$BATS_TEST_TMPDIR/merged")" -eq 1 ]
	grep -q '^Counted cycles events ' "$BATS_TEST_TMPDIR/merged"
	# The samples of both are in the one column.
	total()
	{
		opreport --session-dir "$session" --by comm --csv "$@" | awk -F, '
			NR == 1 { for (i = 1; i <= NF; i++) if ($i == "samples") at = i }
			NR > 1 { sum += $at } END { print sum }'
	}
	[ "$(total)" -gt 0 ]
	[ "$(total)" -eq "$(total --merge core)" ]
}

@test "precise samples: given up where nobody asked for them, else refused in one line" {
	pmu cpu 4
	echo 3 >"$FAKE_SYSFS/cpu/caps/max_precise"
	fakes=(FAKE_PRECISE=0)
	fake "$OPROFILE_LINKS/operf" --session-dir "$session" true
	run -125 --separate-stderr fake "$OPROFILE_LINKS/operf" --session-dir "$session" -e cycles:100000:pp true
	echo "$stderr"
	[[ $stderr == *'operf: event cycles: this CPU or kernel refuses precise samples of it (:pp): '* ]]
	fakes=(FAKE_PRECISE=2)
	fake "$OPROFILE_LINKS/operf" --session-dir "$session" -e cycles:100000:pp true
}
