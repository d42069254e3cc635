#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# oprofile view and oprof_start: the server of the page, who can use it, and recordings from it.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	cd "$BATS_FILE_TMPDIR"
	cat >busy.c <<-'END'
	#include <stdlib.h>
	#include <time.h>
	static volatile unsigned long sum;
	__attribute__((noinline)) static void spin(void) { for (int i = 0; i < 1000000; i++) sum += i; }
	int main(int argc, char **argv)
	{
		time_t end = time(NULL) + (argc == 2 && argv[1][0] == '1' ? 1 : 60);
		while (time(NULL) < end)
			spin();
		return 0;
	}
	END
	gcc -O1 -g -fno-omit-frame-pointer -o busy busy.c
	mkdir one two
	for d in one two; do
		timeout 60 "$OPROFILE" record -g -d $d -e TIMER -- ./busy 1 2>$d.err || true
	done
	export HOME=$BATS_FILE_TMPDIR
}

setup() {
	"$OPROFILE" --version | grep -q 'microhttpd *[0-9]' || skip "built without libmicrohttpd: NOT TESTED"
	[ -e "$BATS_FILE_TMPDIR/one/samples/current" ] ||
		skip "recording is not possible here: $(tail -n 1 "$BATS_FILE_TMPDIR/one.err")"
	cd "$BATS_TEST_TMPDIR"
	one=$BATS_FILE_TMPDIR/one/samples/current
	two=$BATS_FILE_TMPDIR/two/samples/current
	busy=$BATS_FILE_TMPDIR/busy
}

teardown() {
	[ -z "${public-}" ] || rm -r "$public"
}

client() {
	timeout -k 5 200 python3 "$BATS_TEST_DIRNAME/view_client.py" "$@"
}

need_json() {
	"$OPROFILE" --version | grep -q 'yajl *[0-9]' || skip "built without yajl: NOT TESTED"
}

@test "view answers the queries of the page" {
	client answers "$one"
}

@test "view counts the samples that opreport counts" {
	opreport --csv --by image "$one" >report.csv
	client sums "$one" report.csv
}

@test "view shows the source and code of a function with its samples" {
	client source "$one"
}

@test "view compares two recordings" {
	client compare "$one" "$two"
}

@test "view --export writes all samples into one file" {
	"$OPROFILE" view --export page.html "$one" 2>err ||
		{ grep -q 'this build has no page' err && skip "built without esbuild and tsc: NOT TESTED"; }
	client export "$one"
	run -1 "$OPROFILE" view --export page.html ./program
	run -1 "$OPROFILE" view --export missing/page.html "$one"
	run -1 "$OPROFILE" view --export page.html --no-browser "$one"
}

@test "view refuses requests without the token and from other sites" {
	client refuses "$one"
}

@test "view serves no file by its path" {
	client paths "$one"
}

@test "view refuses large and malformed requests" {
	client large "$one"
}

@test "view answers while many clients send nothing" {
	client slow "$one"
}

@test "view survives a storm of requests" {
	client storm "$one"
}

@test "view sends live events" {
	client live "$one"
}

@test "view refuses another user, who cannot find the token" {
	need_root
	need setpriv
	client users "$one"
}

@test "view opens the browser without the token in its arguments, and not as root" {
	client browser "$one"
}

@test "view ends without requests after --timeout" {
	client timeout "$one"
}

@test "view records a command and shows it" {
	client watch "$busy"
}

@test "oprof_start records, stops, saves and resets" {
	need_json
	client record "$busy"
}

@test "oprof_start explains what an unprivileged user lacks" {
	need_root
	need_nobody
	need_json
	public=$(mktemp -d)
	chown 65534 "$public"
	cd "$public"
	OPROFILE_RUN_DIR=$PWD HOME=$PWD setpriv --reuid=65534 --regid=65534 --clear-groups \
		timeout 100 python3 - rights <"$BATS_TEST_DIRNAME/view_client.py"
}

@test "a recording of the page ends with the page" {
	need_json
	need pgrep
	client orphan "$busy"
}

@test "view reports what it cannot do" {
	run -1 "$OPROFILE" view --no-browser --port 70000 "$one"
	[[ "$output" == *"--port"* ]]
	run -1 "$OPROFILE" view --no-browser session:none
	run -1 "$OPROFILE" view --no-browser "$one" "$two" "$one"
	[[ "$output" == *"more than two recordings"* ]]
	echo text >notes
	run -1 "$OPROFILE" view --no-browser ./notes
	run -1 "$OPROFILE" view --no-browser .
	run -1 "$OPROFILE" start word
	[[ "$output" == *"'word'"* ]]
}
