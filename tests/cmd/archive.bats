# SPDX-License-Identifier: GPL-2.0-or-later
# oparchive, and reports from archives: made here, made on other machines, and hostile ones.
load helpers

bats_require_minimum_version 1.5.0

setup()
{
	cd "$BATS_TEST_TMPDIR"
	mkdir -p home unpacked
	export HOME=$BATS_TEST_TMPDIR/home TMPDIR=$BATS_TEST_TMPDIR/unpacked
	unset PERF_BUILDID_DIR
}

teardown()
{
	# Unpacked files must be removed, also after a failure.
	[ -z "$(ls -A "$BATS_TEST_TMPDIR/unpacked")" ]
}

# Prints the one-line error of `opreport archive:$1`.
refused()
{
	run -1 --separate-stderr opreport "archive:$1"
	[ "${#stderr_lines[@]}" -eq 1 ]
	[ -z "$output" ]
	printf '%s\n' "${stderr#opreport: }"
}

# Makes a zstd-compressed tar file of a directory, or with Python code that uses the tarfile
# module.
make_tar() # FILE PYTHON
{
	python3 - "$1" <<-END
		import io, sys, tarfile
		out = io.BytesIO()
		tar = tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT)
		def add(name, data=b"", kind=tarfile.REGTYPE, link=""):
		    info = tarfile.TarInfo(name)
		    info.type, info.size, info.linkname = kind, len(data), link
		    tar.addfile(info, io.BytesIO(data))
		$2
		tar.close()
		open(sys.argv[1], "wb").write(out.getvalue())
	END
}

@test "an archive of another machine's recording uses no names of this machine" {
	need_data
	for machine in s390x arm64 armhf; do
		rm -rf home/.debug copy
		ln -s "$(realpath "$DATA/$machine/debug-cache")" home/.debug
		oparchive --output a.oparchive "$DATA/$machine/perf.data"
		oparchive --output-directory dir-$machine "$DATA/$machine/perf.data"
		rm home/.debug
		for archive in a.oparchive dir-$machine; do
			python3 "$SOURCE_ROOT/tests/perf_data/native.py" "$OPROFILE" \
				--archive "$archive" "$DATA/$machine/perf.data"
		done
	done
}

@test "a report of an archive has the same bytes as that of the recording" {
	need_recording
	operf --callgraph -- sh -c 'ls -lR /usr/lib; gzip -c /bin/sh' >/dev/null
	opreport --symbols >want
	oparchive --output a.oparchive
	oparchive -o folder
	mkdir elsewhere
	cd elsewhere
	opreport --symbols archive:../a.oparchive | cmp - ../want
	opreport --symbols ../a.oparchive | cmp - ../want
	opreport --symbols archive:../folder | cmp - ../want
	opreport --symbols session:current archive:../folder | cmp - ../want
	run -0 "$OPROFILE" where archive:../folder libc.so.6
	[[ $output == *"recorded path"*"elsewhere/../folder/"*"found"* || \
		$output == *"recorded path"*"/folder/"*"found"* ]]
	# Archiving an archive gives the same archive.
	oparchive -o again archive:../folder
	diff -r again ../folder
}

@test "oparchive writes the same bytes for the same recording, and tar reads them" {
	need_recording
	need tar
	need zstd
	operf -- sh -c 'gzip -c /bin/sh' >/dev/null
	oparchive --output a.oparchive
	oparchive --output again.oparchive
	cmp a.oparchive again.oparchive
	zstd -dc a.oparchive | tar -tf - | grep -x manifest
	if "$OPROFILE" --version | grep -q '^ *libbz2 *yes'; then
		need bzip2
		oparchive --perf --output a.tar.bz2
		oparchive --perf --output again.tar.bz2
		cmp a.tar.bz2 again.tar.bz2
		tar -tf a.tar.bz2 | grep '^\.build-id/'
	fi
}

# Prints the offset and size of a section of an ELF file.
section() # FILE NAME
{
	readelf -SW "$1" | sed 's/^ *\[[ 0-9]*\] //' |
		awk -v name="$2" '$1 == name { print "0x" $4, "0x" $5 }'
}

bytes() # FILE OFFSET SIZE
{
	dd if="$1" iflag=skip_bytes,count_bytes skip=$(($2)) count=$(($3)) status=none
}

