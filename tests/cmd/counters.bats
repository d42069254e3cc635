# SPDX-License-Identifier: GPL-2.0-or-later
# Machines with hardware counters, which fake_pmu.c emulates.
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

# fake COMMAND...: runs it with the emulated counters.
fake()
{
	timeout -k 5 60 env LD_PRELOAD="$FAKE_PMU" FAKE_SYSFS="$FAKE_SYSFS" "${fakes[@]}" "$@"
}

# pmu NAME TYPE: adds a PMU to the emulated machine.
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

@test "with two kinds of cores, one event name is counted on each kind" {
	hybrid
	run -0 --separate-stderr fake "$OPROFILE_LINKS/ocount" -b -e cycles,cpu_atom/event=3/ true
	echo "$output"
	[[ ${lines[0]} == cpu_core/cycles/,* ]]
	[[ ${lines[1]} == cpu_atom/cycles/,* ]]
	[[ ${lines[2]} == cpu_atom/event=3/,* ]]
	[ "${#lines[@]}" -eq 3 ]
	# Instructions per cycle over both kinds of cores; all events are the same clock here.
	fake "$OPROFILE_LINKS/ocount" --json --metrics -e cycles,instructions sh -c "$(spin)" >"$BATS_TEST_TMPDIR/metrics"
	cat "$BATS_TEST_TMPDIR/metrics"
	python3 - "$BATS_TEST_TMPDIR/metrics" <<-'END'
	import json, sys
	data = json.load(open(sys.argv[1]))
	counts = [r["count"] for r in data["rows"]]
	value = {m["name"]: m["value"] for m in data["metrics"]}["instructions per cycle"]
	expected = (counts[2] + counts[3]) / (counts[0] + counts[1])
	assert len(counts) == 4 and abs(value - expected) < 1e-4, data
	END
}

@test "with two kinds of cores, both are sampled by default, separately or merged" {
	hybrid
	fake "$OPROFILE_LINKS/operf" --session-dir "$session" sh -c "$(spin)"
	opreport --session-dir "$session" >"$BATS_TEST_TMPDIR/split"
	opreport --session-dir "$session" --merge core >"$BATS_TEST_TMPDIR/merged"
	cat "$BATS_TEST_TMPDIR/split" "$BATS_TEST_TMPDIR/merged"
	grep -q '^Counted cpu_[a-z]*/cycles/ events ' "$BATS_TEST_TMPDIR/split"
	! grep -q '^Counted cycles events ' "$BATS_TEST_TMPDIR/split"
	[ "$(grep -c '^Counted ' "$BATS_TEST_TMPDIR/merged")" -eq 1 ]
	grep -q '^Counted cycles events ' "$BATS_TEST_TMPDIR/merged"
	# Prints the samples of both PMUs, which are in one column.
	total()
	{
		opreport --session-dir "$session" --by comm --csv "$@" | awk -F, '
			NR == 1 { for (i = 1; i <= NF; i++) if ($i == "samples") at = i }
			NR > 1 { sum += $at } END { print sum }'
	}
	[ "$(total)" -gt 0 ]
	[ "$(total)" -eq "$(total --merge core)" ]
}

# cpuinfo VENDOR FAMILY MODEL: sets the emulated CPU type.
cpuinfo()
{
	printf 'vendor_id\t: %s\ncpu family\t: %s\nmodel\t\t: %s\nstepping\t: 2\n' "$@" >"$BATS_TEST_TMPDIR/cpuinfo"
	fakes=("FAKE_CPUINFO=$BATS_TEST_TMPDIR/cpuinfo")
}

