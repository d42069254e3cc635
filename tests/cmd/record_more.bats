#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# operf: unusual processes, threads, limits and streams.

bats_require_minimum_version 1.5.0
load helpers

setup()
{
	begin_recording_test
}

teardown()
{
	end_recording_test
}

# recorder_ticks: prints the CPU time of $recorder so far, in hundredths of a second.
recorder_ticks()
{
	awk '{ print $14 + $15 }' "/proc/$recorder/stat"
}

@test "--verbose reports the opened events and the totals of the recording" {
	run -0 --separate-stderr operf --session-dir "$session" -e page-faults:1 true
	quiet=${#stderr_lines[@]}
	for option in -V --verbose --verbose=record,misc --verbose=all; do
		run -0 --separate-stderr operf --session-dir "$session" "$option" \
			-e page-faults:1 true
		[ "${#stderr_lines[@]}" -gt "$quiet" ]
		[[ "$stderr" == *"event page-faults: type 1, config 0x2, a sample every 1, in user and kernel space"* ]]
		[[ "$stderr" == *"rings of "*" CPUs: "* ]]
		[[ "$stderr" == *"rounds: "* ]]
	done
	run -125 operf --session-dir "$session" --verbose=loud true
	[[ "$output" == *"unknown --verbose= options: loud"* ]]
}

@test "a program that keeps changing names adds no more names than it has samples" {
	cd "$BATS_TEST_TMPDIR"
	run -0 --separate-stderr operf --session-dir "$session" --verbose "$WORKLOADS/flood" 200000
	echo "$stderr"
	[[ "$stderr" =~ ([0-9]+)\ samples[,\)] ]]
	samples=${BASH_REMATCH[1]}
	[[ "$stderr" =~ "the session contains "([0-9]+)" names" ]]
	names=${BASH_REMATCH[1]}
	[[ "$stderr" =~ "in memory at the end: "([0-9]+)" names and "([0-9]+)" images" ]]
	# Each sample has at most one name of a program and one name of a file.
	[ "$names" -le $((2 * samples + 500)) ]
	[ "${BASH_REMATCH[1]}" -le 4500 ]
	[ "${BASH_REMATCH[2]}" -le 2500 ]
	[ "$(du -sk "$session/samples/current"/segment-* | awk '{ n += $1 } END { print n }')" -le $((60 + samples / 50)) ]
	# The program is known nevertheless.
	run -0 --separate-stderr opreport --session-dir "$session" --by app --csv
	[[ "$output" == *flood* ]]
}

@test "operf does not busy-loop when one of two processes ends" {
	sleep 0.2 3>&- &
	first=$!
	timeout 60 sleep 60 3>&- &
	target=$!
	start_operf --pid "$first,$target"
	wait "$first"
	sleep 0.2
	before=$(recorder_ticks)
	sleep 2
	[ $(($(recorder_ticks) - before)) -lt 50 ]
}

@test "a process given twice is recorded once" {
	"$WORKLOADS/leader_gone" 1 3>&- &
	target=$!
	operf --session-dir "$session" --pid "$target,$target" -e cpu-clock:1000000 \
		2>"$BATS_TEST_TMPDIR/err"
	samples=$(end_line samples "$BATS_TEST_TMPDIR/err")
	[ "$samples" -gt 0 ]
	[ "$samples" -le 1100 ]
}

@test "a process whose first thread has ended is recorded, with its mappings" {
	"$WORKLOADS/leader_gone" 2 3>&- &
	target=$!
	for ((i = 0; i < 100; i++)); do
		grep -q '^State:.*zombie' "/proc/$target/status" && break
		sleep 0.01
	done
	operf --session-dir "$session" --pid "$target"
	run -0 opreport --session-dir "$session" --by symbol --csv
	[[ "$output" == *left_alone,* ]]
}

@test "a low limit of pinned memory makes the rings smaller, and recording works" {
	need_root
	need_nobody
	open_session
	ulimit -l 0
	run -0 as_nobody --session-dir "$session" -g "$WORKLOADS/leader_gone" 0.3
}

@test "the command starts with the signal dispositions that operf had" {
	for ignored in PIPE XFSZ CHLD HUP; do
		plain=$(env --ignore-signal="$ignored" grep SigIgn /proc/self/status)
		run -0 --separate-stderr env --ignore-signal="$ignored" \
			"$OPROFILE_LINKS/operf" --session-dir "$session" -e page-faults:1 grep SigIgn /proc/self/status
		[ "$output" = "$plain" ]
	done
	plain=$(env --default-signal grep SigIgn /proc/self/status)
	run -0 --separate-stderr env --default-signal \
		"$OPROFILE_LINKS/operf" --session-dir "$session" -e page-faults:1 grep SigIgn /proc/self/status
	[ "$output" = "$plain" ]
}

