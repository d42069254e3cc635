# SPDX-License-Identifier: GPL-2.0-or-later
# A program with the build-id of another user's program changes no name in that one's samples.
load helpers

bats_require_minimum_version 1.5.0

ALICE=65534
MALLORY=65533

setup()
{
	need_root
	need cc
	need setpriv
	begin_recording_test
	cd "$BATS_TEST_TMPDIR"
	public=$(mktemp -d)
	chmod 755 "$public"
	make_program alice $ALICE alice_work -Wl,--build-id=0x1122334455667788
	make_program mallory $MALLORY evil_work_of_mallory -Wl,--build-id=0x1122334455667788
}

teardown()
{
	end_recording_test
}

# A program that works for some tenths of a second, in a directory of its user.
make_program() # NAME UID FUNCTION OPTION...
{
	mkdir -p "$public/$1"
	cat >work.c <<-END
		#include <time.h>
		volatile unsigned long n;
		__attribute__((noinline)) void $3(void) { for (int i = 0; i < 1000000; i++) n++; }
		int main(void) { while (clock() < CLOCKS_PER_SEC * 6 / 10) $3(); }
	END
	cc -O1 -o "$public/$1/program" "${@:4}" work.c
	chown -R "$2:$2" "$public/$1"
}

run_as() # UID NAME
{
	setpriv --reuid="$1" --regid="$1" --clear-groups "$public/$2/program"
}

# Both programs run under root's recording, and mallory's is deleted. COMMAND runs before the end.
record() # COMMAND...
{
	operf --session-dir "$session" --system-wide --duration 4 2>log &
	recorder=$!
	for ((i = 0; i < 100; i++)); do
		! grep -q 'Profiler started' log || break
		sleep 0.1
	done
	run_as $MALLORY mallory
	rm "$public/mallory/program"
	run_as $ALICE alice
	"$@"
	wait "$recorder"
	recorder=
}

# The names in the samples of a program.
names_in() # NAME SOURCE...
{
	opreport --by image,symbol --csv "${@:2}" | awk -F, -v image="$public/$1/program" '$1 == image { print $2 }'
}

expect_own_names() # SOURCE...
{
	names_in alice "$@" | tee names
	grep -qx alice_work names
	run ! grep evil names
	names_in mallory "$@" | tee names
	grep -qx evil_work_of_mallory names
	run ! grep alice names
}

@test "another user's copy gives no names to an unchanged program with its build-id" {
	record true
	[ -n "$(ls "$session/samples/current/images")" ]
	expect_own_names --session-dir "$session"
	[ "$(grep -c 'have the same build-id' log)" -eq 1 ]
	grep -q "$public/mallory/program (of user $MALLORY) and $public/alice/program (of user $ALICE)" log
	# The names are also right in an archive, after the program was removed.
	oparchive --session-dir "$session" --output a.oparchive
	rm "$public/alice/program"
	expect_own_names archive:a.oparchive
}

@test "two deleted programs with the same build-id have separate copies" {
	record rm "$public/alice/program"
	expect_own_names --session-dir "$session"
	oparchive --session-dir "$session" --output a.oparchive
	expect_own_names archive:a.oparchive
	oparchive --session-dir "$session" --output selected symbol:alice_work,evil_work_of_mallory
	expect_own_names archive:selected
}

@test "a deleted program without its copy has no names" {
	record rm "$public/alice/program"
	for copy in "$session"/samples/current/images/1122334455667788-*; do
		grep -q evil_work "$copy" || rm "$copy"
	done
	opreport --session-dir "$session" --by image,symbol --csv >report 2>stderr || true
	grep -q "^$public/alice/program," report
	run ! grep "^$public/alice/program,evil" report
}

@test "a copy of root's program gives names to all programs with its build-id" {
	chown root:root "$public/mallory/program"
	record rm "$public/alice/program"
	[ -s "$session/samples/current/images/1122334455667788" ]
}

@test "the copy of a program without a build-id is identified by more than its inode" {
	make_program alice $ALICE alice_work -Wl,--build-id=none
	make_program mallory $MALLORY evil_work_of_mallory -Wl,--build-id=none
	record true
	expect_own_names --session-dir "$session"
	run ! grep 'have the same build-id' log
	find "$session/samples/current/images" -type f | grep -E '/[0-9]+-[0-9]+-[0-9a-f]{16}$'
}