@test "with two kinds of cores, ophelp lists the events of both with their counters" {
	local list=$BATS_TEST_TMPDIR/list
	hybrid
	cpuinfo GenuineIntel 6 151
	[ "$(fake "$OPROFILE_LINKS/ophelp" -r)" = i386/alderlake ]
	fake "$OPROFILE_LINKS/ophelp" >"$list" 2>/dev/null
	# The vendor's lists of Linux 6.12: 8 general counters on one kind of core, 6 on the
	# other.
	[ "$(head -n 1 "$list")" = 'oprofile: available events for CPU type "Intel Alder Lake and Raptor Lake, performance cores"' ]
	grep -n '^oprofile: available\|kinds of cores\|^MEM_LOAD_UOPS_RETIRED\|^UOPS_DISPATCHED\|^MEM_BOUND_STALLS\|^page-faults' "$list"
	grep -qx "One of this machine's 2 kinds of cores: CPUs 0, PMU cpu_core" "$list"
	grep -qx "One of this machine's 2 kinds of cores: CPUs 1, PMU cpu_atom" "$list"
	grep -qx 'oprofile: available events for CPU type "Intel Alder Lake, efficient cores"' "$list"
	grep -qx 'MEM_LOAD_UOPS_RETIRED: (counter: 0, 1, 2, 3, 4, 5)' "$list"
	grep -qx 'UOPS_DISPATCHED: (counter: 0, 1, 2, 3, 4, 5, 6, 7)' "$list"
	[ "$(grep -c '^page-faults: ' "$list")" -eq 1 ]
	# An event that only one kind of core has is found: Linux, x86/alderlake/cache.json has
	# 0xd1 as its code.
	fake "$OPROFILE_LINKS/ophelp" --search MEM_LOAD_UOPS_RETIRED 2>/dev/null | grep -q '^MEM_LOAD_UOPS_RETIRED: '
	[ "$(fake "$OPROFILE_LINKS/ophelp" MEM_LOAD_UOPS_RETIRED 2>/dev/null)" -eq 209 ]
	fake "$OPROFILE_LINKS/ophelp" --json >"$list.json" 2>/dev/null
	fake "$OPROFILE_LINKS/ophelp" --xml >"$list.xml" 2>/dev/null
	python3 - "$list" <<-'END'
	import json, sys, xml.etree.ElementTree as tree
	data = json.load(open(sys.argv[1] + ".json"))
	kinds = [data] + data["other_cores"]
	assert [k["pmu"] for k in kinds] == ["cpu_core", "cpu_atom"]
	assert [k["cpu_type"] for k in kinds] == ["i386/alderlake", "i386/alderlake-e"]
	assert [k["counters"] for k in kinds] == [8, 6]
	of = [{e["name"]: e for e in k["events"]} for k in kinds]
	# Linux: x86/alderlake/pipeline.json, machine clears: one name has two codes.
	codes = [{m["name"]: m["config"] for m in e["MACHINE_CLEARS"]["masks"]}["SMC"] for e in of]
	assert codes == [0x4C3, 0x1C3], codes
	xml = [e.get("pmu") for e in tree.parse(sys.argv[1] + ".xml").getroot().iter("event")]
	assert xml == ["cpu_core"] * len(of[0]) + ["cpu_atom"] * len(of[1])
	END
	# A machine with one PMU has no such output.
	rm -r "$FAKE_SYSFS/cpu_atom"
	! fake "$OPROFILE_LINKS/ophelp" 2>/dev/null | grep 'kinds of cores'
}

@test "big and little ARM cores list their own events" {
	pmu armv8_cortex_a53 101
	pmu armv8_cortex_a76 102
	echo 0-3 >"$FAKE_SYSFS/armv8_cortex_a53/cpus"
	echo 4,5 >"$FAKE_SYSFS/armv8_cortex_a76/cpus"
	printf 'CPU implementer\t: 0x41\nCPU part\t: 0xd03\n' >"$BATS_TEST_TMPDIR/cpuinfo"
	fakes=("FAKE_CPUINFO=$BATS_TEST_TMPDIR/cpuinfo")
	fake "$OPROFILE_LINKS/ophelp" >"$BATS_TEST_TMPDIR/list" 2>/dev/null
	grep 'available events\|kinds of cores' "$BATS_TEST_TMPDIR/list"
	grep -qx "One of this machine's 2 kinds of cores: CPUs 0-3, PMU armv8_cortex_a53" "$BATS_TEST_TMPDIR/list"
	grep -qx "One of this machine's 2 kinds of cores: CPUs 4,5, PMU armv8_cortex_a76" "$BATS_TEST_TMPDIR/list"
	# Events that only one kind of core has: ARM's manuals, Cortex-A53 0xc0 and Cortex-A76
	# 0x31.
	fake "$OPROFILE_LINKS/ophelp" --json 2>/dev/null | python3 -c '
import json, sys
data = json.load(sys.stdin)
kinds = [data] + data["other_cores"]
events = {k["pmu"]: {e["name"]: e["code"] for e in k["events"]} for k in kinds}
assert events["armv8_cortex_a53"].get("EXT_MEM_REQ") == 0xC0
assert "EXT_MEM_REQ" not in events["armv8_cortex_a76"]
assert events["armv8_cortex_a76"].get("REMOTE_ACCESS") == 0x31'
}