@test "an archive has the parts of binaries that reports read, or whole binaries on request" {
	need_recording
	need cc
	need readelf
	cat >program.c <<-'END'
		unsigned table[4] = { 1, 2, 3, 4 };
		__attribute__((noinline)) unsigned idle(unsigned n) { return n * table[n & 3]; }
		__attribute__((noinline)) unsigned busy(unsigned n)
		{
			unsigned sum = n;
			for (unsigned i = 0; i < 300000000; i++)
				sum = sum * 17 + (sum >> 3);
			return sum;
		}
		int main(int argc, char **argv)
		{
			return argc > 5 ? (int)idle(3) : busy(7) == 5;
		}
	END
	cc -O1 -g -Wl,--build-id -o program program.c
	operf ./program >/dev/null 2>&1
	opreport --symbols >want
	opreport --by line,symbol --csv >want-lines
	oparchive --output parts.oparchive
	oparchive --output whole.oparchive --whole-binaries
	opreport --symbols archive:parts.oparchive | cmp want -
	opreport --by line,symbol --csv archive:parts.oparchive | cmp want-lines -
	here=${PWD#/}
	mkdir parts whole
	zstd -qdc parts.oparchive | tar xC parts
	zstd -qdc whole.oparchive | tar xC whole
	cmp program "whole/$here/program"
	run ! cmp program "parts/$here/program"
	grep -qx "parts $here/program" parts/manifest
	run ! grep -q '^parts ' whole/manifest
	# The needed bytes keep their file offsets: sampled code, symbols, debug information.
	for name in .plt .symtab .strtab .eh_frame .debug_line .debug_info .note.gnu.build-id; do
		read -r offset size <<<"$(section program "$name")"
		[ -n "$offset" ] || continue
		cmp <(bytes program "$offset" "$size") <(bytes "parts/$here/program" "$offset" "$size")
	done
	for name in busy idle; do
		objdump -d --disassemble="$name" program | sed 1,2d >"$name.want"
		objdump -d --disassemble="$name" "parts/$here/program" | sed 1,2d >"$name.got"
	done
	cmp busy.want busy.got
	run ! cmp -s idle.want idle.got
}

@test "one archive file can hold two sessions that hit different functions of a program" {
	need_recording
	need cc
	cat >two.c <<-'END'
		__attribute__((noinline)) unsigned one(unsigned n)
		{
			unsigned sum = n;
			for (unsigned i = 0; i < 200000000; i++)
				sum = sum * 17 + (sum >> 3);
			return sum;
		}
		__attribute__((noinline)) unsigned two(unsigned n)
		{
			unsigned sum = n;
			for (unsigned i = 0; i < 200000000; i++)
				sum = sum * 19 + (sum >> 5);
			return sum;
		}
		int main(int argc, char **argv)
		{
			return (argc > 1 ? one(7) : two(7)) == 5;
		}
	END
	cc -O1 -Wl,--build-id -o two two.c
	mkdir both
	operf --session-dir both ./two >/dev/null 2>&1
	mv both/samples/current both/samples/first
	operf --session-dir both ./two x >/dev/null 2>&1
	oparchive --session-dir both --output both.oparchive session:first,current
	mkdir found
	zstd -qdc both.oparchive | tar xC found
	for name in one two; do
		objdump -d --disassemble="$name" two | sed 1,2d >"$name.want"
		objdump -d --disassemble="$name" "found/${PWD#/}/two" | sed 1,2d |
			cmp - "$name.want"
	done
	[ "$(grep -c '^file .*/two$' found/manifest)" -eq 1 ]
	[ ! -d found/.debug/.build-id ]
}

# Prints the existing files that a command opens, one per line.
opened()
{
	# The leak check of a sanitizer cannot work under strace.
	ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 strace -f -o trace -e trace=open,openat,openat2,readlink,readlinkat "$@" >/dev/null 2>&1
	grep -v -e ENOENT -e unfinished trace | grep -o '"/[^"]*"' | sort
}

# Prints a directory and its parents, quoted, one per line.
above()
{
	local dir=$1
	while [ -n "$dir" ]; do
		echo "\"$dir\""
		dir=${dir%/*}
	done
	echo '"/"'
}

@test "strace shows that a report from an archive opens no file outside of it" {
	command -v strace >/dev/null || skip "needs strace"
	need_recording
	operf -- sh -c 'ls -lR /usr/lib; gzip -c /bin/sh' >/dev/null
	oparchive -o folder
	# The files that the loader and the C library always open.
	opened "$OPROFILE_LINKS/opreport" --version >usual
	opened "$OPROFILE_LINKS/opreport" --symbols >report
	opened "$OPROFILE_LINKS/opreport" --symbols archive:folder >archived
	comm -23 report usual | grep -q /usr/bin/gzip
	grep -q "$PWD/folder/usr/bin/gzip" archived
	# The owners of the cache directories' parents are also checked.
	comm -23 archived usual | grep -v -e "^\"$PWD/folder[/\"]" -e /sys/devices/system/cpu |
		grep -vxFf <(above "$HOME") >leaks || true
	cat leaks
	[ ! -s leaks ]
}

# Runs a command under strace, which makes one of its system calls fail.
fails() # CALL:FAULT COMMAND...
{
	local fault=$1
	shift
	# The leak check of a sanitizer cannot work under strace.
	ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 timeout -k 5 60 \
		strace -f -qq -y -o trace -e trace="${fault%%:*}" -e inject="$fault" "$@"
}

# Prints the numbers of up to 12 calls in `trace` that access the session.
calls_of_session()
{
	grep -n 'rec/samples' trace | cut -d: -f1 | head -n 12
}

# Passes if the command succeeds as without the fault, or names a file that is missing in the
# archive, or fails with the injected error and leaves no file.
check_fault() # CALL:FAULT TEXT
{
	local result=0
	rm -rf a.oparchive
	fails "$1" "$OPROFILE_LINKS/oparchive" --session-dir rec -x --output a.oparchive 2>err || result=$?
	if [ $result -eq 3 ]; then
		grep -q "^oparchive: .*: $2" err
		opreport --symbols archive:a.oparchive >/dev/null 2>&1
	elif [ $result -eq 0 ]; then
		grep -q 'rec/samples/current".*INJECTED' trace || return 0
		opreport --symbols archive:a.oparchive 2>/dev/null | cmp - want
	else
		[ ! -e a.oparchive ]
		! grep -q 'rec/samples/current.*INJECTED' trace || grep "^oparchive: .*: $2\$" err
	fi
	if ! fails "$1" "$OPROFILE_LINKS/opreport" --session-dir rec --symbols >got 2>err; then
		[ -s err ]
	elif grep -q 'rec/samples/current".*INJECTED' trace; then
		cmp got want-here
	fi
}

@test "an error while listing a session fails oparchive, and leaves no archive without samples" {
	need strace
	need_recording
	mkdir rec
	operf --session-dir rec -- sh -c 'ls -lR /usr/lib; gzip -c /bin/sh' >/dev/null
	oparchive --session-dir rec -x --output whole.oparchive
	opreport --symbols archive:whole.oparchive >want 2>/dev/null
	opreport --session-dir rec --symbols >want-here
	for fault in 'openat:error=EMFILE:Too many open files' 'getdents64:error=EIO:Input/output error' \
		'newfstatat:error=EIO:Input/output error'; do
		text=${fault##*:} fault=${fault%:*}
		# Find the numbers of the calls that access the session, for both commands.
		fails "${fault%%:*}:error=EIO:when=60000" "$OPROFILE_LINKS/opreport" \
			--session-dir rec --symbols >/dev/null
		calls_of_session >calls
		fails "${fault%%:*}:error=EIO:when=60000" "$OPROFILE_LINKS/oparchive" \
			--session-dir rec -x --output a.oparchive
		calls_of_session >>calls
		[ -s calls ]
		for n in $(sort -nu calls); do
			check_fault "$fault:when=$n" "$text"
		done
	done
	# On failure the output directory is removed also.
	run -1 fails getdents64:error=EIO:when=3+ "$OPROFILE_LINKS/oparchive" --session-dir rec -o dir
	[ ! -e dir ]
	# A session without segments.
	rm -f a.oparchive rec/samples/current/segment-*
	run -1 oparchive --session-dir rec --output a.oparchive
	[ ! -e a.oparchive ]
}

@test "a session that grows during archiving is archived up to that time" {
	need strace
	need_recording
	mkdir rec
	operf --session-dir rec -- gzip -c /bin/sh >/dev/null
	opreport --session-dir rec --symbols >want
	# oparchive lists the session before it looks for the kernel's symbols, after the
	# checksum; the delay keeps it between these steps.
	strace -f -qq -o trace -P rec/samples/current/kallsyms.zst -e trace=openat \
		-e inject=openat:delay_enter=1000000:when=2+ "$OPROFILE_LINKS/oparchive" --session-dir rec --output a.oparchive &
	archiver=$!
	sleep 0.5
	printf '\323OPB' >>rec/samples/current/segment-000001
	wait "$archiver"
	opreport --symbols archive:a.oparchive >got 2>err || [ $? -eq 3 ]
	cmp got want
}

@test "a report in an empty chroot with the archive is the same" {
	need_root
	need_recording
	operf -- sh -c 'ls -lR /usr/lib; gzip -c /bin/sh' >/dev/null
	opreport --symbols >want
	mkdir -p empty/tmp
	oparchive --output empty/a.oparchive
	cp "$OPROFILE" empty/oprofile
	ldd "$OPROFILE" | grep -o '/[^ ]*' | while read -r file; do
		mkdir -p "empty${file%/*}"
		cp -L "$file" "empty$file"
	done
	TMPDIR=/tmp chroot empty /oprofile report --symbols archive:/a.oparchive | cmp - want
	[ -z "$(ls -A empty/tmp)" ]
}

@test "every command reads an archive and removes its temporary files however it ends" {
	need_data
	oparchive --output a.oparchive "$DATA/s390x/perf.data" 2>/dev/null
	opreport --input archive:a.oparchive >/dev/null 2>&1
	"$OPROFILE" info archive:a.oparchive >got
	[ "$(head -n 1 got)" = "archive:a.oparchive session:current" ]
	"$OPROFILE" info --json archive:a.oparchive | grep -q '"path": *"archive:a.oparchive session:current"'
	tail -n +2 got >rest
	mv rest got
	"$OPROFILE" info "$DATA/s390x/perf.data" | tail -n +2 | diff - got
	"$OPROFILE" buildid-list archive:a.oparchive >got
	"$OPROFILE" buildid-list "$DATA/s390x/perf.data" | diff - got
	"$OPROFILE" script archive:a.oparchive 2>/dev/null | head -n 1 | grep -q .
	# An interrupted command removes its temporary directory shortly afterwards.
	mkfifo stuck
	"$OPROFILE" script archive:a.oparchive >stuck 2>/dev/null &
	pid=$!
	exec 7<stuck
	for _ in $(seq 100); do
		[ -n "$(ls -A unpacked)" ] && break
		sleep 0.05
	done
	[ -n "$(ls -A unpacked)" ]
	kill -KILL "$pid"
	wait "$pid" || true
	exec 7<&-
	for _ in $(seq 100); do
		[ -z "$(ls -A unpacked)" ] && break
		sleep 0.05
	done
	[ -z "$(ls -A unpacked)" ]
}

@test "oparchive options select, exclude and locate files" {
	need_recording
	operf -- sh -c 'ls -lR /usr/lib; gzip -c /bin/sh' >/dev/null
	run -0 --separate-stderr oparchive --list-files
	[[ $output == *"/libc.so.6"* && $output == *"/samples/current/segment-"* ]]
	[ ! -e var ]
	run -0 --separate-stderr oparchive --list-files --exclude-dependent
	[[ $output != *"/libc.so.6"* && $output == *"/gzip"* ]]
	run -0 --separate-stderr oparchive --list-files image-exclude:'*/gzip'
	[[ $output != *"/gzip"* && $output == *"/samples/current/segment-"* ]]
	run -0 --separate-stderr oparchive --list-files --no-debug-files
	[[ $output == *"/libc.so.6"* && $output != *.debug* ]]
	# --image-path refers to a directory within the archive.
	mkdir -p folder/empty
	oparchive -o folder
	opreport archive:folder --image-path empty >/dev/null
	run -1 opreport archive:folder --image-path /nothing/here
	[[ $output == *"/folder//nothing/here isn't a valid directory"* ]]
	run -1 oparchive
	[[ $output == *"Requires --output-directory option"* ]]
	run -1 oparchive -o /
	[[ $output == *"Invalid --output-directory: /" ]]
	run -1 oparchive -o a --output b
	run -1 opreport archive:a --root /
	run -1 --separate-stderr oparchive --output full session:none
	[ ! -e full ]
}

@test "--verify compares an archive directory with its manifest" {
	need_data
	oparchive -o folder "$DATA/s390x/perf.data" 2>/dev/null
	oparchive --output a.oparchive "$DATA/s390x/perf.data" 2>/dev/null
	run -0 --separate-stderr oparchive --verify archive:folder
	[ "$output" = "$(grep -c ^file folder/manifest) files, 0 of them damaged or missing" ]
	[ "$(oparchive --verify a.oparchive)" = "$output" ]
	name=var/lib/oprofile/samples/current/perf.data
	chmod u+w folder/$name
	printf x | dd of=folder/$name bs=1 seek=100 conv=notrunc status=none
	run -3 --separate-stderr oparchive --verify folder
	[ "$stderr" = "oparchive: warning: 'folder': '$name' is damaged" ]
	[[ $output == *" files, 1 of them damaged or missing" ]]
	rm folder/$name
	run -3 --separate-stderr oparchive --verify folder
	[ "$stderr" = "oparchive: warning: 'folder': cannot check '$name': No such file or directory" ]
	rm folder/manifest
	run -1 oparchive --verify archive:folder
	[ "$output" = "oparchive: folder has no manifest to compare with" ]
	run -1 oparchive --verify
}

@test "a damaged archive is rejected" {
	need_data
	oparchive --output a.oparchive "$DATA/s390x/perf.data" 2>/dev/null
	size=$(stat -c %s a.oparchive)
	head -c $((size / 2)) a.oparchive >cut.oparchive
	[ "$(refused cut.oparchive)" = "cut.oparchive: truncated" ]
	zstd -qdc a.oparchive >plain
	opreport archive:plain >/dev/null 2>&1
	python3 - plain <<-'END'
		import sys
		path = sys.argv[1]
		data = bytearray(open(path, "rb").read())
		data[600] ^= 1
		open(path, "wb").write(data)
	END
	[[ "$(refused plain)" == "cannot open the archive 'plain': its member 'var/lib/oprofile/samples/current/perf.data' is damaged" ]]
	for more in a.oparchive noise-after; do
		echo junk >noise-after
		cat a.oparchive "$more" >longer
		[ "$(refused longer)" = "longer: other data follows the end of the archive" ]
		run -1 oparchive --verify archive:longer
		[ "$output" = "oparchive: longer: other data follows the end of the archive" ]
	done
	head -c 100000 /dev/urandom >noise
	[ "$(refused noise)" = "noise: not a tar file, or damaged" ]
	: >empty
	[ "$(refused empty)" = "empty: truncated" ]
	[ "$(refused /dev/null)" = "'/dev/null' is not an archive: expected a directory or a file NAME.oparchive" ]
}

@test "oparchive of a perf.data with truncated features exits with 3" {
	need_data
	head -c -200 "$DATA/s390x/perf.data" >cut.data
	run -3 opreport cut.data
	for command in "oparchive --output a.oparchive" "oparchive --output-directory dir" \
		"$OPROFILE buildid-cache --missing=cut.data" "$OPROFILE buildid-list -i"; do
		operand=cut.data
		[[ $command != *--missing* ]] || operand=
		run -3 --separate-stderr $command $operand
		[[ $stderr == *"cut.data': the input is incomplete: "*" header features unreadable"* ]]
	done
	# The last command printed what the samples show.
	[ -n "$output" ]
}

@test "oparchive of an interrupted perf.data exits with 3" {
	need_data
	# The header announces no data.
	cp "$DATA/s390x/perf.data" cut.data
	chmod u+w cut.data
	dd if=/dev/zero of=cut.data bs=1 seek=48 count=8 conv=notrunc status=none
	run -3 opreport cut.data
	run -3 --separate-stderr oparchive --output a.oparchive cut.data
	[[ $stderr == *"cut.data': the input is incomplete: the recording was interrupted"* ]]
	run -3 "$OPROFILE" buildid-list -i cut.data
}

@test "a malicious archive is rejected and writes nothing" {
	make_tar up 'add("../evil", b"x")'
	[ "$(refused up)" = "cannot open the archive 'up': its member '../evil' has a path that leads out of the archive" ]
	make_tar absolute 'add("/tmp/evil", b"x")'
	[[ "$(refused absolute)" == *"its member '/tmp/evil' has a path that leads out of the archive" ]]
	make_tar middle 'add("a/../../evil", b"x")'
	[[ "$(refused middle)" == *'leads out of the archive' ]]
	make_tar link 'add("l", kind=tarfile.SYMTYPE, link="/etc")'
	[ "$(refused link)" = "cannot open the archive 'link': its member 'l' is a link" ]
	make_tar hard 'add("l", kind=tarfile.LNKTYPE, link="/etc/passwd")'
	[[ "$(refused hard)" == *'is a link' ]]
	make_tar device 'add("d", kind=tarfile.CHRTYPE)'
	[[ "$(refused device)" == *'is a device' ]]
	make_tar fifo 'add("d", kind=tarfile.FIFOTYPE)'
	[[ "$(refused fifo)" == *'is a device' ]]
	make_tar twice 'add("a", b"x"); add("a", b"y")'
	[[ "$(refused twice)" == *'occurs twice' ]]
	make_tar through 'add("a", b"x"); add("a/b", b"y")'
	[[ "$(refused through)" == *'occurs twice' ]]
	make_tar bare 'add("a", b"x")'
	[[ "$(refused bare)" == *'it contains no manifest' ]]
	make_tar more 'add("a", b"x"); add("manifest", b"oparchive 1\nend\n")'
	[[ "$(refused more)" == *'its manifest does not list' ]]
	for name in unfinished unfinished.part; do
		make_tar reserved "add('$name', b'x')"
		[ "$(refused reserved)" = "cannot open the archive 'reserved': its member '$name' has a reserved name" ]
	done
	make_tar control 'add("\x1b[2J/../x", b"x")'
	[[ "$(refused control)" == *"its member '\x1b[2J/../x'"* ]]
	[ ! -e evil ] && [ ! -e unpacked/evil ] && [ ! -e /tmp/evil ]
}

@test "a link in place of an unpacked file in the cache is rejected" {
	need_data
	# Take the checksum from an archive that we make.
	mkdir recording
	cp "$DATA/s390x/perf.data" recording/data
	printf /etc/passwd >recording/link
	oparchive -o good recording 2>/dev/null
	hash=$(sed -n 's|^file \([0-9a-f]*\) 11 .*/link$|\1|p' good/manifest)
	name=.debug/.build-id/ab/cdef
	make_tar lost "
add('$name', b'/etc/passwd')
add('manifest', b'oparchive 1\\nfile $hash 11 0 $name\\nend\\n')"
	[ "$(refused lost)" = "cannot open the archive 'lost': its member '$name' is a link" ]
}

@test "an archive that unpacks to an enormous size is rejected" {
	# 2 GB of zeros, compressed to 64 KB; the header states the true size.
	python3 - <<-'END'
		import subprocess, tarfile
		info = tarfile.TarInfo("zeros")
		info.size = 2 << 30
		zstd = subprocess.Popen(["zstd", "-q", "-1", "-o", "bomb"], stdin=subprocess.PIPE)
		zstd.stdin.write(info.tobuf(tarfile.USTAR_FORMAT))
		for _ in range(2 << 10):
		    zstd.stdin.write(bytes(1 << 20))
		zstd.stdin.write(bytes(1024))
		zstd.stdin.close()
		zstd.wait()
	END
	[ "$(refused bomb)" = "bomb: unpacks to more than the maximum size of a recording" ]
}

@test "links in an archive directory are rejected" {
	mkdir -p folder/var/lib/oprofile/samples/current folder/.debug/.build-id/ab
	ln -s /etc folder/etc
	[ "$(refused folder)" = "cannot open the archive 'folder': its member 'etc' is a link" ]
	rm folder/etc
	mkfifo folder/pipe
	[ "$(refused folder)" = "cannot open the archive 'folder': its member 'pipe' is a device" ]
	rm folder/pipe
	echo /etc/passwd >folder/.debug/.build-id/ab/cdef
	[[ "$(refused folder)" == *"its member '/.debug/.build-id/ab/cdef' is a link" || \
		"$(refused folder)" == *"its member '.debug/.build-id/ab/cdef' is a link" ]]
	rm folder/.debug/.build-id/ab/cdef
	[[ "$(refused folder)" == *"there is none in"* ]]
}

@test "archived files with names that the format reserves are rejected" {
	for name in .debug/file .debug/.build-id/ab/cdef/other .debug/.build-id/file \
		image-path/below/file manifest/file .vmlinux/file var/lib/oprofile/samples var; do
		rm -rf folder
		mkdir -p "$(dirname "folder/$name")"
		echo x >"folder/$name"
		[ "$(refused folder)" = "cannot open the archive 'folder': its member '$name' has a reserved name" ]
	done
}
