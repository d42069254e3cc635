#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Recordings of another user are only read with --force.

bats_require_minimum_version 1.5.0
load helpers

setup()
{
	need_root
	cd "$BATS_TEST_TMPDIR"
	describe | write_segment session/samples/current
	oprofile export perf-data --session-dir session -o perf.data
	oprofile export folded --session-dir session -o stacks.folded
	oprofile export pprof --session-dir session -o p.pb.gz 2>/dev/null
	oparchive --session-dir session --output a.oparchive 2>/dev/null
	oparchive --session-dir session --output-directory archived 2>/dev/null
	mkdir parts
	cp perf.data parts/data
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

is_refused() # PATH, after `run --separate-stderr`
{
	[ "$status" -eq 1 ]
	[ -z "$output" ]
	grep -qx "[a-z -]*: $1 is not owned by you or root (use --force to read it)" <<<"$stderr"
	[ "$(wc -l <<<"$stderr")" -eq 1 ]
}

# check PATH COMMAND...: checks that the command refuses PATH while another user owns it, reads it
# then with --force, and without --force as its owner.
check()
{
	local path=$1
	shift
	run -0 "$@"
	chown 65534 "$path"
	run --separate-stderr "$@"
	is_refused "$path"
	run -0 "$@" --force
	chown 0 "$path"
}

@test "opreport refuses recordings of another user, of every kind" {
	for file in perf.data stacks.folded p.pb.gz a.oparchive; do
		check "$file" oprofile report "$file"
	done
	check parts oprofile report parts
	chown 65534 parts/data
	run --separate-stderr oprofile report parts
	is_refused parts
	chown 0 parts/data
	check session/samples/current oprofile report session
	check session/samples/current oprofile report --session-dir session
	check session/samples/current/segment-000001 oprofile report --session-dir session
	check session/samples/current oprofile report session/samples/current
	chown 65534 archived
	run --separate-stderr oprofile report archive:archived
	is_refused archived
	run -0 oprofile report archive:archived --force
	chown -R 0 archived
	check "$PWD"/archived/var/lib/oprofile/samples/current/segment-000001 oprofile report archive:archived
}

@test "every command that reads recordings refuses one of another user" {
	for command in "report --symbols" annotate\ --assembly "export folded" "export speedscope" \
		"export perf-script" script info "buildid-list" "buildid-list --with-hits"; do
		# shellcheck disable=SC2086
		check perf.data oprofile $command perf.data
	done
	for command in report script dump info "buildid-list" "export folded" "export perf-data -o out"; do
		# shellcheck disable=SC2086
		check session/samples/current oprofile $command session
	done
}

@test "a segment of another user is rejected, not skipped" {
	cp session/samples/current/segment-000001 session/samples/current/segment-000002
	chown 65534 session/samples/current/segment-000002
	run --separate-stderr oprofile report --session-dir session
	is_refused session/samples/current/segment-000002
}

@test "oparchive refuses recordings of another user, also to unpack and verify" {
	check perf.data oparchive perf.data --list-files
	check a.oparchive oparchive --verify a.oparchive
	export HOME=$PWD PERF_BUILDID_DIR=$PWD/debug
	tar -cf perf.data.tar --files-from /dev/null
	check perf.data.tar oparchive --unpack perf.data.tar
}

@test "opimport refuses a recording of another user" {
	mkdir into
	for file in perf.data stacks.folded p.pb.gz; do
		check "$file" "$OPROFILE_LINKS/opimport" --session-dir into "$file"
	done
}

@test "where, opgprof and script refuse another user's recording, and accept it with -f" {
	chown 65534 perf.data
	run --separate-stderr oprofile where perf.data prog
	is_refused perf.data
	run --separate-stderr oprofile where --force perf.data prog
	[[ "$output" == */nowhere/prog* ]]
	run --separate-stderr "$OPROFILE_LINKS/opgprof" perf.data
	is_refused perf.data
	run -0 oprofile script -f perf.data
	run -0 oprofile buildid-list -f perf.data
}

@test "oprofile_data in the current directory is refused if it belongs to another user" {
	mkdir here
	cp -r session here/oprofile_data
	cd here

	chown 65534 oprofile_data
	run --separate-stderr oprofile report
	is_refused ./oprofile_data
	run -0 oprofile report --force
	chown 0 oprofile_data
	mv oprofile_data elsewhere
	ln -s elsewhere oprofile_data
	run -0 oprofile report
	chown -h 65534 oprofile_data
	run --separate-stderr oprofile report
	is_refused ./oprofile_data
}

@test "a recording on standard input is read, whoever owns it" {
	chown 65534 perf.data stacks.folded
	run -0 oprofile report - <perf.data
	run -0 oprofile report - <stacks.folded
	cat perf.data | oprofile report -
}

@test "a user can read own and root's recordings, but not those of a third user" {
	need_nobody
	public=$(mktemp -d)
	chmod 755 "$public"
	cp perf.data "$public/roots"
	cp perf.data "$public/own"
	cp perf.data "$public/other"
	chmod 644 "$public"/*
	chown 65534 "$public/own"
	chown 65533 "$public/other"
	as_user report "$public/roots" >out 2>err || status=$?
	as_user report "$public/own" >out
	run --separate-stderr as_user report "$public/other"
	rm -r "$public"
	is_refused "$public/other"
}

as_user()
{
	timeout -k 5 60 setpriv --reuid=65534 --regid=65534 --clear-groups "$OPROFILE" "$@"
}