@test "precise sampling falls back unless requested; a failing request gives one line" {
	pmu cpu 4
	echo 3 >"$FAKE_SYSFS/cpu/caps/max_precise"
	fakes=(FAKE_PRECISE=0)
	fake "$OPROFILE_LINKS/operf" --session-dir "$session" sh -c "$(spin)"
	run -125 --separate-stderr fake "$OPROFILE_LINKS/operf" --session-dir "$session" -e cycles:100000:pp true
	echo "$stderr"
	[[ $stderr == *'operf: event cycles: this CPU or kernel does not support precise samples of it (:pp): '* ]]
	fakes=(FAKE_PRECISE=2)
	fake "$OPROFILE_LINKS/operf" --session-dir "$session" -e cycles:100000:pp sh -c "$(spin)"
}

# opened TYPE: prints the config words and precision of the events that were opened on CPUs with
# the PMU of that type, as the kernel accepted them.
opened()
{
	sed -n "s/^fake_pmu: type $1 config \(0x[0-9a-f]*\) cpu [0-9]* precise \([0-3]\): 0$/\1 \2/p" "$BATS_TEST_TMPDIR/log" | sort -u
}

@test "AMD's IBS accepts its PMU and terms and explains rejected ones" {
	# The format that Linux 6.1 has for Zen 3.
	pmu ibs_op 103
	echo config:19 >"$FAKE_SYSFS/ibs_op/format/cnt_ctl"
	echo config:16 >"$FAKE_SYSFS/ibs_op/format/l3missonly"
	fakes=(FAKE_LOG=1)
	fake "$OPROFILE_LINKS/operf" -d "$session" -e ibs_op//:1000000 sh -c "$(spin)" 2>"$BATS_TEST_TMPDIR/log"
	[ "$(opened 103)" = '0x0 0' ]
	[ "$(reported_samples)" -gt 0 ]
	opreport --session-dir "$session" | grep -q '^Counted ibs_op// events .* count 1000000$'
	fake "$OPROFILE_LINKS/operf" -d "$session" -e ibs_op/cnt_ctl=1,l3missonly=1/:100000 sh -c "$(spin)" 2>"$BATS_TEST_TMPDIR/log"
	[ "$(opened 103)" = '0x90000 0' ]
	run -125 fake "$OPROFILE_LINKS/operf" -d "$session" -e ibs_op//:100001 true
	[[ $output == *'Count 100001 for event ibs_op// is not a multiple of 16, which IBS requires'* ]]
	run -125 fake "$OPROFILE_LINKS/operf" -d "$session" -e ibs_op//u:100000 true
	[[ $output == *'operf: event ibs_op//:'* ]]
	run -125 fake "$OPROFILE_LINKS/operf" -d "$session" -e ibs_fetch//:100000 true
	[[ $output == *'(This machine has no PMU ibs_fetch.)'* ]]
}

