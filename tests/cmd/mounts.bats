# SPDX-License-Identifier: GPL-2.0-or-later
# A recording keeps no mount busy (docs/decisions/0016), and its files still have symbols.
load helpers

bats_require_minimum_version 1.5.0

setup()
{
	begin_recording_test
	need_root
	unshare --mount true 2>/dev/null || skip "NOT TESTED: namespaces cannot be made here"
	daemon=
	cd "$BATS_TEST_TMPDIR"
	mkdir m
	program=$WORKLOADS/inner_first
	write_jobs
}

teardown()
{
	[ -z "$daemon" ] || kill -KILL "$daemon" 2>/dev/null || true
	for dir in rootfs upper lower m; do
		while mountpoint -q "$BATS_TEST_TMPDIR/$dir"; do
			umount -l "$BATS_TEST_TMPDIR/$dir"
		done
	done
	end_recording_test
}

# Writes jobs that mount, run and unmount; their arguments are the program and its milliseconds.
# They write to "result" what could not be unmounted, and to "holders" the processes that have a
# descriptor there.
write_jobs()
{
	cat >functions <<-'END'
		give_back() # DIRECTORY
		{
			umount "$1" 2>>umount.err && return 0
			for fd in /proc/[0-9]*/fd/*; do
				[[ "$(readlink "$fd" 2>/dev/null)" == "$PWD/$1"/* ]] || continue
				pid=${fd#/proc/}
				echo "$(tr '\0' ' ' <"/proc/${pid%%/*}/cmdline")"
			done >>holders
			umount -l "$1"
			echo "$1 is busy" >>result
		}
		: >result
		: >holders
		: >umount.err
	END
	cat >tmpfs_job <<-'END'
		#!/bin/bash
		. ./functions
		mount -t tmpfs none m && cp "$1" m/app && m/app "$2"
		give_back m
	END
	cat >squashfs_job <<-'END'
		#!/bin/bash
		. ./functions
		loop=$(losetup -f --show x.sq) && mount -t squashfs "$loop" m && m/app "$2"
		give_back m
		losetup -d "$loop"
		[ -z "$(losetup -j x.sq)" ] || echo "$loop is busy" >>result
	END
	# Like a container runtime: mounts the root outside and enters it in a namespace.
	cat >container_job <<-'END'
		#!/bin/bash
		. ./functions
		mkdir -p lower upper rootfs
		mount -t tmpfs none lower && mount -t tmpfs none upper && mkdir lower/old upper/data upper/work &&
			cp "$1" lower/app &&
			mount -t overlay overlay -o lowerdir=lower,upperdir=upper/data,workdir=upper/work rootfs &&
			unshare --mount sh -c 'cd rootfs && pivot_root . old && exec /app "$0"' "$2"
		for dir in rootfs lower upper; do
			give_back "$dir"
		done
	END
	chmod +x ./*_job
}

# Returns 0 if the job could unmount everything, 2 if a recorder of this test holds something
# there, and 1 otherwise.
went_well()
{
	cat result holders
	! grep -q "$BATS_TEST_TMPDIR" holders || return 2
	cat holders >>others
	[ ! -s result ]
}

# try COMMAND...: repeats the job until no other recorder of this machine interferes.
try()
{
	local status i
	: >others
	for i in {1..8}; do
		"$@" || return
		status=0
		went_well || status=$?
		[ "$status" != 0 ] || return 0
		[ "$status" = 1 ] || return 1
		sleep 1
	done
	[ ! -s others ] || skip "NOT TESTED: another recorder holds files here: $(head -n 1 others)"
	return 1
}

# Checks that the expected function of the program at this path has the most samples there.
check_symbols() # PATH-PATTERN
{
	opreport --session-dir "$session" --by image,symbol --long-filenames --csv >report 2>warnings
	cat warnings
	grep "$1" report | head
	awk -F, -v image="$1" '$1 ~ image { all += $3 } $1 ~ image && /inner_first_work/ { n += $3 }
		END { exit !(n > 100 && n > 0.8 * all) }' report
}

record()
{
	operf --session-dir "$session" "$@"
}

make_squashfs()
{
	need mksquashfs
	mkdir -p content
	cp "$program" content/app
	[ -z "${1-}" ] || touch -d "$1" content/app
	mksquashfs content x.sq -quiet -noappend -no-progress >/dev/null
	mount -t squashfs -o loop x.sq m 2>mount.err || skip "NOT TESTED: $(cat mount.err)"
	umount m || umount -l m
}

can_overlay()
{
	mkdir -p a b c
	unshare --mount sh -c 'mount -t tmpfs none a && mkdir a/u a/w && mount -t overlay o -o lowerdir=b,upperdir=a/u,workdir=a/w c' ||
		skip "NOT TESTED: there is no overlay file system here"
}

@test "operf names programs of a tmpfs that is mounted and unmounted while recording" {
	try record ./tmpfs_job "$program" 700
	run ! mountpoint -q m
	check_symbols '/m/app$'
	try record --callgraph=dwarf ./tmpfs_job "$program" 700
	check_symbols '/m/app$'
	try record --system-wide ./tmpfs_job "$program" 700
	check_symbols '/m/app$'
}

@test "operf names programs of a squashfs on a loop device" {
	make_squashfs
	try record ./squashfs_job - 700
	check_symbols '/m/app$'
}

@test "operf names programs of a container on an overlay" {
	can_overlay
	try record ./container_job "$program" 700
	check_symbols '^/app$'
}

@test "operf names programs of mounts in another namespace, also of one on /tmp" {
	cat >namespace_job <<-'END'
		#!/bin/bash
		. ./functions
		mount -t tmpfs none m && cp "$1" m/app && mount -t tmpfs none /tmp && m/app "$2"
		for dir in /tmp m; do
			umount "$dir" 2>>umount.err || echo "$dir is busy" >>result
		done
	END
	chmod +x namespace_job
	try record -- unshare --mount ./namespace_job "$program" 700
	check_symbols '/m/app$'
}

@test "operf names programs of an earlier mount" {
	mount -t tmpfs none m
	cp "$program" m/app
	mount_busy_job()
	{
		mountpoint -q m || mount -t tmpfs none m
		cp "$program" m/app
		record -- bash -c '. ./functions; m/app 700; give_back m'
	}
	try mount_busy_job
	check_symbols '/m/app$'
}

@test "after unmounting, names need the same file at its path, not another one" {
	try record ./tmpfs_job "$program" 700
	# Remove the copies, as if the file had been too large to copy.
	rm -r "$session"/samples/current/images
	sed -i '/  images\/$/d' "$session/samples/current/checksums"
	run ! check_symbols '/m/app$'
	grep -q "warning: $PWD/m/app could not be found" warnings
	mount -t tmpfs none m
	cp "$program" m/app
	check_symbols '/m/app$'
	[ ! -s warnings ]
	cp "$WORKLOADS/inner_second" m/app
	run ! check_symbols '/m/app$'
	grep -q "build-id .* does not match .* $PWD/m/app" warnings
}

@test "a file that is replaced while its file system is mounted is copied" {
	mount -t tmpfs none m
	cp "$program" m/app
	record -- sh -c 'm/app 700; rm m/app; cp "$0" m/app' "$WORKLOADS/inner_second"
	check_symbols '/m/app$'
}

# start_daemon OPTION...: sets $daemon to its pid.
start_daemon()
{
	run_dir=$(mktemp -d)
	log=$BATS_TEST_TMPDIR/daemon.log
	OPROFILE_RUN_DIR=$run_dir "$OPROFILE_LINKS/oprofiled" --foreground --session-dir "$session" "$@" >/dev/null 2>"$log" 3>&- &
	daemon=$!
	for ((i = 0; i < 300; i++)); do
		grep -q 'runs as process' "$log" && return 0
		kill -0 "$daemon" 2>/dev/null || break
		sleep 0.1
	done
	cat "$log"
	! grep -q perf_event "$log" || skip "the system cannot be sampled here: NOT TESTED"
	return 1
}

stop_daemon()
{
	kill "$daemon"
	timeout 20 tail --pid="$daemon" -f /dev/null 3>&- || kill -KILL "$daemon"
	wait "$daemon" || true
	daemon=
	rm -r "$run_dir"
}

@test "oprofiled names programs of a tmpfs, a squashfs and a container" {
	make_squashfs
	can_overlay
	start_daemon
	try ./tmpfs_job "$program" 3000
	try ./squashfs_job - 3000
	try ./container_job "$program" 3000
	stop_daemon
	check_symbols '/m/app$'
	check_symbols '^/app$'
}

@test "oprofiled with callers names programs of unmounted file systems" {
	start_daemon --callgraph=dwarf
	try ./tmpfs_job "$program" 3000
	stop_daemon
	check_symbols '/m/app$'
}

@test "oprofiled does not copy a program that was installed long ago" {
	make_squashfs '3 days ago'
	mount -t squashfs -o loop x.sq m
	start_daemon
	m/app 3000
	timeout 60 bash -c '. ./functions; give_back m'
	: >others
	status=0
	went_well || status=$?
	[ "$status" -lt 2 ]
	# A mount that other processes hold was only detached, and still exists.
	[ "$status" = 0 ] || skip "NOT TESTED: another recorder holds files here: $(head -n 1 others)"
	stop_daemon
	run ! check_symbols '/m/app$'
	grep -q "warning: $PWD/m/app could not be found" warnings
	mount -t squashfs -o loop x.sq m
	check_symbols '/m/app$'
	umount m
}
