#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# perf.data files as sources of opreport, compared with perf.

bats_require_minimum_version 1.5.0
load helpers

agree() # [--without-modifiers] FILE...
{
	local -a how=()
	[[ $1 != --* ]] || { how=("$1"); shift; }
	python3 "$SOURCE_ROOT/tests/perf_data/agree.py" "${how[@]}" "$OPROFILE" "$@"
}

@test "samples by event, command and object are perf's, for files of other machines" {
	need_data
	agree "$DATA"/perf-history/* "$DATA"/{arm64,armhf}/*.data \
		"$DATA"/s390x/perf.{bidmmap,dwarf,full,tp,z}.data "$DATA"/s390x/perf.data
}

@test "a sample with an invalid size does not hide the others" {
	need_data
	python3 "$SOURCE_ROOT/tests/perf_data/broken.py" "$OPROFILE" \
		"$DATA"/{arm64,s390x}/perf.{data,dwarf.data}
}

# Debian's perf cannot read a pipe of the other byte order; perf on the recording machine could.
@test "a big-endian pipe gives what perf printed on the recording machine" {
	need_data
	opreport --by comm,image,session --csv - <"$DATA/s390x/perf.pipe.data" |
		awk -F, 'NR > 1 { n = split($2, part, "/"); print $1, part[n], $4 }' |
		sort >"$BATS_TEST_TMPDIR/ours"
	awk -F'\t' '{ c[$2 " " $3] += $1 } END { for (k in c) print k, c[k] }' \
		"$DATA/s390x/perf.pipe.data.native" | sort |
		diff -u - "$BATS_TEST_TMPDIR/ours"
}

@test "samples by command, object and symbol are those of perf on the recording machines" {
	need_data
	python3 "$SOURCE_ROOT/tests/perf_data/native.py" "$OPROFILE" \
		"$DATA"/{arm64,armhf,s390x}
}

@test "each function of another machine's modules is counted in its module, as by perf" {
	need_data
	local data=$DATA/s390x
	awk -F'\t' '$3 ~ /^\[(ext4|jbd2|loop|mbcache|crc16)\]$/ { print $2 "," $3 "," $4 "," $1 }' "$data/perf.data.native" |
		sort >"$BATS_TEST_TMPDIR/native"
	[ "$(grep -c '\[ext4\]' "$BATS_TEST_TMPDIR/native")" -gt 20 ]
	PERF_BUILDID_DIR="$data/debug-cache" opreport --by comm,image,symbol --csv "$data/perf.data" 2>/dev/null |
		sed -n 's/^\([^,]*,\[\(ext4\|jbd2\|loop\|mbcache\|crc16\)\],[^,]*,[0-9]*\),.*/\1/p' | sort |
		diff "$BATS_TEST_TMPDIR/native" -
}

@test "samples by event, command and object are perf's, for recordings made here" {
	local data=$BATS_TEST_TMPDIR/perf
	need_recording
	perf_record -o "$data.flat" -F 1999 -e cpu-clock,page-faults -- \
		sh -c 'for i in 1 2 3 4 5 6 7 8 9; do ls -lR /usr/include >/dev/null; done'
	perf_record -a -g -o "$data.chains" -F 999 -e cpu-clock -- \
		sh -c 'for i in 1 2 3 4 5 6 7 8 9; do ls -lR /usr/include >/dev/null; done'
	perf_record -o - -F 999 -e cpu-clock -- ls -lR /usr/include 2>/dev/null \
		>"$data.pipe"
	agree "$data".*
}

# Sets PERF to the perf of a newer Debian suite.
need_newer_perf()
{
	PERF=${NEWER_PERF:-$SOURCE_ROOT/build-newer-perf/bin/perf}
	[ -x "$PERF" ] && "$PERF" version >/dev/null 2>&1 ||
		skip "no newer perf here (make check-newer-perf unpacks one): NOT TESTED"
	export PERF
	"$PERF" version
}