@test "Intel's PEBS uses the best precision by default, or exactly the requested one" {
	local most
	pmu cpu 4
	cpuinfo GenuineIntel 6 143
	for most in 0 2 3; do
		echo $most >"$FAKE_SYSFS/cpu/caps/max_precise"
		fakes=("FAKE_CPUINFO=$BATS_TEST_TMPDIR/cpuinfo" FAKE_LOG=1 FAKE_PRECISE=$most)
		# The vendor's list marks this event as precise, but not the others.
		fake "$OPROFILE_LINKS/operf" -d "$session" -e MEM_LOAD_RETIRED.L3_MISS:10000,UOPS_ISSUED.ANY:2000000,r1c2:10000 sh -c "$(spin)" \
			2>"$BATS_TEST_TMPDIR/log"
		cat "$BATS_TEST_TMPDIR/log"
		[ "$(opened 4)" = "$(printf '%s\n' '0x1ae 0' '0x1c2 0' "0x20d1 $most" | sort)" ]
	done
	for most in 1 2 3; do
		fake "$OPROFILE_LINKS/operf" -d "$session" -e "cycles:2000000:$(printf "%.${most}s" ppp)" sh -c "$(spin)" 2>"$BATS_TEST_TMPDIR/log"
		[ "$(opened 0)" = "0x0 $most" ]
	done
	fakes=("FAKE_CPUINFO=$BATS_TEST_TMPDIR/cpuinfo" FAKE_PRECISE=2)
	run -125 fake "$OPROFILE_LINKS/operf" -d "$session" -e cycles:2000000:ppp true
	[[ $output == *'does not support precise samples of it (:ppp): try fewer p, or none'* ]]
}

@test "ARM's SPE is rejected, and the message names perf record" {
	pmu arm_spe_0 104
	echo config:0 >"$FAKE_SYSFS/arm_spe_0/format/ts_enable"
	run -125 fake "$OPROFILE_LINKS/operf" -d "$session" -e arm_spe_0/ts_enable=1/:1024 true
	[[ $output == *'event arm_spe_0/ts_enable=1/: this PMU writes to an AUX area, which operf does not record (use perf record)'* ]]
}

@test "uncore PMUs are counted together, on the CPUs of their mask, in their unit" {
	for i in 0 1; do
		pmu uncore_cbox_$i $((110 + i))
		echo 0 >"$FAKE_SYSFS/uncore_cbox_$i/cpumask"
		echo event=0x34 >"$FAKE_SYSFS/uncore_cbox_$i/events/lookups"
		echo 6.25e-2 >"$FAKE_SYSFS/uncore_cbox_$i/events/lookups.scale"
		echo MiB >"$FAKE_SYSFS/uncore_cbox_$i/events/lookups.unit"
	done
	run -1 fake "$OPROFILE_LINKS/ocount" -e cbox/lookups/ true
	[[ $output == *'event cbox/lookups/ counts for whole CPUs'*'--cpu-list 0' ]]
	run -125 fake "$OPROFILE_LINKS/operf" -e cbox/lookups/ true
	[[ $output == *'and cannot be sampled (use ocount)' ]]
	run -1 fake "$OPROFILE_LINKS/ocount" -s -i 100:1 -e imc/lookups/
	[[ $output == *'(This machine has no PMU imc.)' ]]
	fake "$OPROFILE_LINKS/ocount" -C 0 -c -i 1000:1 --json -e uncore_cbox_1/lookups/,cbox/lookups/,cpu-clock \
		>"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" || {
		grep -q perf_event "$BATS_TEST_TMPDIR/err" && skip "no rights to count the system"
		cat "$BATS_TEST_TMPDIR/err"
		false
	}
	python3 - "$BATS_TEST_TMPDIR/out" <<-'END'
	import json, sys, time
	data = json.load(open(sys.argv[1]))
	assert abs(data["time"] - time.time()) < 600, data["time"]
	one, both, clock = data["rows"]
	# The counters are clocks: two of them count twice as much.
	assert abs(both["count"] - 2 * one["count"]) < one["count"] / 2, data
	assert both["enabled_ns"] > 1.5 * clock["enabled_ns"], data
	assert one["unit"] == "MiB" and abs(one["value"] - one["count"] / 16) < 1 + one["count"] / 1e5, one
	assert "unit" not in clock
	END
	if [ "$(getconf _NPROCESSORS_ONLN)" -gt 1 ]; then
		run -1 fake "$OPROFILE_LINKS/ocount" -C 1 -i 100:1 -e cbox/lookups/
		[[ $output == *'event cbox/lookups/ can be counted only on CPUs 0' ]]
	fi
}

