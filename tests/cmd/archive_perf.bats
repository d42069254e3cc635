# SPDX-License-Identifier: GPL-2.0-or-later
# oparchive --perf and --unpack: exchange of archives and caches with perf.
load helpers

bats_require_minimum_version 1.5.0

setup()
{
	cd "$BATS_TEST_TMPDIR"
	mkdir -p home
	export HOME=$BATS_TEST_TMPDIR/home
	unset PERF_BUILDID_DIR
}

# Sets up a recording of another machine as data, and its perf cache as the user's. In our copy of
# that cache, small files replace its links.
other_machine()
{
	need_data
	cp -f "$DATA/$1/perf.data" data
	rm -rf home/.debug
	cp -r "$DATA/$1/debug-cache" home/.debug
	chmod -R u+w home/.debug
	find home/.debug/.build-id -type f | while read -r file; do
		target=$(cat "$file")
		ln -sf "$target" "$file"
	done
}

perf_report() # [CACHE]
{
	perf --buildid-dir "${1:-$HOME/.debug}" report -i data --stdio --no-children -g none --sort comm,dso,sym 2>/dev/null | grep -v '^#'
}

links_of()
{
	tar tf "$1" | grep '^.build-id/../.*[^/]$' | sort
}

@test "--perf writes what perf archive writes, for tar and perf report" {
	need perf
	need bzip2
	for machine in s390x arm64 armhf; do
		other_machine $machine
		perf_report >want
		grep -q '\[\.\] [a-z]' want
		[ "$(oparchive --perf data)" = data.tar.bz2 ]
		mv data.tar.bz2 ours.tar.bz2
		# Compare with perf, while the user's cache is moved away and empty.
		mv home/.debug cache
		rm -rf unpacked
		mkdir unpacked
		tar xf ours.tar.bz2 -C unpacked
		bzip2 -t ours.tar.bz2
		perf_report unpacked | diff want -
		# The archive has the same binaries as one made by perf.
		rm -rf home/.debug
		mv cache home/.debug
		perf archive data >perf.log || cat perf.log
		links_of data.tar.bz2 >want-links
		links_of ours.tar.bz2 | diff want-links -
		rm -rf theirs
		mkdir theirs
		tar xf data.tar.bz2 -C theirs
		(cd theirs && find . -name elf -o -name kallsyms -o -name vdso | sort) >want-files
		while read -r file; do cmp "theirs/$file" "unpacked/$file"; done <want-files
	done
}

@test "--unpack unpacks an archive of perf archive and names the functions" {
	need perf
	need bzip2
	for machine in s390x arm64 armhf; do
		other_machine $machine
		opreport --symbols data >want
		perf archive data >perf.log || cat perf.log
		rm -rf home/.debug
		run -0 oparchive --unpack data.tar.bz2
		[[ $output == *" files in $HOME/.debug" ]]
		opreport --symbols data | diff want -
		# Existing files are not changed.
		(cd home/.debug && find . -type f -exec stat -c '%n %i' {} + | sort) >before
		run -0 oparchive --unpack data.tar.bz2
		(cd home/.debug && find . -type f -exec stat -c '%n %i' {} + | sort) | diff before -
		perf_report >names
		grep -q '\[\.\] [a-z]' names
		rm -rf home/.debug
		PERF_BUILDID_DIR=$PWD/cache oparchive --unpack data.tar.bz2
		[ ! -e home/.debug ]
		[ -d cache/.build-id ]
	done
}

@test "--perf --all packs the recording with its binaries, and --unpack overwrites nothing" {
	other_machine s390x
	opreport --symbols data >want
	run -0 --separate-stderr oparchive --perf --all data
	[[ $output == "perf.all-$(hostname)-"[0-9]*-[0-9]*.tar.* ]]
	mv "$output" all.tar
	if [[ $output == *.bz2 ]]; then
		# Unpack it as --unpack of newer perf versions does.
		mkdir apart apart/cache
		(cd apart && tar xf ../all.tar && tar xf perf.symbols.tar.bz2 -C cache)
		cmp apart/data data
		[ -L "$(find apart/cache/.build-id -type l | head -n 1)" ]
		PERF_BUILDID_DIR=$PWD/apart/cache opreport --symbols data | diff want -
	fi
	rm -rf home/.debug
	run -1 oparchive --unpack all.tar
	[ "$output" = "oparchive: 'data' already exists: give another destination with --output" ]
	rm data
	rm -rf home/.debug
	run -0 oparchive --unpack all.tar
	[ "${lines[1]}" = "the recording: data" ]
	cmp data "$DATA/s390x/perf.data"
	opreport --symbols data | diff want -
	run -0 oparchive --unpack --output elsewhere all.tar
	cmp elsewhere data
	[ -z "$(ls -A home/.debug | grep unpack)" ]
	[ -z "$(find . -name '*.making-*')" ]
}

