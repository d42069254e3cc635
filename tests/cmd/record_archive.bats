# SPDX-License-Identifier: GPL-2.0-or-later
# operf --archive: the archive contains files that no longer exist when the recording ends.
load helpers

bats_require_minimum_version 1.5.0

setup()
{
	begin_recording_test
	cd "$BATS_TEST_TMPDIR"
	jit_map=
}

teardown()
{
	[ -z "$jit_map" ] || rm -f "$jit_map"
	end_recording_test
}

# Simulates another machine: a root directory that has only our program and a.oparchive.
make_elsewhere()
{
	mkdir -p elsewhere/tmp
	cp "$OPROFILE" elsewhere/oprofile
	ldd "$OPROFILE" | grep -o '/[^ ]*' | while read -r file; do
		mkdir -p "elsewhere${file%/*}"
		cp -L "$file" "elsewhere$file"
	done
	cp a.oparchive elsewhere
}

elsewhere() # COMMAND ARGUMENT...
{
	TMPDIR=/tmp timeout -k 5 60 chroot elsewhere /oprofile "$@"
}

# Prints the samples of an image's symbols as "symbol,samples".
symbols_of() # IMAGE
{
	elsewhere report --by image,symbol --csv archive:/a.oparchive |
		awk -F, -v image="$1" '$1 == image { print $2 "," $3 }'
}

@test "operf --archive names a deleted program on another machine" {
	need_root
	operf --session-dir "$session" --archive=a.oparchive -- "$WORKLOADS/deleted" 1000 >truth 2>log
	grep -q '^Archive: a.oparchive$' log
	make_elsewhere
	image=$(elsewhere report --by image --csv archive:/a.oparchive | grep -o '/tmp/deleted-[^,]*')
	symbols_of "$image" >got
	cat got
	grep -q '^deleted_a,' got
	grep -q '^deleted_b,' got
	# No sample of the image is without a symbol.
	run ! grep -e '^0x' -e '^\[' -e "^$image" got
	# The report of the session on this machine is the same.
	opreport --by image,symbol --csv "$session/samples/current" | grep "^$image," | cut -d, -f2,3 | diff - got
}

@test "operf --output writes only the archive" {
	mkdir empty
	cd empty
	operf -o a.oparchive "$WORKLOADS/ratio" 300 2>log
	grep -qx 'Archive: a.oparchive' log
	grep -q 'Profiling done. .* [kM]\?B\?[a-z]*; the recorder used' log
	[ "$(ls)" = "$(printf '%s\n' a.oparchive log)" ]
	# The archive contains as many samples as the recorder reports.
	samples=$(sed -n 's/.*Profiling done. \([0-9]*\) samples.*/\1/p' log)
	[ "$(opreport --by comm --csv archive:a.oparchive | awk -F, 'NR > 1 { n += $2 } END { print n }')" -eq "$samples" ]
	# Nothing remains if the command cannot run.
	run -127 operf -o b.oparchive no-such-command
	run -3 operf -o c.oparchive sh -c 'exit 3'
	[ "$(ls)" = "$(printf '%s\n' a.oparchive c.oparchive log)" ]
}

@test "operf --output keeps the session if the archive cannot be written, and rejects other names" {
	mkdir empty
	cd empty
	mkdir a.oparchive
	run -125 operf -o a.oparchive -e page-faults:1 true
	[[ "$output" == *"cannot write 'a.oparchive'"*"the recording is in 'a.oparchive.session'"* ]]
	opreport --session-dir=a.oparchive.session --by comm --csv | grep -q '^true,'
	run -125 operf -o x.data true
	[[ "$output" == *"'x.data' does not end with .oparchive"*--perf-data* ]]
	run -125 operf -o .oparchive true
	run -125 operf -o x.oparchive --append true
	[[ "$output" == *"--output is incompatible with --append"* ]]
	run -125 operf -o no-such-dir/x.oparchive true
	[[ "$output" == *no-such-dir* ]]
	[ "$(ls)" = "$(printf '%s\n' a.oparchive a.oparchive.session)" ]
}

@test "operf --archive names a program of another mount namespace on another machine" {
	need_root
	unshare --mount true || skip "NOT TESTED: mount namespaces cannot be made here"
	mkdir inside
	operf --session-dir "$session" --archive=a.oparchive -- unshare --mount sh -c '
		mount -t tmpfs none "$1" && cp "$2" "$1/program" && exec "$1/program" 1000' \
		sh "$PWD/inside" "$WORKLOADS/ratio" >truth
	[ ! -e inside/program ]
	make_elsewhere
	image=$PWD/inside/program
	symbols_of "$image" >got
	cat got
	[ "$(awk -F, '{ print $1; exit }' got)" = work_b ]
	run ! grep -e '^0x' -e '^\[' -e "^$image" got
}

@test "operf --archive names a program of another root directory on another machine" {
	need_root
	mkdir -p jail/bin
	cp "$WORKLOADS/static_pie" jail/bin/program
	operf --session-dir "$session" --archive=a.oparchive -- chroot jail /bin/program 1000 >truth
	rm -r jail
	make_elsewhere
	symbols_of /bin/program >got
	cat got
	[ "$(awk -F, '{ print $1; exit }' got)" = spie_c ]
	run ! grep -e '^0x' -e '^\[' -e '^/bin/program' got
}

