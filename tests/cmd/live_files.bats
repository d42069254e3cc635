# SPDX-License-Identifier: GPL-2.0-or-later
# Binaries that only the recorded processes can still reach: deleted files, and files in another
# root directory. The sessions are written as operf would write them; the processes are running.
load helpers

bats_require_minimum_version 1.5.0

setup_file()
{
	export DIR=$BATS_FILE_TMPDIR
	cat >"$DIR/sleeper.c" <<-'END'
		#include <unistd.h>
		void sleep_well(void);
		void sleep_well(void) { for (;;) sleep(600); }
		int main(void) { sleep_well(); }
	END
	gcc -static -Wl,--build-id -o "$DIR/sleeper" "$DIR/sleeper.c" || true
}

setup()
{
	[ -x "$DIR/sleeper" ] || skip "needs a static libc"
	sleeper=
	open=
	id=$(readelf -n "$DIR/sleeper" | sed -n 's/.*Build ID: //p')
	offset=$(($(text_offset "$DIR/sleeper") + 0x$(nm "$DIR/sleeper" | sed -n 's/ T sleep_well$//p') - 0x$(readelf -SW "$DIR/sleeper" |
		sed -n 's/^.*\] \.text *PROGBITS *\([0-9a-f]*\) .*/\1/p')))
}

teardown()
{
	[ -z "$sleeper" ] || kill "$sleeper"
	rm -rf "$open"
}

# describe PATH BUILD_ID [START_NS [BOOT_ID [HOST]]]: makes a session of $sleeper in $session.
# With main=- the binary is not marked as the main one of the process, as for a library.
describe()
{
	new_session
	rm -rf "$session/samples"
	{
		echo "info|0|Some CPU|${5-$(uname -n)}||${3-$(now)}|0|$(uname -r)|${4-$(</proc/sys/kernel/random/boot_id)}"
		echo 'event|TIMER|Clocks|3|100000|0|0'
		echo "image|1|$1|$2"
		echo "thread|$sleeper|$sleeper|sleeper|${main-0}|0|"
		echo "sample|0|0|0|2000|1|0+$offset|7"
	} | write_segment "$session/samples/current"
}

# Prints the session clock two seconds from now, when the process has certainly started.
now()
{
	python3 -c 'import time; print(time.clock_gettime_ns(time.CLOCK_MONOTONIC) + 2000000000)'
}

delete_running()
{
	cp "$DIR/sleeper" "$BATS_TEST_TMPDIR/gone"
	"$BATS_TEST_TMPDIR/gone" 3>&- &
	sleeper=$!
	for ((i = 0; i < 100; i++)); do
		[ "$(readlink "/proc/$sleeper/exe")" != "$BATS_TEST_TMPDIR/gone" ] || break
		sleep 0.05
	done
	rm "$BATS_TEST_TMPDIR/gone"
}

has_name()
{
	opreport --session-dir "$session" --by image,symbol --csv 2>/dev/null | grep -q ',sleep_well,7,'
}

@test "symbols of a deleted, running program are read through /proc" {
	delete_running
	describe "$BATS_TEST_TMPDIR/gone" "$id"
	has_name
	run -0 "$OPROFILE" where --session-dir "$session" gone
	[[ $output == *"/proc of its processes"*"/proc/$sleeper/exe: found"* ]]
	kill "$sleeper"
	wait "$sleeper" || true
	sleeper=
	run ! has_name
}

@test "symbols of a deleted library are read through its process, by its old name" {
	delete_running
	cat "/proc/$sleeper/map_files/"* >/dev/null 2>&1 || skip "map_files cannot be read here"
	for name in gone "gone (deleted)"; do
		main=- describe "$BATS_TEST_TMPDIR/$name" "$id"
		has_name
		run -0 "$OPROFILE" where --session-dir "$session" "$name"
		[[ $output == *"/proc/$sleeper/map_files/"*": found"* ]]
	done
}

