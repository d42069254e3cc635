# SPDX-License-Identifier: GPL-2.0-or-later
# Functions that the tests of commands share. Every command that could hang runs under timeout(1).

operf()
{
	timeout -k 5 60 "$OPROFILE_LINKS/operf" "$@"
}

opreport()
{
	timeout -k 5 60 "$OPROFILE_LINKS/opreport" "$@"
}

oparchive()
{
	timeout -k 5 60 "$OPROFILE_LINKS/oparchive" "$@"
}

# setup() and teardown() of tests that make recordings.
begin_recording_test()
{
	recorder=
	target=
	mount_point=
	public=
	need_recording
	new_session
}

end_recording_test()
{
	for pid in $recorder $target; do
		kill -KILL "$pid" 2>/dev/null || true
	done
	wait
	if [ -n "$mount_point" ]; then
		umount "$mount_point"
	fi
	if [ -n "$public" ]; then
		rm -r "$public"
	fi
}

# Sets $session to a new session directory of the test.
new_session()
{
	session=$BATS_TEST_TMPDIR/session
	mkdir -p "$session"
}

# Skips the test if the kernel refuses recordings, or with --system-wide refuses to record all
# processes. Any other failure fails the test.
need_recording() # OPTION...
{
	local probe=$BATS_TEST_TMPDIR/probe
	mkdir -p "$probe"
	operf --session-dir "$probe" "$@" true 2>"$BATS_TEST_TMPDIR/probe.err" && return 0
	# The command is too short for a sample of most events.
	grep -q 'No samples collected' "$BATS_TEST_TMPDIR/probe.err" && return 0
	cat "$BATS_TEST_TMPDIR/probe.err"
	grep -q perf_event "$BATS_TEST_TMPDIR/probe.err" || return 1
	skip "recording is not possible here: $(tail -n 1 "$BATS_TEST_TMPDIR/probe.err")"
}