@test "a PMU without exclude bits can be counted but not sampled, with a message" {
	pmu msr 105
	run -0 --separate-stderr fake "$OPROFILE_LINKS/ocount" -b -e msr/event=0/ sh -c "$(spin)"
	echo "$output"
	[[ ${lines[0]} =~ ^msr/event=0/,[1-9][0-9]*,100.00$ ]]
	run -1 fake "$OPROFILE_LINKS/ocount" -b -e msr/event=0/u true
	[[ $output == *'event msr/event=0/: its PMU cannot count user space and the kernel separately: remove the modifier '* ]]
	run -125 fake "$OPROFILE_LINKS/operf" -d "$session" -e msr/event=0/:100000:u true
	[[ $output == *'its PMU cannot count user space and the kernel separately: remove the modifier '* ]]
	run -125 fake "$OPROFILE_LINKS/operf" -d "$session" -e msr/event=0/:100000 true
	echo "$output"
	[[ $output == *'event msr/event=0/ cannot be sampled: its PMU only counts (use ocount)'* ]]
}

@test "the header prints what the unit mask of an older event name means" {
	cpuinfo GenuineIntel 6 173
	pmu cpu 4
	fake "$OPROFILE_LINKS/operf" -d "$session" -e LLC_MISSES:100000 sh -c "$(spin)"
	opreport --session-dir "$session" | grep '^Counted LLC_MISSES events (LONGEST_LAT_CACHE: .*) with a unit mask of 0x41 (MISS: .*) count 100000$'
}

@test "errors of ocount end with status 1 and a hint" {
	echo 2 >"$BATS_TEST_TMPDIR/paranoid"
	fakes=("FAKE_PARANOID=$BATS_TEST_TMPDIR/paranoid")
	run -1 fake "$OPROFILE_LINKS/ocount" -e page-faults:0:1:0 true
	echo "$output"
	[[ $output == *'not allowed to profile the kernel: '*' is 2, your own processes need 1 or less (sysctl kernel.perf_event_paranoid=1)'* ]]
	# ocount returns the command's exit status.
	run -7 --separate-stderr fake "$OPROFILE_LINKS/ocount" -e page-faults sh -c 'exit 7'
	[[ $stderr == *'user space only'* ]]
	echo 3 >"$BATS_TEST_TMPDIR/paranoid"
	run -1 fake "$OPROFILE_LINKS/ocount" -e page-faults true
	[[ $output == *'not allowed to profile: '*' is 3, your own processes need 2 or less'* ||
		$output == *'perf_event_paranoid=3 requires CAP_SYS_ADMIN'* ]]
	if [ "$(id -u)" -ne 0 ]; then
		run -1 fake "$OPROFILE_LINKS/ocount" -e page-faults:0:1:0 -p 1
		[[ $output == *"You do not have permission to monitor process 1: it belongs to another user"* ]]
	elif setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$OPROFILE"; then
		sleep 60 &
		run -1 setpriv --reuid=65534 --regid=65534 --clear-groups timeout 20 "$OPROFILE" count -e page-faults -p $!
		kill $!
		echo "$output"
		[[ $output == *"You do not have permission to monitor process $!: it belongs to another user"* ]]
	fi
	# An event that the machine does not have.
	fakes=(FAKE_NONE=1)
	run -1 fake "$OPROFILE_LINKS/ocount" -e cycles true
	fakes=()
	run -127 --separate-stderr fake "$OPROFILE_LINKS/ocount" -e page-faults no-such-command-here
	run -126 --separate-stderr fake "$OPROFILE_LINKS/ocount" -e page-faults /
}