@test "samples by event, command and object are those of a newer perf, for files of other machines" {
	need_newer_perf
	need_data
	local file
	local -a files=("$DATA"/{arm64,armhf}/*.data "$DATA"/s390x/perf.{bidmmap,dwarf,full,tp,z}.data
		"$DATA"/s390x/perf.data)
	for file in "$DATA"/perf-history/*; do
		# perf 7 finds no samples in this pipe, where perf 6.1 finds two.
		[[ $file == *.piped.header_features-4.16 ]] || files+=("$file")
	done
	agree --without-modifiers "${files[@]}"
}

@test "samples by event, command and object are those of a newer perf, for its recordings made here" {
	need_newer_perf
	need_recording
	local data=$BATS_TEST_TMPDIR/perf how
	local -a options=("-e cpu-clock,page-faults" "-e cpu-clock -g" "-e cpu-clock --call-graph dwarf"
		"-e cpu-clock -z" "-e cpu-clock -d --buildid-mmap" "-e cpu-clock --all-cgroups --namespaces")
	for how in "${!options[@]}"; do
		"$PERF" record -q -o "$data.$how" -F 1999 ${options[how]} -- \
			sh -c 'for i in 1 2 3; do ls -lR /usr/include >/dev/null; done'
	done
	"$PERF" record -q -o - -F 999 -e cpu-clock -- ls -lR /usr/include 2>/dev/null >"$data.pipe"
	agree --without-modifiers "$data".*
}

@test "a build-id at the end of a pipe has the same effect as one at the start" {
	local data=$BATS_TEST_TMPDIR/perf.pipe
	local by="$SOURCE_ROOT/tests/perf_data/build_id.py"
	local binary wrong=0123456789012345678901234567890123456789
	need_recording
	binary=$(realpath "$WORKLOADS/ratio")
	perf_record -g -o - -F 4999 -e cpu-clock:u -- \
		sh -c "'$binary' 500 >/dev/null" 2>/dev/null >"$data"
	# The file is larger than one read of a pipe, so that the end of the data is not read
	# together with the first samples.
	[ "$(stat -c %s "$data")" -gt 100000 ]
	python3 "$by" front "$binary" $wrong <"$data" >"$data.front"
	python3 "$by" end "$binary" $wrong <"$data" >"$data.end"
	for file in "$data" "$data.front" "$data.end"; do
		cat "$file" | opreport --by image,symbol --quality - \
			>"$file.out" 2>/dev/null
	done
	diff -u "$data.front.out" "$data.end.out"
	# The recorded binary differs from the local one, whose names must not be used.
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

@test "a file that is not a perf.data is rejected in one line" {
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

@test "a truncated file is shown up to the damage, with status 3" {
	need_data
	head -c 100000 "$DATA/arm64/perf.data" >"$BATS_TEST_TMPDIR/cut"
	run --separate-stderr opreport --by comm --csv "$BATS_TEST_TMPDIR/cut"
	[ "$status" -eq 3 ]
	[ "${#lines[@]}" -gt 2 ]
	[[ "$stderr" == *"incomplete"*"363408 bytes missing"* ]]
}

@test "a file that is truncated while it is read is reported, with status 3" {
	local file=$BATS_TEST_TMPDIR/perf.data status=0 reader
	# A million samples of the same address: 32 MB of data after 184 bytes of header and
	# attributes.
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

# make_guest_data FILE: makes samples of the kernel of a virtual machine (12, in two functions),
# of its module (3), outside of both (2), of its programs (4), and of the host's kernel (6).
make_guest_data()
{
	python3 - "$1" <<-'END'
		import struct, sys
		now = 0
		def record(kind, misc, body):
		    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body
		def who(pid):
		    global now
		    now += 1000
		    return struct.pack("<IIQ", pid, pid, now)
		def text(s):
		    return s.encode() + bytes(8 - len(s) % 8)
		def mapping(misc, pid, start, size, off, name):
		    return record(1, misc, struct.pack("<iIQQQ", pid, 0, start, size, off) + text(name) + who(0))
		KERNEL, GUEST_KERNEL, GUEST_USER, HOST, GUEST = 1, 4, 5, 0xffffffff81000000, 0xffffffff91000000
		data = mapping(KERNEL, -1, HOST, 0x1000000, HOST, "[kernel.kallsyms]_text")
		data += mapping(GUEST_KERNEL, 0, GUEST, 0x1000000, GUEST, "[guest.kernel.kallsyms]_text")
		data += mapping(GUEST_KERNEL, 0, 0xffffffffc0400000, 0x10000, 0, "[guestmod]")
		data += record(3, 0, struct.pack("<II", 77, 77) + text("qemu") + who(77))
		for n, misc, ip in ((7, GUEST_KERNEL, GUEST + 0x110), (5, GUEST_KERNEL, GUEST + 0x210),
		    (3, GUEST_KERNEL, 0xffffffffc0400100), (2, GUEST_KERNEL, 0xffffffffd0400100), (4, GUEST_USER, 0x401000),
		    (6, KERNEL, HOST + 0x100)):
		    for _ in range(n):
		        now += 1000
		        data += record(9, misc, struct.pack("<QIIQQ", ip, 77, 77, now, 1000003))
		# cpu-clock with IP, TID, TIME, PERIOD; mmap, comm, task, sample_id_all
		attr = struct.pack("<IIQQQQQ", 1, 128, 0, 1000003, 0x107, 0, 1 << 8 | 1 << 9 | 1 << 13 | 1 << 18)
		attr += bytes(128 - len(attr)) + struct.pack("<QQ", 0, 0)
		header = b"PERFILE2" + struct.pack("<8Q", 104, 144, 104, len(attr), 104 + len(attr), len(data), 0, 0) + bytes(32)
		open(sys.argv[1], "wb").write(header + attr + data)
	END
	printf '%s\n' 'ffffffff91000000 T _text' 'ffffffff91000100 T guest_hot' 'ffffffff91000200 T guest_warm' \
		'ffffffff91000300 T guest_last' 'ffffffffc0400000 t guestmod_begin	[guestmod]' \
		'ffffffffc0400080 t guestmod_work	[guestmod]' >guest.kallsyms
}

@test "the kernel of a virtual machine has perf's names, and --guestkallsyms its functions" {
	cd "$BATS_TEST_TMPDIR"
	make_guest_data data
	opreport --by image,origin,symbol --csv --guestkallsyms=guest.kallsyms data 2>/dev/null | sed 1d | cut -d , -f 1-4 | sort >ours
	sort >expected <<-'END'
		[guest.kernel.kallsyms],[g],guest_hot,7
		[guest.kernel.kallsyms],[g],guest_warm,5
		[guestmod],[g],guestmod_work,3
		[kernel.kallsyms],[k],/no-vmlinux,6
		[unknown],[g],[unknown],2
		[unknown],[u],[unknown],4
	END
	diff expected ours
	# Symbols of another boot: relocated by the difference of _text; the module has another
	# address.
	sed 's/ffffffff91/ffffffffa1/;s/c04/c07/' guest.kallsyms >moved
	opreport --by image,symbol --csv --guestkallsyms=moved data 2>/dev/null >out
	grep -q '^\[guest.kernel.kallsyms\],guest_hot,7,' out
	grep -q '^\[guestmod\],\[guestmod\],3,' out
	run -1 opreport --guestkallsyms=/no/such/file data
	[[ $output == *"--guestkallsyms: /no/such/file"* ]]
	# A session, and a file made from it, give the same report.
	"$OPROFILE" import --session-dir . --name guest data
	opreport --session-dir . session:guest --by image,origin,symbol --csv --guestkallsyms=guest.kallsyms 2>/dev/null |
		sed 1d | cut -d , -f 1-4 | sort | diff expected -
	"$OPROFILE" export perf-data -o again samples/guest
	opreport --by image,origin,symbol --csv --guestkallsyms=guest.kallsyms again 2>/dev/null | sed 1d | cut -d , -f 1-4 | sort | diff expected -
	need perf
	printf 'guestmod 65536 0 - Live 0xffffffffc0400000\n' >guest.modules
	for file in data again; do
		perf kvm --guest --guestkallsyms=guest.kallsyms --guestmodules=guest.modules report --stdio -n -s dso,sym -i $file 2>/dev/null |
			awk '!/^#/ && NF { print $3 "," $4 "," $2 }' | sed 's/unknown\],\[u/unknown],[u/' | sort >perfs
		# perf does not print functions of a guest's module.
		awk -F, '$2 != "[k]" { print $1 "," $2 "," $4 }' expected | sort | diff perfs -
	done
}

@test "dump prints the file offsets of samples in a perf.data" {
	need_data
	run -1 --separate-stderr "$OPROFILE" dump "$DATA/arm64/perf.data"
	[ -z "$output" ]
	[ "$stderr" = "oprofile dump: '$DATA/arm64/perf.data' is not a session: \`oprofile script $DATA/arm64/perf.data\` shows the samples of a perf.data file, or import it" ]
}

# Records that were processed in rounds are skipped the second time, when chunks end at other
# positions.
@test "samples after the last FINISHED_ROUND are complete" {
	local data=$BATS_TEST_TMPDIR/perf.data
	"$SOURCE_ROOT/tests/perf_data/rounds_end.py" "$data" 4000
	"$OPROFILE" export folded "$data" >"$data.folded"
	[ "$(awk '{ n += $NF } END { print n }' "$data.folded")" -eq 4000 ]
}

@test "samples deferred over many rounds get the thread name of their time" {
	local data=$BATS_TEST_TMPDIR/heads.data
	"$SOURCE_ROOT/tests/perf_data/rounds_heads.py" "$data" 24
	run --separate-stderr "$OPROFILE" report --by comm --csv "$data"
	[ "$status" -eq 0 ]
	[ "$(grep -c '^name[0-9]*,5000,' <<<"$output")" -eq 24 ]
	"$OPROFILE" report --by comm --csv - <"$data" >"$data.piped"
	[ "$(cat "$data.piped")" = "$output" ]
}

# Samples that were already counted or written get the name also.
@test "a thread's first name applies to its earlier samples, as in perf" {
	local data=$BATS_TEST_TMPDIR/perf.data dir=$BATS_TEST_TMPDIR/sessions
	python3 "$SOURCE_ROOT/tests/perf_data/nameless.py" "$data"
	counts()
	{
		"$OPROFILE" report --by comm --csv "$@" | awk -F, 'NR > 1 { print $1, $2 }' |
			LC_ALL=C sort | diff "$data.counts" -
	}
	counts "$data"
	counts --threads=1 "$data"
	counts - <"$data"
	mkdir "$dir"
	"$OPROFILE" import --session-dir "$dir" "$data"
	counts --session-dir "$dir"
	"$OPROFILE" export folded "$data" | sed 's/;.* / /' | LC_ALL=C sort | diff "$data.counts" -
	need perf
	LC_ALL=C agree "$data"
}