@test "nohup: a hangup does not end the recording" {
	log=$BATS_TEST_TMPDIR/log
	env --ignore-signal=HUP "$OPROFILE_LINKS/operf" --session-dir "$session" \
		"$WORKLOADS/leader_gone" 1 2>"$log" 3>&- &
	recorder=$!
	wait_for "$log" 'Profiler started'
	kill -HUP "$recorder"
	wait_operf
	[ "$status" -eq 0 ]
	[ "$(end_line samples)" -gt 0 ]
}

@test "SIGTERM ends the session at once, even if the command ignores it" {
	start_operf sh -c "trap '' TERM; sleep 30 & echo \$! >'$BATS_TEST_TMPDIR/sleeper'; wait"
	wait_for "$BATS_TEST_TMPDIR/sleeper" .
	target=$(cat "$BATS_TEST_TMPDIR/sleeper")
	kill -TERM "$recorder"
	wait_operf
	[ "$status" -eq 143 ]
	kill -0 "$target"
}

@test "with a closed stderr, messages go nowhere else, and the command inherits it closed" {
	"$OPROFILE_LINKS/operf" --session-dir "$session" \
		sh -c 'ls /proc/$$/fd >"$0"' "$BATS_TEST_TMPDIR/fds" 2>&- 3>&-
	grep -qx 1 "$BATS_TEST_TMPDIR/fds"
	run ! grep -qx 2 "$BATS_TEST_TMPDIR/fds"
	run ! grep -rlq Profiler "$session"
}

@test "a session directory that is removed while recording is an error" {
	start_operf "$WORKLOADS/leader_gone" 1
	rm -r "$session"
	wait_operf
	[ "$status" -eq 125 ]
	grep -q 'was moved or removed' "$log"
}

@test "a rate above the kernel's limit is rejected, and the message names the setting" {
	run -125 operf --session-dir "$session" --frequency 1000000000 true
	[[ "$output" == *perf_event_max_sample_rate* ]]
}

@test "--frequency max is the kernel's limit" {
	limit=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
	operf --session-dir "$session" -F max "$WORKLOADS/ratio" 100
	"$OPROFILE" info "$session/samples/current" | grep -w "$limit"
	for wrong in maximum 12x -1; do
		run -125 operf --session-dir "$session" --frequency="$wrong" true
		[[ "$output" == *"--frequency: '$wrong' is neither a whole number nor max"* ]]
	done
	run -125 operf --session-dir "$session" -F 0 true
	[[ "$output" == *"nothing would be sampled"* ]]
}

@test "the message names a missing /proc" {
	need_root
	unshare --mount true || skip "needs namespaces"
	run unshare --mount sh -c 'umount -l /proc; exec "$0" --session-dir "$1" true' \
		"$OPROFILE_LINKS/operf" "$session"
	# Without /proc the leak checker of a sanitized build ends with another status.
	[ "$status" -ne 0 ]
	[[ "$output" == *"/proc is not mounted"* ]]
}

@test "a software event takes one sample per COUNT events" {
	operf --session-dir "$session" -e page-faults:1000,TIMER \
		"$WORKLOADS/faults" 100000 >"$BATS_TEST_TMPDIR/faults"
	read -r least most <"$BATS_TEST_TMPDIR/faults"
	samples=$(opreport --session-dir "$session" --by event --csv | grep page-faults)
	echo "$samples, between $least and $most faults"
	[ "$(cut -d, -f2 <<<"$samples")" -ge $((least / 1000 - 1)) ]
	[ "$(cut -d, -f2 <<<"$samples")" -le $((most / 1000 + 1)) ]
	[ "$(cut -d, -f3 <<<"$samples")" -eq $(($(cut -d, -f2 <<<"$samples") * 1000)) ]
}

# Writes bpf.py into the test's directory. bpf.py MACHINE SECONDS makes the kernel run a BPF
# program for this time.
make_bpf()
{
	cat >bpf.py <<-'END'
		import ctypes, struct, sys, time
		libc = ctypes.CDLL(None, use_errno=True)
		def bpf(cmd, attr):
		    attr = ctypes.create_string_buffer(attr, 128)
		    # __NR_bpf of x86-64, and of machines with the common table
		    r = libc.syscall(321 if sys.argv[1] == "x86_64" else 280, cmd, attr, 128)
		    if r < 0:
		        sys.exit("bpf: errno %d" % ctypes.get_errno())
		    return r
		# r0 = 1; r1 = 0; do r0 *= 31, r1 += 1; while (r1 < 4000); exit
		code = b"".join(struct.pack("<BBhi", *i) for i in ((0xb7, 0, 0, 1), (0xb7, 1, 0, 0), (0x27, 0, 0, 31),
		    (0x07, 1, 0, 1), (0xa5, 1, -3, 4000), (0x95, 0, 0, 0)))
		insns, license, data = (ctypes.create_string_buffer(b) for b in (code, b"GPL", bytes(64)))
		fd = bpf(5, struct.pack("<IIQQIIQII16s", 1, 6, ctypes.addressof(insns), ctypes.addressof(license), 0, 0, 0, 0, 0,
		    b"oprof_busy"))
		end = time.time() + float(sys.argv[2])
		while time.time() < end:
		    bpf(10, struct.pack("<IIIIQQII", fd, 0, 64, 0, ctypes.addressof(data), 0, 20000, 0))
	END
	machine=$(uname -m)
	[ "$machine" = x86_64 ] || [ "$machine" = aarch64 ] || skip "NOT TESTED here: the number of bpf(2)"
	python3 bpf.py "$machine" 0 2>bpf.err || skip "NOT TESTED: $(cat bpf.err)"
	[ "$(cat /proc/sys/net/core/bpf_jit_enable)" != 0 ] || skip "NOT TESTED: no JIT compiler for BPF"
}