@test "more events than counters give a warning; an impossible group is rejected with a hint" {
	fakes=(FAKE_COUNTERS=2)
	run -0 --separate-stderr fake "$OPROFILE_LINKS/operf" -d "$session" -e cycles:1000000,instructions:1000000,r1234:1000000 sh -c "$(spin)"
	echo "$stderr"
	[[ $stderr == *'cannot count all these events at once (r1234 does not fit next to those before it)'* ]]
	[[ $stderr == *'multiplexes them'* ]]
	run -0 --separate-stderr fake "$OPROFILE_LINKS/operf" -d "$session" -e cycles:1000000,instructions:1000000,page-faults:100 sh -c "$(spin)"
	[[ $stderr != *'multiplexes them'* ]]
	run -125 --separate-stderr fake "$OPROFILE_LINKS/operf" -d "$session" -e '{cycles:1000000,instructions:1000000,r1234:1000000}' true
	echo "$stderr"
	[[ $stderr == *'event r1234 cannot be counted together with the others of its group'*'leave the braces out'* ]]
	run -1 --separate-stderr fake "$OPROFILE_LINKS/ocount" -e '{cycles,instructions,r1234}' true
	[[ $stderr == *'event r1234 cannot be counted together with the others of its group'* ]]
	run -0 --separate-stderr fake "$OPROFILE_LINKS/ophelp" --check-events r1:10000 r2:10000 r3:10000
	echo "$output $stderr"
	[[ $stderr == *'r3 does not fit next to those before it'* ]]
	# The number of counters is known for other CPUs also; cycles and instructions have fixed
	# counters.
	run -0 --separate-stderr "$OPROFILE_LINKS/ophelp" -c i386/skylake -e CPU_CLK_UNHALTED:2000000 INST_RETIRED:2000000 \
		r1:10000 r2:10000 r3:10000 r4:10000
	[ -z "$stderr" ]
}

@test "opcontrol names the event that does not fit, and keeps all events" {
	need_root
	fakes=(FAKE_COUNTERS=2 OPROFILE_RUN_DIR="$BATS_TEST_TMPDIR/run" OPROFILE_SETUP_DIR="$BATS_TEST_TMPDIR/etc")
	run -0 --separate-stderr fake "$OPROFILE_LINKS/opcontrol" --setup --no-vmlinux --session-dir="$session" \
		--event=r1:10000 --event=r2:10000
	[[ $stderr != *'multiplexes them'* ]]
	run -0 --separate-stderr fake "$OPROFILE_LINKS/opcontrol" --setup --no-vmlinux --session-dir="$session" \
		--event=r1:10000 --event=r2:10000 --event=r3:10000
	echo "$stderr"
	[[ $stderr == *"opcontrol: warning: Couldn't allocate hardware counters for the selected events: r3 does not fit next to those before it."* ]]
	grep -qx 'NR_CHOSEN=3' "$BATS_TEST_TMPDIR/etc/daemonrc"
}

@test "operf requests deferred user chains from a kernel that has them" {
	local log=$BATS_TEST_TMPDIR/log
	fakes=(FAKE_DEFER=1)
	fake "$OPROFILE_LINKS/operf" --session-dir "$session" --callgraph=fp \
		--perf-data="$BATS_TEST_TMPDIR/x.data" sh -c "$(spin)" 2>"$log"
	grep -q '^fake_pmu: deferred: callchain$' "$log"
	grep -q '^fake_pmu: deferred: output$' "$log"
	# The recording has samples, and the written file has complete call chains.
	[ "$(reported_samples)" -gt 0 ]
	run -0 "$OPROFILE" info "$BATS_TEST_TMPDIR/x.data"
	[[ $output != *defer* ]]
	[ "$("$OPROFILE" script -i "$BATS_TEST_TMPDIR/x.data" 2>/dev/null | grep -c $'^\t')" -gt 0 ]
	# Unwinding by operf itself does not use the kernel's deferred chains.
	fake "$OPROFILE_LINKS/operf" --session-dir "$session" --callgraph=dwarf sh -c "$(spin)" 2>"$log"
	run -1 grep deferred "$log"
	# Without the emulation the kernel of this machine decides.
	fakes=()
	fake "$OPROFILE_LINKS/operf" --session-dir "$session" --callgraph=fp sh -c "$(spin)"
}
