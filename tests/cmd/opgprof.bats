#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# opgprof, which equals `oprofile export gmon`: gprof prints for the file what the report prints.

bats_require_minimum_version 1.5.0
load helpers

setup()
{
	out=$BATS_TEST_TMPDIR
	new_session
	cd "$out"
}

opgprof()
{
	timeout -k 5 60 "$OPROFILE_LINKS/opgprof" "$@"
}

# Builds a program whose functions leaf, mid and turn call each other. $leaf is offset 16 in the
# first, $mid is in the last bytes of the second, $turn is the start of the third.
program()
{
	need as
	need gprof
	# gprof omits the last function of .text.
	{
		three_functions 4096
		printf '%s\n' .text .globl\ last '.type last, %function' 'last: .fill 64, 1, 0'
	} | as -o f.o
	ld -shared --build-id -o prog f.o
	local at=$(text_offset prog)
	leaf=0+$((at + 16)) mid=0+$((at + 8190)) turn=0+$((at + 8192))
	in_turn=0+$((at + 8200)) # a return address
}

# Makes its session; the arguments are lines of the description.
program_session()
{
	local id=$(readelf -n prog | sed -n 's/^.*Build ID: //p')
	{
		cat <<-END
			info|0||$(uname -n)||1000000000|0||
			event|TIMER|time|7|1000000|0|0
			image|1|$out/prog|$id
			image|1|$out/other|00
			thread|7|7|p|0|0|/
			thread|8|8|q|1|0|/
		END
		printf '%s\n' "$@"
	} | write_segment "$session/samples/current"
}

# Prints the lines of gprof's flat profile: samples, calls, name.
flat()
{
	gprof -b -p "$@" prog gmon.out | awk '/^ *[0-9.]+ +[0-9.]+ +[0-9.]+ / { print $3, (NF > 4 ? $4 : "-"), $NF }'
}

@test "gmon.out has the samples, and counts each call by the samples below it" {
	program
	program_session "sample|0|0|0|2000|1|$leaf;$mid;$in_turn|60" "sample|0|0|0|2000|1|$leaf;$in_turn|20" \
		"sample|0|0|0|2000|1|$mid;$in_turn|15" "sample|0|0|0|2000|1|$turn|5" \
		"sample|0|0|0|2000|1|1+4096;$in_turn|7"
	opgprof --session-dir "$session"
	run -0 flat --no-demangle
	printf '%s\n' "${lines[@]}"
	[ "${lines[0]}" = '80.00 80 leaf' ]
	[ "${lines[1]}" = '15.00 75 mid' ]
	[[ ${lines[2]} == 5.00\ *_Z4turnPKci ]]
	# Three quarters of leaf's time are attributed to mid, the rest to turn.
	gprof -b -q prog gmon.out >graph
	cat graph
	grep -q '^ *60\.00 *0\.00 *60/80 *mid ' graph
	grep -q '^ *20\.00 *0\.00 *20/80 *turn' graph
	grep -q '^\[.*\] *75\.0 *15\.00 *60\.00 *75 *mid ' graph
	# `export gmon` writes the same file, also into a pipe.
	"$OPROFILE" export gmon --session-dir "$session" -o - | cmp - gmon.out
	opgprof --session-dir "$session" -o named.out && cmp named.out gmon.out
	opgprof --session-dir "$session" -t 10 && [ "$(flat | wc -l)" -ge 2 ]
	! flat | grep -q ^5
}

@test "histogram bins do not overlap, and a full bin continues in the next record" {
	program
	program_session "sample|0|0|0|2000|1|$leaf|200000" "sample|0|0|0|2000|1|$mid|65535" \
		"sample|0|0|0|2000|1|$turn|65536"
	opgprof --session-dir "$session"
	run -0 flat
	printf '%s\n' "${lines[@]}"
	[[ ${lines[0]} == 200000.00\ *leaf && ${lines[1]} == 65536.00\ *turn* && ${lines[2]} == 65535.00\ *mid ]]
}

@test "opgprof accepts one binary and one event" {
	program
	program_session 'event|page-faults|faults|1|1|0|0' "sample|0|0|0|2000|1|$leaf|3" \
		"sample|0|1|0|2000|1|$leaf|2" "sample|1|0|0|2000|1|1+4096|4" "sample|1|0|0|2000|1|$turn|4"
	run -1 --separate-stderr opgprof --session-dir "$session" event:TIMER
	[[ $stderr == *"specify exactly one binary to process and give an event: or count:"* ]]
	[ "${#stderr_lines[@]}" -le 3 ] && [ ! -e gmon.out ]
	run -1 --separate-stderr opgprof --session-dir "$session" "image:$out/prog"
	[[ $stderr == *"event:"* ]] && [ ! -e gmon.out ]
	opgprof --session-dir "$session" event:TIMER "image:$out/prog"
	[[ $(flat) == 3.00\ *leaf ]]
	# A library, if it is the only image selected.
	opgprof --session-dir "$session" event:TIMER "image:$out/other" "lib-image:$out/prog"
	[[ $(flat) == 4.00\ *turn* ]]
	run -1 --separate-stderr opgprof --session-dir "$session" image:/no/such
	[ -n "$stderr" ]
}

@test "gmon.out of a recording has the known counts of its program" {
	need gprof
	need_recording
	operf --callgraph --session-dir "$session" "$WORKLOADS/ratio" 1000 >/dev/null 2>err
	opgprof --session-dir "$session"
	gprof -b -p -q "$WORKLOADS/ratio" gmon.out >graph
	cat graph
	awk '/work_b$/ && $3 > 0 { b += $3 } /work_a$/ && $3 > 0 { a += $3 } END { exit !(b > 10 * a) }' \
		<(sed '/Call graph/,$d' graph)
	opreport --session-dir "$session" --by symbol --csv 2>err | tr -d '\r' |
		awk -F, '$1 == "work_b" { printf "%.2f\n", $2 }' >wanted
	awk '/work_b$/ { print $3; exit }' graph | diff wanted -
}

@test "gmon.out has the byte order and address size of the binary" {
	need_data
	local hex
	head_of()
	{
		PERF_BUILDID_DIR=$DATA/$1/debug-cache opgprof "$2" comm:work image:"$3" ${4:-} -o o.gmon 2>err ||
			{ cat err && return 1; }
		od -An -v -tx1 -N "$5" o.gmon | tr -d ' \n'
	}
	local f=$(ls "$DATA"/s390x/perf*.data | head -n 1)
	[ -n "$f" ]
	hex=$(head_of s390x "$f" '*work*' '' 53)
	echo "$hex"
	# Big endian: version 1, then addresses of 8 bytes, and rate 1 after the number of bins.
	[[ $hex == 676d6f6e00000001000000000000000000000000""00* ]]
	[[ ${hex:82:8} == 00000001 ]]
	f=$(ls "$DATA"/armhf/perf*.data | head -n 1)
	hex=$(head_of armhf "$f" '*work*' '' 48)
	echo "$hex"
	# Little endian: addresses of 4 bytes.
	[[ $hex == 676d6f6e01000000000000000000000000000000""00* ]]
	[[ ${hex:66:8} == 01000000 && ${hex:74:14} == 73616d706c6573 ]]
}