@test "symbols of a program in another root directory are read through /proc" {
	need_root
	need chroot
	mkdir "$BATS_TEST_TMPDIR/jail"
	cp "$DIR/sleeper" "$BATS_TEST_TMPDIR/jail/only-there"
	chroot "$BATS_TEST_TMPDIR/jail" /only-there 3>&- &
	sleeper=$!
	for ((i = 0; i < 100; i++)); do
		[ "$(readlink "/proc/$sleeper/root")" != "$BATS_TEST_TMPDIR/jail" ] || break
		sleep 0.05
	done
	main=- describe /only-there "$id"
	has_name
	run -0 "$OPROFILE" where --session-dir "$session" only-there
	[[ $output == *"/proc/$sleeper/"*"/only-there: found"* ]]
}

# archive_of PATH ID: oparchive while the program at PATH of another root is running.
archive_of()
{
	mkdir -p "$BATS_TEST_TMPDIR/jail${1%/*}"
	cp "$DIR/sleeper" "$BATS_TEST_TMPDIR/jail$1"
	chroot "$BATS_TEST_TMPDIR/jail" "$1" 3>&- &
	sleeper=$!
	for ((i = 0; i < 100; i++)); do
		[ "$(readlink "/proc/$sleeper/root")" != "$BATS_TEST_TMPDIR/jail" ] || break
		sleep 0.05
	done
	main=- describe "$1" "$2"
	rm -rf made made.oparchive
	run oparchive --session-dir "$session" -o made
	[ "$status" -ne 0 ] || oparchive --session-dir "$session" --output made.oparchive
	kill "$sleeper"
	wait "$sleeper" || true
	sleeper=
}

# run_on_mount TYPE OPTIONS: user nobody runs the program in a user namespace, on a mount that he
# made, or prints the reason and exits.
run_on_mount()
{
	rm -rf "$open"
	open=$(mktemp -d)
	mkdir "$open"/{lower,upper,work,mount}
	cp "$DIR/sleeper" "$open/lower/only-there"
	chown -R 65534 "$open"
	setpriv --reuid=65534 --regid=65534 --clear-groups unshare -Urm sh -c '
		cd "$1" && mount -t "$2" -o "$3" made mount || exit 77
		[ -e mount/only-there ] || cp lower/only-there mount
		exec mount/only-there' sh "$open" "$1" "$2" 3>&- &
	sleeper=$!
	for ((i = 0; i < 100; i++)); do
		[[ $(readlink "/proc/$sleeper/exe") != */only-there ]] || return 0
		kill -0 "$sleeper" || break
		sleep 0.05
	done
	sleeper=
	skip "NOT TESTED here: a user cannot mount $1"
}

