#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Links and files that another user placed where our programs write, and caches and configuration
# that other users can change.

bats_require_minimum_version 1.5.0
load helpers

setup()
{
	need_root
	cd "$BATS_TEST_TMPDIR"
	describe | write_segment session/samples/current
	mkdir shared
	chmod 1777 shared
	echo secret >victim
}

describe()
{
	cat <<-END
		info|0||$(uname -n)||1000000000|0||
		event|TIMER|time|7|1000000|0|0
		image|1|/nowhere/prog|00
		thread|7|7|prog|0|0|/
		sample|0|0|0|2000|1000000|0+16|5
	END
}

oprofile()
{
	timeout -k 5 60 "$OPROFILE" "$@"
}

# plant LINK TARGET: makes a symbolic link as another user.
plant()
{
	ln -s "$2" "$1"
	chown -h 65534 "$1"
}

# Checks that a command fails whose output would go through the planted link.
is_refused() # COMMAND...
{
	run --separate-stderr "$@"
	[ "$status" -ne 0 ]
	[[ "$stderr" == *" of user 65534"*": give "* ]]
	[ "$(wc -l <<<"$stderr")" -eq 1 ]
	[ "$(cat victim)" = secret ]
	[ ! -e made ]
}

@test "no output follows a link of another user in a shared directory" {
	for target in ../victim ../made; do
		plant shared/out "$target"
		is_refused opreport --session-dir session -o shared/out
		for form in folded pprof perf-data; do
			is_refused oprofile export "$form" --session-dir session -o shared/out
		done
		is_refused timeout 60 "$OPROFILE_LINKS/ocount" -f shared/out -e page-faults true
		is_refused operf --perf-data shared/out --session-dir session -e page-faults:1 true
		rm shared/out
	done
	plant shared/folder ..
	is_refused opreport --session-dir session -o shared/folder/made
	is_refused oprofile export folded --session-dir session -o shared/folder/made
}

@test "oparchive replaces no file, FIFO or link of another user in a shared directory" {
	for kind in file fifo link; do
		case $kind in
		file) : >shared/a.oparchive && chown 65534 shared/a.oparchive ;;
		fifo) mkfifo shared/a.oparchive && chown 65534 shared/a.oparchive ;;
		link) plant shared/a.oparchive ../victim ;;
		esac
		is_refused timeout 60 "$OPROFILE_LINKS/oparchive" --session-dir session --output shared/a.oparchive
		[ "$(stat -c %u shared/a.oparchive)" -eq 65534 ]
		rm shared/a.oparchive
	done
	timeout 60 "$OPROFILE_LINKS/oparchive" --session-dir session --output shared/a.oparchive
	timeout 60 "$OPROFILE_LINKS/oparchive" --session-dir session --output shared/a.oparchive
}

@test "a recording has the caller's group and no ACL, whatever its directory passes on" {
	need_recording
	mkdir -m 2777 group
	chown 65534:65534 group
	mkdir -m 777 acl
	chown 65534 acl
	# The entries are tag, permissions and id: the owner, user 65534, the group, the mask, others.
	python3 - acl <<-END || skip "no ACLs on this file system: NOT TESTED"
		import os, struct, sys
		acl = struct.pack("<I", 2)
		for tag, who in (1, -1), (2, 65534), (4, -1), (16, -1), (32, -1):
		    acl += struct.pack("<HHI", tag, 7, who & 0xffffffff)
		os.setxattr(sys.argv[1], "system.posix_acl_default", acl)
	END
	for dir in group acl; do
		(cd "$dir" && operf -e page-faults:1 true)
		[ "$(stat -c '%a %g' "$dir/oprofile_data/samples/current")" = "750 $(id -g)" ]
		[ "$(find "$dir/oprofile_data/samples/current" -type f ! -gid "$(id -g)")" = "" ]
		run setpriv --reuid=65534 --regid=65534 --clear-groups \
			find "$dir/oprofile_data/samples/current" -type f
		[ "$status" -ne 0 ]
	done
}