# Prints the file after -o, or perf's default.
written_by() # ARGUMENT...
{
	local file=perf.data
	while [ $# -gt 1 ]; do
		[ "$1" != -o ] || file=$2
		shift
	done
	echo "$file"
}

# Runs `perf record` and prints what it printed. perf 6.1 crashes while another recording of all CPUs
# requests build-ids from the kernel (docs/perf-report.md), and tests run side by side: the function
# tries again for up to a minute, and then skips the test.
perf_record() # ARGUMENT...
{
	local out=$BATS_TEST_TMPDIR/perf_record.out status end=$((SECONDS + 60))
	while :; do
		status=0
		timeout 60 perf record -q "$@" >"$out" || status=$?
		[ "$status" -gt 128 ] || break
		echo "perf record: status $status" >&2
		[ "$SECONDS" -lt "$end" ] || skip "perf record crashes here: status $status"
		# Otherwise perf would rename what the crash left behind to NAME.old.
		rm -rf "$(written_by "$@")"
		sleep 1
	done
	cat "$out"
	rm "$out"
	return "$status"
}

need_root()
{
	[ "$(id -u)" -eq 0 ] || skip "needs root"
}

as_nobody()
{
	timeout -k 5 60 setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$OPROFILE_LINKS/operf" "$@"
}

# Skips the test unless an unprivileged user can run the program in its build directory.
need_nobody()
{
	need setpriv
	as_nobody --version >/dev/null 2>&1 || skip "nobody cannot run programs of this folder"
}

# Makes a session directory, $session, that belongs to the unprivileged user and that this user can
# reach.
open_session()
{
	public=$(mktemp -d)
	session=$public/session
	mkdir "$session"
	chown 65534:65534 "$session"
	chmod 755 "$public"
}

need()
{
	command -v "$1" >/dev/null || skip "needs $1"
}

# Sets $DATA to the recordings of other machines, or skips the test if they are not next to this
# checkout.
need_data()
{
	DATA=$SOURCE_ROOT/../shared/data
	[ -d "$DATA/perf-history" ] || skip "no recordings of other machines here: NOT TESTED"
	[ -O "$DATA" ] || [ "$(stat -c %u "$DATA")" -eq 0 ] ||
		skip "the recordings here belong to another user: NOT TESTED"
}

# wait_for FILE PATTERN: waits until the file contains it, 20 seconds at most.
wait_for()
{
	for ((i = 0; i < 200; i++)); do
		grep -q -e "$2" "$1" 2>/dev/null && return 0
		sleep 0.1
	done
	echo "waited in vain for '$2' in $1:"
	cat "$1"
	return 1
}

# wait_for_processes COMMAND NUMBER: waits until so many processes run it, 20 seconds at most.
wait_for_processes()
{
	for ((i = 0; i < 200; i++)); do
		[ "$(pgrep -c -f "^$1 ")" -ge "$2" ] && return 0
		sleep 0.1
	done
	return 1
}

# Prints the number of processes with samples in $session.
reported_processes()
{
	opreport --session-dir "$session" --by pid --csv 2>/dev/null | awk 'NR > 1' | wc -l
}

# Runs operf in the background with its stderr in $log; $recorder is its pid. It does not run
# under timeout(1), because signals must reach operf itself.
start_operf()
{
	log=$BATS_TEST_TMPDIR/operf.log
	: >"$log"
	# A non-interactive shell starts background jobs with SIGINT ignored.
	env --default-signal=INT,QUIT "$OPROFILE_LINKS/operf" --session-dir "$session" "$@" \
		>"$BATS_TEST_TMPDIR/operf.out" 2>"$log" 3>&- &
	recorder=$!
	wait_for "$log" 'Profiler started'
}

# Waits for $recorder, 20 seconds at most; its status is in $status.
wait_operf()
{
	timeout 20 tail --pid="$recorder" -f /dev/null 3>&- || kill -KILL "$recorder"
	status=0
	wait "$recorder" || status=$?
	recorder=
}

# end_line FIELD [FILE]: prints samples, lost or throttled from the last line of operf.
end_line()
{
	sed -n 's/.*Profiling done\. \([0-9]*\) samples, \([0-9]*\) lost, \([0-9]*\) throttled.*/samples=\1 lost=\2 throttled=\3/p' \
		"${2:-$log}" | tr ' ' '\n' | sed -n "s/^$1=//p"
}

# Prints the number of samples of the session as opreport counts them.
reported_samples()
{
	opreport --session-dir "$session" --by event --csv "$@" |
		awk -F, 'NR > 1 { sum += $2 } END { print sum + 0 }'
}

# check_shares TRUTH OPTION...: compares the shares that the program printed with those of the
# report; they may differ by five percent of all samples.
check_shares()
{
	timeout 60 python3 - "$@" <<-'END'
		import csv, os, subprocess, sys
		from fnmatch import fnmatchcase
		out = subprocess.run([os.environ["OPROFILE_LINKS"] + "/opreport", "--csv", "--by",
		    "image,symbol"] + sys.argv[2:], capture_output=True, text=True, check=True).stdout
		rows = [r for r in csv.reader(out.splitlines()) if len(r) > 2 and r[2].isdigit()]
		found, wanted = [], []
		for line in open(sys.argv[1]):
		    kind, _, rest = line.strip().split(" ", 2)
		    values, _, share = rest.rpartition(" ") if kind == "share" else (rest, "", "")
		    image, symbol = values.split(",", 1) if kind in ("share", "absent") else ("", "")
		    nr = sum(int(r[2]) for r in rows if fnmatchcase(r[1], symbol)
		        and any(fnmatchcase(r[0], i) for i in image.split("|")))
		    if kind == "share":
		        found.append(nr)
		        wanted.append(float(share))
		    if kind == "absent" and nr:
		        sys.exit(f"{values}: {nr} samples")
		print("found", found, "wanted", wanted)
		if not found or any(abs(f / sum(found) - w) > 0.05 for f, w in zip(found, wanted)):
		    sys.exit(out)
	END
}

# write_segment DIRECTORY: makes the directory, and in it a segment from the description on stdin.
write_segment()
{
	mkdir -p "$1"
	"$WRITE_SESSION" "$1/segment-000001"
}

# three_functions BYTES: prints assembler code of leaf, mid and turn(char const*, int), each of
# this size.
three_functions()
{
	cat <<-END
		.text
		.globl leaf, mid, _Z4turnPKci
		.type leaf, %function
		.type mid, %function
		.type _Z4turnPKci, %function
		leaf: .fill $1, 1, 0
		.size leaf, $1
		mid: .fill $1, 1, 0
		.size mid, $1
		_Z4turnPKci: .fill $1, 1, 0
		.size _Z4turnPKci, $1
		.section .note.GNU-stack,"",%progbits
	END
}

# Prints the file offset of .text.
text_offset()
{
	readelf -SW "$1" |
		sed -n 's/^.*\] \.text *PROGBITS *[0-9a-f]* *\([0-9a-f]*\) .*/0x\1/p'
}

# Prints the virtual address of .text.
text_address()
{
	readelf -SW "$1" |
		sed -n 's/^.*\] \.text *PROGBITS *\([0-9a-f]*\) .*/0x\1/p'
}

# return_address CALLER CALLEE: prints the return address of the first call of CALLEE in CALLER, from the
# output of objdump -d in the file "code".
return_address()
{
	sed -n "/<$1>:/,/^\$/p" code | sed -n "/<$2>\$/{n;s/^ *\([0-9a-f]*\):.*/0x\1/p;q}"
}

# Prints the address of a function, from the same file.
begin_of()
{
	sed -n "s/^\([0-9a-f]*\) <$1>:/0x\1/p" code
}