# Of such a mount nothing is read, because the user can serve it and stop answering.
@test "a file on a mount that another user made is read only if it is in memory" {
	need_root
	need unshare
	cat /proc/$$/map_files/* >/dev/null 2>&1 || skip "map_files cannot be read here"
	run_on_mount tmpfs size=4m
	describe "$open/mount/only-there" "$id"
	has_name
	kill "$sleeper"
	wait "$sleeper" || true
	run_on_mount overlay "lowerdir=lower,upperdir=upper,workdir=work"
	for main in 0 -; do
		describe "$open/mount/only-there" "$id"
		run ! has_name
	done
}

@test "no link and no path leads into the mounts of another user's process" {
	need_root
	need unshare
	run_on_mount overlay "lowerdir=lower,upperdir=upper,workdir=work"
	ln -s "/proc/$sleeper/root$open/mount" "$open/link"
	[ -e "$open/link/only-there" ]
	for path in "$open/link/only-there" "/proc/$sleeper/root$open/mount/only-there" \
		"/proc/self/root/proc/$sleeper/root$open/mount/only-there"; do
		main=- describe "$path" "$id"
		run ! has_name
	done
	# Other links are followed.
	ln -s "$open/lower" "$open/other"
	main=- describe "$open/other/only-there" "$id"
	has_name
}

@test "oparchive: a path in another root does not become a reserved name" {
	need_root
	need chroot
	cd "$BATS_TEST_TMPDIR"
	own=".debug/.build-id/${id:0:2}/${id:2}/elf"
	for path in /manifest /unfinished /unfinished.part /.vmlinux /image-path/module.ko \
		/.debug/.build-id/01/23456789/debug '/.debug/[kernel.kallsyms]/0123/kallsyms' \
		/var/lib/oprofile/samples/current/segment-000002 /var/lib/oprofile \
		/usr/lib/debug/.build-id/01/23456789.debug /usr/bin/.debug/ls.debug \
		/lib/modules/6.1/vmlinux /boot/vmlinux-6.1 /tmp/perf-1.map /tmp/jit-1.dump; do
		rm -rf jail
		# A binary with a build-id is archived by this, so it does not replace a reserved
		# file.
		archive_of "$path" "$id"
		[ "$status" -eq 0 ]
		cmp "made/$own" "$DIR/sleeper"
		[ "$path" = /manifest ] || [ ! -f "made$path" ]
		[ "$(find made -type f | grep -v '/var/lib/oprofile/samples/' | sort | tr '\n' ' ')" = "made/$own made/manifest " ]
		opreport --symbols archive:made | grep -q sleep_well
		opreport --symbols archive:made.oparchive | grep -q sleep_well
		# A binary without a build-id is left out.
		archive_of "$path" ""
		[ "$status" -eq 3 ]
		[[ $output == *"is not archived: archives reserve its path or build-id for another file"* ]]
		[ ! -e "made/$own" ]
		[ "$(find made -type f | grep -v '/var/lib/oprofile/samples/')" = "made/manifest" ]
	done
}

@test "oparchive does not use a file of another root for a path of this one" {
	need_root
	need chroot
	cd "$BATS_TEST_TMPDIR"
	archive_of /bin/sh "$id"
	[ "$status" -eq 0 ]
	[ ! -e made/bin/sh ]
	opreport --symbols archive:made | grep -q sleep_well
	mkdir here
	archive_of "$PWD/here" ""
	[ "$status" -eq 3 ]
	[ ! -e "made$PWD/here" ]
}

@test "a running process gives no names to other files, boots, machines or processes" {
	delete_running
	describe "$BATS_TEST_TMPDIR/gone" 1234567890123456789012345678901234567890
	run ! has_name
	describe "$BATS_TEST_TMPDIR/gone" "$id" "$(now)" 01234567-89ab-cdef-0123-456789abcdef
	run ! has_name
	describe "$BATS_TEST_TMPDIR/gone" "$id" "$(now)" "$(</proc/sys/kernel/random/boot_id)" elsewhere
	run ! has_name
	# A recording that started, and contained the process, long before this process started.
	describe "$BATS_TEST_TMPDIR/gone" "$id" 1000
	run ! has_name
	run -1 "$OPROFILE" where --session-dir "$session" gone
	[[ $output == *"/proc of its processes"*"not found"* ]]
	describe "$BATS_TEST_TMPDIR/gone" "$id"
	has_name
}

@test "operf does not ask the server of a process's file system when it starts" {
	new_session
	# The list of mappings shows the line end in the name as an escape, so the program is found
	# by its inode.
	cp "$WORKLOADS/deep" "$BATS_TEST_TMPDIR/two"$'\n'"lines"
	"$BATS_TEST_TMPDIR/two"$'\n'"lines" 3000 60000 >/dev/null 3>&- &
	local target=$!
	for name in exe root; do
		LD_PRELOAD="$HANG_SO" HANG_STAT=$name timeout -k 5 60 \
			"$OPROFILE_LINKS/operf" --session-dir "$session" --pid "$target" --duration 0.5
	done
	kill "$target"
	opreport --session-dir "$session" --by image --csv | grep -q lines
}