@test "operf --archive includes perf maps of this machine and of a container" {
	operf --session-dir "$session" --archive -- sh -c 'echo "1000 2000 jitted" >/tmp/perf-$$.map
		echo $$ >pid; exec "$0" 500' "$WORKLOADS/code_region" >truth
	pid=$(cat pid)
	jit_map=/tmp/perf-$pid.map
	[ "$(cat "$session/samples/current/jit/$pid/perf-$pid.map")" = "1000 2000 jitted" ]
	# Without a name the archive is next to the session directory.
	zstd -qdc "$session.oparchive" | tar t | grep -x "var/lib/oprofile/samples/current/jit/$pid/perf-$pid.map"
	need_root
	unshare --mount --pid --fork true || skip "NOT TESTED: namespaces cannot be made here"
	operf --session-dir "$session" --archive=a.oparchive -- unshare --mount --pid --fork sh -c '
		exec 9<"$0" && mount -t tmpfs none /tmp && cat <&9 >/tmp/program && chmod +x /tmp/program &&
			echo "3000 4000 inside" >/tmp/perf-1.map && exec /tmp/program 800' \
		"$WORKLOADS/code_region" >truth
	# The /tmp of the program no longer exists.
	run cat "$session"/samples/current/jit/*/perf-1.map
	[ "$output" = "3000 4000 inside" ]
	zstd -qdc a.oparchive | tar t | grep -q '/jit/[0-9]*/perf-1.map$'
}

@test "operf --archive includes a mapped jitdump, but no link to another file" {
	cat >burn.py <<-'END'
		import mmap, os, sys, time
		name = "jit-%d.dump" % os.getpid()
		with open(name, "wb") as out:
		    out.write(b"DTiJ" + bytes(4092))
		with open(name, "rb") as dump:
		    kept = mmap.mmap(dump.fileno(), 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)
		if len(sys.argv) > 1:
		    os.unlink(name)
		    os.symlink("/etc/passwd", name)
		end = time.time() + 0.5
		while time.time() < end:
		    pass
	END
	operf --session-dir "$session" --archive=a.oparchive -- python3 burn.py
	dump=$(ls jit-*.dump)
	cmp "$dump" "$session"/samples/current/jit/*/"$dump"
	zstd -qdc a.oparchive | tar t | grep -q "/jit/[0-9]*/$dump\$"
	rm "$dump"
	operf --session-dir "$session" --archive=a.oparchive -- python3 burn.py link
	[ ! -e "$session/samples/current/jit" ]
}

@test "oparchive adds JIT files later if they belong to the recording" {
	operf --session-dir "$session" --perf-data data -- sh -c 'echo "1000 2000 jitted" >/tmp/perf-$$.map
		echo $$ >pid; exec "$0" 500' "$WORKLOADS/code_region" >truth
	pid=$(cat pid)
	jit_map=/tmp/perf-$pid.map
	# Makes the session like that of an older operf, which did not keep perf maps.
	rm -r "$session/samples/current/jit"
	sed -i '/  jit\/$/d' "$session/samples/current/checksums"
	for recording in "$session/samples/current" data; do
		rm -rf folder again
		oparchive -o folder "$recording"
		cmp "folder/tmp/perf-$pid.map" "$jit_map"
		oparchive -o again archive:folder
		diff -r folder again
	done
	oparchive --list-files data | grep -qx "$jit_map"
	# A map that existed before belongs to another process; a symbolic link is not used.
	touch -d yesterday "$jit_map"
	oparchive -o old "$session/samples/current"
	[ ! -e "old$jit_map" ]
	ln -sf /etc/passwd "$jit_map"
	oparchive -o linked data
	[ ! -e "linked$jit_map" ]
	# A jitdump, found by the mappings in a perf.data file: python runs code outside of files
	# here.
	rm "$jit_map"
	cat >burn.py <<-'END'
		import ctypes, mmap, os
		name = "jit-%d.dump" % os.getpid()
		with open(name, "wb") as out:
		    out.write(b"DTiJ" + bytes(4092))
		with open(name, "rb") as dump:
		    kept = mmap.mmap(dump.fileno(), 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)
		# mov ecx, 1 << 30; dec ecx; jnz; ret
		code = bytes.fromhex("b900000040ffc975fcc3")
		memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
		memory.write(code)
		ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))()
	END
	[ "$(uname -m)" = x86_64 ] || skip "NOT TESTED here: the jitdump's code is of x86-64"
	operf --session-dir "$session" --perf-data data -- python3 burn.py
	dump=$(ls jit-*.dump)
	oparchive -o dumped data
	cmp "dumped$PWD/$dump" "$dump"
}

@test "an archive that cannot be written fails operf, and the session is complete" {
	run -125 --separate-stderr operf --session-dir "$session" --archive=no/such/folder -- ls -lR /usr/lib
	[[ $stderr == *"no/such/folder"*"the session itself is complete"* ]]
	opreport --session-dir "$session" >/dev/null
	[ -z "$(find . -name '*.making-*')" ]
}

@test "another user's file does not replace the copy of a deleted program" {
	need_root
	cp "$WORKLOADS/ratio" program
	cp -p program kept
	operf --session-dir "$session" -- sh -c './program 600 & sleep 0.2; rm program; wait' >truth
	[ -n "$(ls "$session/samples/current/images")" ]
	opreport --session-dir "$session" --by symbol --csv >named
	grep -q work_a named
	# The program is replaced by a file of the same size, build-id and time with other names.
	python3 - <<-'END2'
		content = open("kept", "rb").read()
		open("program", "wb").write(content.replace(b"work_", b"evil_"))
	END2
	run ! cmp program kept
	chown 65534 program
	touch -r kept program
	opreport --session-dir "$session" --by symbol --csv | diff named -
}