@test "operf --perf-data writes into no file of another user, and lets no other user read it" {
	need_recording
	: >x.data
	chmod 666 x.data
	operf --session-dir session --perf-data x.data -e page-faults:1 true
	[ "$(stat -c %a x.data)" = 600 ]
	mkdir plain
	plant plain/out ../victim
	run operf --session-dir session --perf-data plain/out true
	[ "$status" -eq 125 ]
	is_refused timeout 60 "$OPROFILE_LINKS/ocount" -f plain/out -e page-faults true
	plant plain/dir ..
	is_refused timeout 60 "$OPROFILE_LINKS/ocount" -f plain/dir/made -e page-faults true
	chown 65534 x.data
	run timeout 60 "$OPROFILE_LINKS/ocount" -f x.data -e page-faults true
	[ "$status" -ne 0 ]
	run operf --session-dir session --perf-data x.data true
	[ "$status" -eq 125 ]
	[[ $output == *"x.data is a file of user 65534: remove it first"* ]]
}

@test "no command waits for a FIFO of another user" {
	mkfifo shared/perf.data
	chown 65534 shared/perf.data
	for command in info report script buildid-list "export folded"; do
		# shellcheck disable=SC2086
		run -1 oprofile $command shared/perf.data
		[[ $output == *"shared/perf.data is not owned by you or root"* ]]
	done
	mkdir shared/archive
	mkfifo shared/archive/unfinished
	chown -R 65534 shared/archive
	run -1 timeout 60 "$OPROFILE_LINKS/oparchive" --session-dir session -o shared/archive
	echo "$output"
}

@test "no output overwrites a file of another user, or with several links, in a shared directory" {
	: >shared/out
	chown 65534 shared/out
	is_refused opreport --session-dir session -o shared/out
	is_refused oprofile export folded --session-dir session -o shared/out
	rm shared/out
	mkfifo shared/out
	chown 65534 shared/out
	is_refused opreport --session-dir session -o shared/out
	rm shared/out
	ln victim shared/out
	run opreport --session-dir session -o shared/out
	[ "$status" -ne 0 ]
	[[ "$output" == *"shared/out': it is a file with several hard links"* ]]
	[ "$(cat victim)" = secret ]
}

@test "commands follow the user's own links, and another user's in no directory" {
	ln -s ../made shared/out
	run -0 opreport --session-dir session -o shared/out
	grep -q prog made
	rm made
	run -0 oprofile export folded --session-dir session -o shared/out
	[ -L shared/out ]
	[ -s made ]
	rm made
	mkdir plain
	plant plain/out ../made
	is_refused opreport --session-dir session -o plain/out
	oprofile export folded --session-dir session -o /dev/stdout | grep -q prog
	opreport --session-dir session -o /dev/stdout | grep -q prog
}

@test "default and derived output names are not written through another user's link" {
	mkdir plain
	cd plain
	mv ../victim victim
	for name in gmon.out perf.data; do
		plant "$name" victim
		plant made-of-"$name" made
	done
	is_refused timeout 60 "$OPROFILE_LINKS/opgprof" --session-dir ../session
	is_refused oprofile export gmon --session-dir ../session
	rm gmon.out perf.data
	mv made-of-gmon.out gmon.out
	mv made-of-perf.data perf.data
	is_refused oprofile export gmon --session-dir ../session
	is_refused oprofile export perf-data --session-dir ../session
}