# Sets $bpf to the number of samples of python3 that have the BPF program's symbol.
count_bpf()
{
	opreport --session-dir "$session" --by image,symbol --csv comm:python3 >out
	head -n 5 out
	bpf=$(sed -n 's/^bpf_prog_[0-9a-f]\{16\}_oprof_busy,bpf_prog_[0-9a-f]\{16\}_oprof_busy,\([0-9]*\),.*/\1/p' out)
}

@test "a BPF program that is loaded and unloaded while recording has its name" {
	need_root
	need python3
	cd "$BATS_TEST_TMPDIR"
	make_bpf
	operf --session-dir "$session" --system-wide --perf-data own.data -- sh -c 'sleep 1.2; python3 bpf.py "$0" 1' "$machine"
	count_bpf
	[ "$bpf" -gt 100 ]
	# The perf.data file of the same recording has the same samples.
	opreport own.data --by image,symbol --csv comm:python3 2>/dev/null | grep -q "_oprof_busy,bpf_prog_[0-9a-f]*_oprof_busy,$bpf,"
	# The samples are also named if a single command is recorded.
	operf --session-dir "$session" -- python3 bpf.py "$machine" 1
	count_bpf
	[ "$bpf" -gt 100 ]
}

@test "a BPF program that is loaded while another user records has its name" {
	need_root
	need python3
	cd "$BATS_TEST_TMPDIR"
	make_bpf
	mkdir other
	# The kernel sends its records to the recorder that started later first.
	operf --session-dir "$session" --system-wide --perf-data own.data -- \
		"$OPROFILE_LINKS/operf" --session-dir "$BATS_TEST_TMPDIR/other" --system-wide -- sh -c 'sleep 1.2; python3 bpf.py "$0" 1' "$machine"
	count_bpf
	[ "$bpf" -gt 100 ]
	# No sample of the BPF program is without a symbol, and perf finds the symbol in our file.
	! grep '^\[unknown\],.*no-vmlinux' out
	opreport own.data --by image,symbol --csv comm:python3 2>/dev/null | grep -q "_oprof_busy,bpf_prog_[0-9a-f]*_oprof_busy,$bpf,"
	if command -v perf >perf; then
		perf report -i own.data --stdio -n --sort sym --comm python3 2>/dev/null | grep "_oprof_busy" | grep -qw "$bpf"
	fi
}

@test "a BPF program that was loaded before the recording has its name" {
	need_root
	need python3
	need perf
	cd "$BATS_TEST_TMPDIR"
	make_bpf
	python3 bpf.py "$machine" 30 3>&- &
	target=$!
	for _ in $(seq 100); do
		grep -q "_oprof_busy.*\[bpf\]" /proc/kallsyms && break
		sleep 0.1
	done
	name=$(sed -n 's/.* \(bpf_prog_[0-9a-f]*_oprof_busy\).*/\1/p' /proc/kallsyms)
	"$OPROFILE_LINKS/operf" --session-dir "$session" --pid "$target" --perf-data own.data 2>log 3>&- &
	recorder=$!
	wait_for log 'Profiler started'
	sleep 1
	kill -INT "$recorder"
	wait_operf
	[ "$status" -eq 0 ]
	count_bpf
	[ "$bpf" -gt 20 ]
	grep -q "^$name," out
	perf report -i own.data --stdio --sort sym 2>/dev/null | grep -qF "$name"
	operf --session-dir "$session" --system-wide sleep 1
	count_bpf
	[ "$bpf" -gt 20 ]
}

