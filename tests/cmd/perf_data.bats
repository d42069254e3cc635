#!/usr/bin/env bats
# perf.data files as sources of opreport: perf is the oracle.

bats_require_minimum_version 1.5.0
load helpers

agree()
{
	python3 "$SOURCE_ROOT/tests/perf_data/agree.py" "$OPROFILE" "$@"
}

@test "samples by event, command and object: as perf, for files of other machines" {
	need_data
	agree "$DATA"/perf-history/* "$DATA"/{arm64,armhf}/*.data \
		"$DATA"/s390x/perf.{bidmmap,dwarf,full,tp,z}.data "$DATA"/s390x/perf.data
}

# Debian's perf cannot read a pipe of the other byte order; the machine itself could.
@test "a big-endian pipe: as the machine that recorded it printed it" {
	need_data
	opreport --by comm,image,session --csv - <"$DATA/s390x/perf.pipe.data" |
		awk -F, 'NR > 1 { n = split($2, part, "/"); print $1, part[n], $4 }' |
		sort >"$BATS_TEST_TMPDIR/ours"
	awk -F'\t' '{ c[$2 " " $3] += $1 } END { for (k in c) print k, c[k] }' \
		"$DATA/s390x/perf.pipe.data.native" | sort |
		diff -u - "$BATS_TEST_TMPDIR/ours"
}

@test "samples by command, object and symbol: as perf on the machines of the recordings" {
	need_data
	python3 "$SOURCE_ROOT/tests/perf_data/native.py" "$OPROFILE" \
		"$DATA"/{arm64,armhf,s390x}
}

@test "samples by event, command and object: as perf, for what perf records here" {
	local data=$BATS_TEST_TMPDIR/perf
	need_recording
	timeout 60 perf record -q -o "$data.flat" -F 1999 -e cpu-clock,page-faults -- \
		sh -c 'for i in 1 2 3 4 5 6 7 8 9; do ls -lR /usr/include >/dev/null; done'
	timeout 60 perf record -q -a -g -o "$data.chains" -F 999 -e cpu-clock -- \
		sh -c 'for i in 1 2 3 4 5 6 7 8 9; do ls -lR /usr/include >/dev/null; done'
	timeout 60 perf record -q -o - -F 999 -e cpu-clock -- ls -lR /usr/include 2>/dev/null \
		>"$data.pipe"
	agree "$data".*
}

@test "a build-id at the end of a pipe counts as one at its begin" {
	local data=$BATS_TEST_TMPDIR/perf.pipe
	local by="$SOURCE_ROOT/tests/perf_data/build_id.py"
	local binary wrong=0123456789012345678901234567890123456789
	need_recording
	binary=$(realpath "$WORKLOADS/ratio")
	timeout 60 perf record -q -g -o - -F 4999 -e cpu-clock:u -- \
		sh -c "'$binary' 500 >/dev/null" 2>/dev/null >"$data"
	# More than is read of a pipe at once: the end is not seen with the first samples.
	[ "$(stat -c %s "$data")" -gt 100000 ]
	python3 "$by" front "$binary" $wrong <"$data" >"$data.front"
	python3 "$by" end "$binary" $wrong <"$data" >"$data.end"
	for file in "$data" "$data.front" "$data.end"; do
		cat "$file" | opreport --by image,symbol --quality - \
			>"$file.out" 2>/dev/null
	done
	diff -u "$data.front.out" "$data.end.out"
	# It is another binary than the one that is here: its names are not taken.
	grep -q work_b "$data.out"
	run grep work_b "$data.end.out"
	[ "$status" -eq 1 ]
}

@test "the result does not depend on the number of threads" {
	need_data
	local f
	for f in "$DATA"/{arm64,s390x}/perf.data "$DATA"/perf-history/perf.data.forkexit-3.8; do
		opreport --threads 1 --by comm,pid,image,symbol,cpu --json "$f" \
			>"$BATS_TEST_TMPDIR/one"
		opreport --threads 2 --by comm,pid,image,symbol,cpu --json "$f" |
			cmp - "$BATS_TEST_TMPDIR/one"
	done
}

@test "what is no perf.data is refused in one line" {
	local file=$BATS_TEST_TMPDIR/perf.data
	printf 'PERFILE2rest' >"$file"
	run opreport "$file"
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == *"$file"* ]]
	run opreport - </dev/null
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
}

@test "a file that is cut off: what is sound is shown, what is missing said, status 3" {
	need_data
	head -c 100000 "$DATA/arm64/perf.data" >"$BATS_TEST_TMPDIR/cut"
	run --separate-stderr opreport --by comm --csv "$BATS_TEST_TMPDIR/cut"
	[ "$status" -eq 3 ]
	[ "${#lines[@]}" -gt 2 ]
	[[ "$stderr" == *"incomplete"*"363408 bytes missing"* ]]
}

@test "a file that is truncated while it is read: what is missing is said, status 3" {
	local file=$BATS_TEST_TMPDIR/perf.data status=0 reader
	# A million samples of one address: 32 MB behind 184 bytes of header and attr.
	python3 - "$file" <<'END'
import struct, sys
nr = 1000000
attr = struct.pack("<IIQQQQQ", 1, 64, 0, 1000, 7, 0, 0) + bytes(16)
sample = struct.pack("<IHHQIIQ", 9, 2, 32, 0x1000, 7, 7, 5)
header = b"PERFILE2" + struct.pack("<12Q", 104, 80, 104, 80, 184, 32 * nr, 0, 0, 0, 0, 0, 0)
open(sys.argv[1], "wb").write(header + attr + bytes(16) + sample * nr)
END
	"$OPROFILE_LINKS/opreport" --by comm --csv "$file" >"$BATS_TEST_TMPDIR/out" \
		2>"$BATS_TEST_TMPDIR/err" 3>&- &
	reader=$!
	kill -STOP $reader
	truncate -s 200000 "$file"
	kill -CONT $reader
	wait $reader || status=$?
	cat "$BATS_TEST_TMPDIR/err"
	[ "$status" -eq 3 ]
	[ "$(wc -l <"$BATS_TEST_TMPDIR/err")" -eq 1 ]
	grep -q 'incomplete.* bytes missing' "$BATS_TEST_TMPDIR/err"
}