@test "oparchive writes nothing through links or into another user's directory in its output" {
	mkdir -p out
	chown 65534 out
	ln -s .. out/session
	for name in manifest oparchive.manifest; do
		ln -s ../victim "out/$name.part"
	done
	before=$(find . -path ./out -prune -o -print | sort)
	run oparchive --session-dir session --output-directory out
	[ "$(find . -path ./out -prune -o -print | sort)" = "$before" ]
	[ "$(cat victim)" = secret ]
	rm -r out/*
	run -0 oparchive --session-dir session --output-directory out
}

# build CACHE-HOME: builds an index and prints the output of `oprofile cache`.
build()
{
	run --separate-stderr env XDG_CACHE_HOME="$1" "$OPROFILE" cache --build "$OPROFILE_LINKS/../src/tools/oprofile"
}

@test "a cache that others can change is neither read nor written" {
	for change in "chown 65534" "chmod g+w" "chmod o+w"; do
		rm -rf xdg
		mkdir -p xdg/oprofile
		$change xdg/oprofile
		build "$PWD/xdg"
		[ "$status" -eq 1 ]
		[ "$(grep -c "not using the cache directory '$PWD/xdg/oprofile', because other users can change it" <<<"$stderr")" -eq 1 ]
		[ -z "$(ls xdg/oprofile)" ]
	done
	# The program also refuses a cache in a directory that belongs to another user, or that
	# another user could create first.
	rm -rf xdg
	mkdir -p xdg/oprofile
	chown 65534 xdg
	build "$PWD/xdg"
	[ "$status" -eq 1 ]
	build "$PWD/shared"
	[ "$status" -eq 1 ]
	[ ! -e shared/oprofile ]
	for variable in PERF_BUILDID_DIR; do
		run --separate-stderr env "$variable=$PWD/shared" "$OPROFILE" buildid-cache --add "$OPROFILE"
		[ "$status" -eq 1 ]
		[[ "$stderr" == *"not using the cache directory '$PWD/shared'"* ]]
		[ -z "$(ls shared)" ]
	done
}

@test "a cache file that others can change is ignored, with one warning" {
	cp "$OPROFILE" prog
	mkdir xdg
	build "$PWD/xdg"
	[ "$status" -eq 0 ]
	chmod o+w xdg/oprofile/*.lines
	XDG_CACHE_HOME=$PWD/xdg run -0 --separate-stderr oprofile addr2line -e "$OPROFILE_LINKS/../src/tools/oprofile" main
	[ "$(grep -c 'other users can change it' <<<"$stderr")" -eq 1 ]
}

@test "settings that others can change are not read" {
	export OPROFILE_RUN_DIR=$PWD/run OPROFILE_SETUP_DIR=$PWD/etc OPROFILE_FS_DIR=$PWD/fs
	run -0 timeout 60 "$OPROFILE_LINKS/opcontrol" --setup --no-vmlinux --session-dir="$PWD/session"
	chmod o+w etc/daemonrc
	run timeout 60 "$OPROFILE_LINKS/opcontrol" --status
	[[ "$output" == *"etc/daemonrc is not read, because other users can write to it: run: chmod go-w $PWD/etc/daemonrc"* ]]
	chmod o-w etc/daemonrc
	chown 65534 etc/daemonrc
	run timeout 60 "$OPROFILE_LINKS/opcontrol" --status
	[[ "$output" == *"etc/daemonrc is not read, because it belongs to user 65534, not to you or root"* ]]
}

@test "naming rules that others can change are not read" {
	mkdir -p config/oprofile
	: >config/oprofile/stl.pat
	chmod o+w config/oprofile/stl.pat
	XDG_CONFIG_HOME=$PWD/config run -1 --separate-stderr opreport --session-dir session -D smart
	[[ "$stderr" == *"config/oprofile/stl.pat is not read, because other users can write to it"* ]]
}

@test "the daemon's run directory must not be another user's" {
	for change in "chown 65534" "chmod o+w"; do
		rm -rf run
		mkdir run
		$change run
		OPROFILE_RUN_DIR=$PWD/run run timeout 60 "$OPROFILE_LINKS/oprofiled" --session-dir="$PWD/session"
		[ "$status" -ne 0 ]
		[[ "$output" == *"the daemon cannot use '$PWD/run': other users can write to it or to one of its parent directories"* ]]
		[ -z "$(ls run)" ]
	done
}