# A session has more information than a perf.data file on processes that were starting when it
# began.
@test "perf report of an exported system-wide session has the rows of opreport" {
	need perf
	need_root
	need_recording
	operf --session-dir "$session" --callgraph --system-wide \
		sh -c 'for i in 1 2 3 4 5 6 7 8 9; do ls -lR /usr/include >/dev/null; done' >/dev/null 2>&1
	"$OPROFILE" export perf-data -o "$BATS_TEST_TMPDIR/result.data" --session-dir "$session"
	opreport --session-dir "$session" --by comm,cpu --csv |
		awk -F, 'NR > 1 { print $3, $2, $1 }' | sort >"$BATS_TEST_TMPDIR/ours"
	perf report -f -i "$BATS_TEST_TMPDIR/result.data" --stdio -n --no-children -g none --sort comm,cpu \
		-w 10,12,64,8 -t , 2>/dev/null | grep '^ *[0-9]' |
		awk -F, '{ gsub(/^ +| +$/, "", $3); print $2 + 0, $4 + 0, $3 }' | sort |
		diff -u "$BATS_TEST_TMPDIR/ours" -
	[ -s "$BATS_TEST_TMPDIR/ours" ]
}

@test "functions of the vdso have names, in running and in new processes" {
	need gcc
	cd "$BATS_TEST_TMPDIR"
	cat >clock.c <<-'END'
		#include <time.h>
		int main(void)
		{
			struct timespec t;
			do
				for (int i = 0; i < 1000000; i++)
					clock_gettime(CLOCK_MONOTONIC, &t);
			while (clock() < CLOCKS_PER_SEC);
			return 0;
		}
	END
	gcc -O2 -o clock clock.c
	for way in pid new; do
		if [ "$way" = pid ]; then
			./clock &
			target=$!
			operf --session-dir "$session" --pid "$target"
			wait "$target"
			target=
		else
			operf --session-dir "$session" ./clock
		fi
		opreport --session-dir "$session" --by image,symbol --csv 'lib-image:[vdso]' >out 2>/dev/null ||
			skip "NOT TESTED: the clock of this machine is a system call"
		cat out
		vdso=$(awk -F, 'NR > 1 { n += $3 } END { print n + 0 }' out)
		[ "$vdso" -gt 100 ] || skip "NOT TESTED: the clock of this machine is a system call"
		[ "$(sed -n 's/^\[vdso\],__vdso_clock_gettime,\([0-9]*\),.*/\1/p' out)" -gt $((vdso * 8 / 10)) ]
	done
}

@test "a binary whose name ends in (deleted) has symbols, even if it was replaced" {
	cd "$BATS_TEST_TMPDIR"
	cat >hot.c <<-'END'
		volatile double x;
		__attribute__((noinline)) void hot(long n)
		{
			for (long i = 0; i < n; i++)
				x += (double)i * 0.5;
		}
		int main(void) { hot(300000000); return 0; }
	END
	gcc -O1 -Wl,--build-id=none -o "no-id (deleted)" hot.c
	gcc -O1 -Wl,--build-id -o "id (deleted)" hot.c
	cp "no-id (deleted)" "replaced (deleted)"
	cat >run.sh <<-'END'
		"./no-id (deleted)"
		"./id (deleted)"
		"./replaced (deleted)" &
		sleep 0.2
		rm "replaced (deleted)"
		cp /bin/true "replaced (deleted)"
		wait
	END
	operf --session-dir "$session" sh run.sh
	opreport --session-dir "$session" --by image,symbol --csv >out 2>/dev/null
	cat out
	[ "$(grep -c '(deleted),hot,' out)" -eq 3 ]
}

@test "recordings in a time namespace have the times of the samples" {
	need_root
	for offsets in "--monotonic 50000 --boottime 100000" "--monotonic -1000 --boottime -500"; do
		new_session
		unshare --time $offsets true || skip "needs time namespaces"
		begin=$(date +%s)
		unshare --time $offsets "$OPROFILE_LINKS/operf" --session-dir "$session" "$WORKLOADS/ratio" 300
		end=$(date +%s)
		"$OPROFILE" script --session-dir "$session" --fields time >"$BATS_TEST_TMPDIR/all"
		[ -s "$BATS_TEST_TMPDIR/all" ]
		samples=$(opreport --session-dir "$session" --csv --by comm | awk -F, 'NR > 1 { n += $2 } END { print n }')
		[ "$samples" -gt 20 ]
		span="time:@$((begin - 1))-@$((end + 1))"
		within=$(opreport --session-dir "$session" --csv --by comm "$span" | awk -F, 'NR > 1 { n += $2 } END { print n }')
		echo "$offsets: $within of $samples"
		[ "$within" -eq "$samples" ]
		# A reader in another time namespace prints the same.
		opreport --session-dir "$session" --csv --by symbol >"$BATS_TEST_TMPDIR/here"
		unshare --time --monotonic 7000 --boottime 90 "$OPROFILE_LINKS/opreport" --session-dir "$session" --csv --by symbol |
			diff "$BATS_TEST_TMPDIR/here" -
	done
}
