#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Sparse files that claim to be huge: they must cost neither time nor disk space.

bats_require_minimum_version 1.5.0
load helpers

setup()
{
	cd "$BATS_TEST_TMPDIR"
	mkdir -p home session
	export HOME=$BATS_TEST_TMPDIR/home
	session=$BATS_TEST_TMPDIR/session
	truncate -s 1T holes || skip "no sparse files here: NOT TESTED"
	[ "$(du -k holes | cut -f 1)" -lt 1024 ] || skip "no sparse files here: NOT TESTED"
	rm holes
	printf '%s\n' 'int hot(volatile int n) { while (n) n--; return n; }' \
		'int main(void) { return hot(200000000); }' >spin.c
	gcc -g -O1 -o spin spin.c
}

# make_hole ELF SECTION OUT: makes a copy whose SECTION claims 45 GB of holes (in a file of 50
# GB).
make_hole()
{
	python3 - "$@" <<-'END'
		import os, struct, sys
		data = bytearray(open(sys.argv[1], "rb").read())
		table, = struct.unpack_from("<Q", data, 40)
		number, names = struct.unpack_from("<HH", data, 60)
		texts, = struct.unpack_from("<Q", data, table + 64 * names + 24)
		for i in range(number):
		    name, = struct.unpack_from("<I", data, table + 64 * i)
		    if data[texts + name:].startswith(sys.argv[2].encode() + b"\0"):
		        struct.pack_into("<QQ", data, table + 64 * i + 24, 4 << 30, 45 << 30)
		open(sys.argv[3], "wb").write(data)
		os.truncate(sys.argv[3], 50 << 30)
		os.chmod(sys.argv[3], 0o755)
	END
}

# Prints the disk usage of the test's directory in kilobytes.
disk_kb()
{
	du -sk "$BATS_TEST_TMPDIR" | cut -f 1
}

@test "addr2line works whichever section is a hole" {
	[ "$(uname -m)" = x86_64 ] || skip "it changes ELF files of 64 bits, little-endian: NOT TESTED"
	main=$(nm spin | awk '$3 == "main" { print "0x" $1 }')
	for section in .none .debug_info .debug_line .debug_abbrev .debug_str .debug_line_str \
		.debug_aranges .eh_frame .dynsym .dynstr; do
		make_hole spin "$section" hole
		run -0 timeout 60 "$OPROFILE" addr2line -f -e hole "$main"
		echo "$section: $output"
		[ "${lines[0]}" = main ]
	done
	[ "$(disk_kb)" -lt 10000 ]
}

@test "a program that is nearly all holes is reported, but not archived, with a warning" {
	begin_recording_test
	cp spin hole
	truncate -s 50G hole
	operf --session-dir "$session" ./hole
	run -0 opreport --session-dir "$session" --symbols
	[[ "$output" == *"hot"* ]]
	run -0 timeout 60 "$OPROFILE_LINKS/opannotate" --session-dir "$session" --assembly "$PWD/hole"
	# Archives as directory and as file omit it, report that, and are complete otherwise.
	for out in --output-directory=archive --output=file.oparchive; do
		run -0 --separate-stderr oparchive --session-dir "$session" "$out"
		[ "$stderr" = "oparchive: warning: $PWD/hole is not archived: it is a sparse file that consists almost entirely of holes" ]
		run -0 oparchive --verify "archive:${out#*=}"
		run -0 --separate-stderr opreport "archive:${out#*=}" --symbols
		[[ "$output" == *"$PWD/hole"* ]]
		[[ "$output" != *hot* ]]
	done
	grep -q "^image .* missing $PWD/hole\$" archive/manifest
	rm -r session archive file.oparchive
	mkdir session
	run -0 operf --session-dir "$session" --archive=file.oparchive ./hole
	[[ "$output" == *"hole is not archived: it is a sparse file"* ]]
	run -0 opreport archive:file.oparchive
	[ "$(disk_kb)" -lt 20000 ]
}

@test "buildid-cache --add keeps the holes of a file" {
	cp spin hole
	truncate -s 50G hole
	# With another mode, the cache cannot use a hard link to the file, as between file systems.
	chmod 644 hole
	PERF_BUILDID_DIR=$PWD/cache timeout 60 "$OPROFILE" buildid-cache --add "$PWD/hole"
	find cache -size +1G | grep -q .
	[ "$(disk_kb)" -lt 10000 ]
}

@test "a session with a hole at its end is read up to the hole" {
	begin_recording_test
	operf --session-dir "$session" ./spin
	samples=$(opreport --session-dir "$session" --csv | awk -F, 'NR > 1 { n += $(NF - 1) } END { print n }')
	[ "$samples" -gt 0 ]
	for segment in "$session"/samples/current/segment-*; do
		truncate -s 1T "$segment"
	done
	run -3 --separate-stderr opreport --session-dir "$session" --csv
	[ "$(awk -F, 'NR > 1 { n += $(NF - 1) } END { print n }' <<<"$output")" -eq "$samples" ]
	[[ "$stderr" == *incomplete* ]]
}

@test "a perf map with a hole is read up to the hole" {
	begin_recording_test
	cat >jit.c <<-'END'
		#define _GNU_SOURCE
		#include <stdio.h>
		#include <string.h>
		#include <sys/mman.h>
		#include <unistd.h>
		/* mov $200000000, %eax; dec %eax; jnz -4; ret */
		static const unsigned char bytes[] = { 0xb8, 0x00, 0xc2, 0xeb, 0x0b, 0xff,
						       0xc8, 0x75, 0xfc, 0xc3 };
		int main(void)
		{
			void *code = mmap(NULL, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			char path[64];
			FILE *map;
			memcpy(code, bytes, sizeof(bytes));
			snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
			map = fopen(path, "w");
			fprintf(map, "%lx 20 jitted\n", (unsigned long)code);
			fclose(map);
			if (truncate(path, 50L << 30))
				return 1;
			puts(path);
			((void (*)(void))code)();
			return 0;
		}
	END
	[ "$(uname -m)" = x86_64 ] || skip "it has code for x86_64: NOT TESTED"
	gcc -o jit jit.c
	operf --session-dir "$session" ./jit >out
	# The command must not map gigabytes of it; a sanitizer needs more address space than this
	# limit.
	ldd "$OPROFILE" | grep -q asan || ulimit -v 2000000
	run -0 opreport --session-dir "$session" --symbols
	rm "$(cat out)"
	[[ "$output" == *jitted* ]]
}