@test "a recording is unpacked only if its name is one of a recording" {
	other_machine s390x
	for name in .bashrc .x.data -rf -x.data GNUmakefile x.sh sitecustomize.py perf.data.sh \
		perf.data.1.sh perf.data.; do
		mkdir in
		cp data "in/$name"
		tar cf named.tar -C in -- "$name"
		rm -r in
		run -1 oparchive --unpack named.tar
		[ "$output" = "oparchive: cannot unpack 'named.tar': its member '$name' does not have the name of a recording: give the file name of the recording with --output" ]
		[ ! -e "./$name" ]
		run -0 oparchive --unpack --output elsewhere named.tar
		cmp elsewhere "$DATA/s390x/perf.data"
		rm elsewhere
	done
	for name in perf.data perf.data.old perf.data.2026112618041502 job.data perf-job.data.1; do
		cp "$DATA/s390x/perf.data" "$name"
		tar cf named.tar -- "$name"
		rm "$name"
		run -0 oparchive --unpack named.tar
		cmp "$name" "$DATA/s390x/perf.data"
	done
}

@test "a recording without a complete header is not unpacked under its own name" {
	need_data
	# Text, and headers whose sections are not in the file.
	python3 - "$DATA/s390x/perf.data" <<-'END'
		import struct, sys
		data = open(sys.argv[1], "rb").read()
		open("text", "wb").write(b"PERFILE2 () { :; }\n" + b"echo harm\n" * 100)
		open("pipe", "wb").write(b"PERFILE2" + struct.pack("<Q", 16) + b"\necho harm\n" * 100)
		open("cut", "wb").write(data[:60])
		open("attrs", "wb").write(data[:24] + b"\x7f" * 8 + data[32:])
		open("short", "wb").write(data[: len(data) // 2])
	END
	for kind in text pipe cut attrs short; do
		cp "$kind" job.data
		tar cf job.tar job.data
		rm job.data
		run -1 oparchive --unpack job.tar
		[ "$output" = 'oparchive: cannot unpack '\''job.tar'\'': its member '\''job.data'\'' is not a complete perf.data file: give the file name of the recording with --output' ]
		[ ! -e job.data ]
	done
}

@test "--unpack unpacks an archive of perf archive --all of newer versions" {
	need bzip2
	other_machine s390x
	opreport --symbols data >want
	# Make the archive as the perf-archive script does.
	mv data perf.data
	(cd home/.debug/ && tar cjf "$BATS_TEST_TMPDIR/perf.symbols.tar.bz2" .build-id *)
	tar cjf perf.all-host-20260101-000000.tar.bz2 perf.data perf.symbols.tar.bz2
	rm -rf perf.data perf.symbols.tar.bz2 home/.debug
	run -0 --separate-stderr oparchive --unpack
	[ -z "$stderr" ]
	mv perf.data data
	opreport --symbols data | diff want -
}

@test "--perf archives the same files for a session and its perf.data" {
	need perf
	need bzip2
	need_recording
	operf --perf-data data -- sh -c 'ls -lR /usr/lib; gzip -c /bin/sh' >/dev/null
	[ "$(oparchive --perf)" = perf.data.tar.bz2 ]
	oparchive --perf data
	tar tf perf.data.tar.bz2 | sort >got
	tar tf data.tar.bz2 | sort | diff - got
	mkdir unpacked
	tar xf perf.data.tar.bz2 -C unpacked
	# The kernel's symbols are stored as text.
	grep -q ' [tT] ' unpacked/*kallsyms*/*/kallsyms
	perf_report unpacked | grep -q '\[k\] [a-z]'
	run -1 oparchive --perf --all
	[[ $output == *"name one perf.data file"* ]]
}

@test "--perf chooses the compression by the name of the output file" {
	other_machine s390x
	oparchive --perf --output a.tar data
	oparchive --perf --output a.tar.zst data
	zstd -qdc a.tar.zst | cmp - a.tar
	tar tf a.tar | grep -q '^\[kernel.kallsyms\]/[0-9a-f]*/kallsyms$'
	rm -rf home/.debug
	run -0 oparchive --unpack a.tar.zst
	run -1 oparchive --unpack
	[[ $output == *"the current directory contains 0 files perf*.tar.{bz2,zst}"* ]]
}

@test "--perf and --unpack reject conflicting options" {
	run -1 oparchive --all
	[[ $output == *"--all requires --perf" ]]
	run -1 oparchive --perf --unpack
	run -1 oparchive --perf -o folder
	run -1 oparchive --unpack a b
	run -1 oparchive --unpack nothing-here
	[ "$output" = "oparchive: cannot open 'nothing-here': No such file or directory" ]
	need_data
	run -1 oparchive --perf --all session:current
	# None of its binaries exist on this machine.
	cp "$DATA/s390x/perf.data" data
	run -1 --separate-stderr oparchive --perf data
	[ "${stderr_lines[-1]}" = "oparchive: nothing to archive: no sampled binary with a build-id was found" ]
	[ ! -e data.tar.bz2 ]
}

@test "a malicious tar file writes nothing but files that their build-id proves" {
	cp "$OPROFILE" binary
	id=$(readelf -n binary | sed -n 's/.*Build ID: //p')
	wrong=0123456789abcdef0123456789abcdef01234567
	python3 - "$id" "$wrong" <<-'END'
		import io, sys, tarfile
		id, wrong = sys.argv[1:]
		data = open("binary", "rb").read()
		tar = tarfile.open("evil.tar", mode="w", format=tarfile.GNU_FORMAT)
		def add(name, data=b"", kind=tarfile.REGTYPE, link=""):
		    info = tarfile.TarInfo(name)
		    info.type, info.size, info.linkname = kind, len(data), link
		    tar.addfile(info, io.BytesIO(data))
		add("usr", kind=tarfile.SYMTYPE, link="/tmp")
		add(".build-id/01/" + wrong[2:], kind=tarfile.SYMTYPE, link="/etc")
		add("../up/" + id + "/elf", data)
		add("/abs/" + id + "/elf", data)
		add("usr/bin/wrong/" + wrong + "/elf", data)
		add("usr/bin/text/" + wrong + "/elf", b"no ELF file")
		add("[kernel.kallsyms]/" + wrong + "/kallsyms", data)
		add("device", kind=tarfile.CHRTYPE)
		add("note", b"no recording")
		add("usr/bin/good/" + id + "/elf", data)
		add("usr/bin/old/" + id, data)
		tar.close()
	END
	run -3 --separate-stderr oparchive --unpack evil.tar
	[ "${lines[0]}" = "2 files in $HOME/.debug" ]
	[ "${#lines[@]}" -eq 1 ]
	[ "${#stderr_lines[@]}" -eq 8 ]
	[[ $stderr == *"skipping the member 'usr': it is a link"* ]]
	[[ $stderr == *"the member 'usr/bin/wrong/"*'has a build-id that differs from its name'* ]]
	[[ $stderr == *"skipping the member 'note': it is not a perf.data file"* ]]
	(cd home/.debug && find . -type f -o -type l | sort) >got
	printf '%s\n' "./.build-id/${id:0:2}/${id:2}" "./usr/bin/good/$id/elf" \
		"./usr/bin/old/$id/elf" | sort | diff - got
	[ ! -e note ] && [ ! -e up ] && [ ! -e home/up ] && [ ! -e /abs ]
	# Neither an archive of ours nor random data is accepted.
	printf 'x' >manifest
	tar cf ours.tar manifest
	run -1 oparchive --unpack ours.tar
	[[ $output == *"opreport archive:ours.tar" ]]
	head -c 100000 /dev/urandom >noise
	run -1 oparchive --unpack noise
	[ "$output" = "oparchive: noise: not a tar file, or damaged" ]
}

@test "--unpack reports every member that it does not extract" {
	need_data
	cp "$DATA/s390x/perf.data" perf.data
	cp perf.data .second.data
	mkdir below
	cp perf.data below/third.data
	ln perf.data hard.data
	ln -s perf.data soft.data
	for other in .second.data below/third.data hard.data soft.data; do
		rm -rf out
		mkdir out
		tar cf some.tar perf.data "$other"
		(cd out && run -3 oparchive --unpack ../some.tar &&
			[[ $output == *"skipping the member '$other': it is "* ]] && cmp perf.data ../perf.data)
	done
	# The tar is followed by other data.
	tar cf twice.tar perf.data
	cat twice.tar >>twice.tar.copy
	cat twice.tar twice.tar.copy >both.tar
	rm -rf out
	mkdir out
	cd out
	run -3 oparchive --unpack ../both.tar
	[[ $output == *"is followed by other data"* ]]
	cmp perf.data ../perf.data
}

@test "Ctrl-C leaves no partial file" {
	need_data
	cp "$DATA/s390x/perf.data" data
	for command in "oparchive --output out.oparchive" "oparchive --perf --output out.tar" \
		"oprofile export perf-data -o out.data"; do
		ln -sfn "$(realpath "$DATA/s390x/debug-cache")" home/.debug
		mkfifo stuck
		# Block the command in the middle of writing: reading its vmlinux never ends.
		case $command in
		oparchive*) set -- "$OPROFILE_LINKS/oparchive" ${command#* } data ;;
		*) set -- "$OPROFILE" ${command#* } stuck ;;
		esac
		env --default-signal=INT "$@" >log 2>&1 3>&- &
		pid=$!
		exec 7<>stuck
		for _ in $(seq 200); do
			[ -n "$(find . -name '*.making-*')" ] && break
			kill -0 $pid 2>/dev/null || break
			sleep 0.02
		done
		kill -INT $pid 2>/dev/null || true
		wait $pid || true
		exec 7>&-
		for _ in $(seq 200); do
			[ -z "$(find . -name '*.making-*')" ] && break
			sleep 0.02
		done
		[ -z "$(find . -name '*.making-*')" ]
		rm -f stuck out.*
	done
}
