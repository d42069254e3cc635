#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Profile specifications as a user types them: the samples that each tag selects, and the messages
# for wrong arguments.

load helpers

setup_file() {
	export DIR="$BATS_FILE_TMPDIR"
	describe | make_session current
	describe_other | make_session other
	describe_times | make_session times
	describe_late | make_session late
	export S="$DIR"
	mkdir "$DIR/away"
}

make_session() {
	write_segment "$DIR/samples/$1"
}

# Describes three programs, a library with a comma in its name, the kernel and a module. The counts
# are powers of two, so that a sum identifies its samples.
describe() {
	cat <<-'END'
		info|2400|CPU|host1||1000
		event|CLK|Clocks|3|100000|0|0
		event|CLK|Clocks|3|50000|0|0
		event|MISS|Misses|3|6000|0|1
		event|MISS|Misses|3|6000|0|65
		image|1|/usr/bin/make
		image|1|/opt/gmake
		image|1|/lib/libc.so.6
		image|1|/opt/lib/a,b
		image|2|[kernel.kallsyms]
		image|3|ext4
		thread|100|100|make|0|0|
		thread|100|101|worker|0|0|
		thread|200|200|gmake|1|0|
		thread|30|30|kworker/0:1|-|1|
		thread|-1|-1|gone|-|2|
		sample|0|0|0|2000|1|0+0x10|1
		sample|0|0|1|2000|1|2+0x10|2
		sample|1|0|10|2000|1|3+0x10|4
		sample|2|0|9|2000|1|1+0x10|8
		sample|2|0|0|2000|1|2+0x10|16
		sample|0|0|0|2000|1|4+0x10|32
		sample|2|0|0|2000|1|5+0x10|64
		sample|3|0|0|2000|1|5+0x10|128
		sample|3|0|0|2000|1|4+0x10|256
		sample|4|0|0|2000|1|4+0x10|512
		sample|0|1|0|2000|1|0+0x10|1024
		sample|0|2|0|2000|1|0+0x10|2048
		sample|0|3|0|2000|1|0+0x10|4096
	END
}

describe_other() {
	cat <<-'END'
		info|2400|CPU|host1||1000
		event|CLK|Clocks|3|100000|0|0
		image|1|/usr/bin/make
		thread|100|100|make|0|0|
		sample|0|0|0|2000|1|0+0x10|8192
	END
}

# Describes one sample per second, from 1 s to 11 s after the start; a tenth of the whole time is
# between two samples.
describe_times() {
	cat <<-'END'
		info|2400|CPU|host1||5000000000
		event|CLK|Clocks|3|100000|0|0
		image|1|/usr/bin/make
		thread|100|100|make|0|0|
	END
	for i in 0 1 2 3 4 5 6 7 8 9 10; do
		echo "sample|0|0|0|$((6 + i))000000000|1|0+0x10|$((1 << i))"
	done
}

# Describes samples 20 and 80 seconds after the start.
describe_late() {
	cat <<-'END'
		info|2400|CPU|host1||1000000000000
		event|CLK|Clocks|3|100000|0|0
		image|1|/usr/bin/make
		thread|100|100|make|0|0|
		sample|0|0|0|1000000000000|1|0+0x10|1
		sample|0|0|0|1015000000000|1|0+0x10|2048
		sample|0|0|0|1080000000000|1|0+0x10|4096
	END
}

# Prints the number of samples that the arguments select.
selected() {
	"$OPROFILE" report --session-dir "$S" --by event --csv "$@" 2>"$BATS_TEST_TMPDIR/err" |
		awk -F, 'NR > 1 { sum += $2 } END { print sum + 0 }'
}

# refused ARGUMENT...: prints the one-line error for these arguments, without the command's name.
refused() {
	local status=0
	"$OPROFILE" report --session-dir "$S" "$@" >"$BATS_TEST_TMPDIR/out" \
		2>"$BATS_TEST_TMPDIR/err" || status=$?
	[ "$status" -eq 1 ] || return 1
	[ ! -s "$BATS_TEST_TMPDIR/out" ] || return 1
	[ "$(wc -l <"$BATS_TEST_TMPDIR/err")" -eq 1 ] || return 1
	sed 's/^[^:]*: *//' "$BATS_TEST_TMPDIR/err"
}

# table: checks each line of stdin: a number of samples and the arguments that select them.
table() {
	local want words got
	while read -r want words; do
		eval "got=\$(selected $words)"
		[ "$got" = "$want" ] || { echo "$words: $got, not $want"; return 1; }
	done
}

@test "image: and lib-image: match images by their role" {
	table <<-'END'
		8191 event:all
		7207 image:make
		7207 image:/usr/bin/make
		7295 'image:*make'
		7207 'image:/usr/*'
		88   image:/opt/gmake
		0    image:libc.so.6
		18   libc.so.6
		18   '/lib/*'
		0    'lib/*'
		4    '*/a\,b'
		22   libc.so.6,'*/a\,b'
		22   libc.so.6 '*/a\,b'
		18   lib-image:libc.so.6
		2    lib-image:libc.so.6 image:make
		7169 lib-image:make
		800  lib-image:no-vmlinux
		192  lib-image:/ext4
		6    lib-image:'/opt/lib/a\,b',libc.so.6 image:make
		8173 lib-image-exclude:'/lib/*'
		16   image:gmake lib-image-exclude:gmake,ext4
		984  image-exclude:make
		8173 image-exclude:libc.so.6
		512  image-exclude:'*make,/ext4' no-vmlinux tgid:-1
	END
}

@test "the kernel and modules match in both roles" {
	table <<-'END'
		928 image:no-vmlinux
		928 no-vmlinux
		928 '[kernel.kallsyms]'
		192 image:/ext4
		192 ext4
		192 '[ext4]'
		928 image:/no-vmlinux
		64  image:gmake lib-image:ext4
		64  image:ext4 tgid:200
	END
}

@test "explicitly selected libraries are printed at the top level" {
	"$OPROFILE" report --session-dir "$S" -n event:CLK count:100000 image:ext4 |
		diff -u <(echo '      192 100.000 ext4') -
	"$OPROFILE" report --session-dir "$S" -n event:CLK count:100000 lib-image:ext4 tgid:200 |
		diff -u <(printf '%s\n' '       64 100.000 gmake' $'\t       64 100.000 ext4') -
}

@test "event:, event-count: and unit-mask: select samples" {
	table <<-'END'
		2047 event:CLK
		6144 event:MISS
		6144 'event:M*'
		8191 event:MISS,CLK
		1024 count:50000
		1023 count:100000
		7168 count:6000,50000
		7168 count:0x1770,50000
		4096 unit-mask:0x41
		4096 unit-mask:65
		6144 unit-mask:1,0x41
		2047 unit-mask:0
		8191 unit-mask:all count:all event:all
		0    event:clk
	END
}

@test "thread, process, CPU and command tags select samples" {
	table <<-'END'
		7203 tid:100
		4    tid:101
		7207 tgid:100
		7295 tgid:100,200
		8191 tgid:all
		512  tid:-1
		2    cpu:1
		14   cpu:1,10,9
		8191 cpu:all
		0    cpu:2
		4    comm:worker
		388  'comm:*work*'
		7203 comm:make
		2    comm:make cpu:1
		8191 tid:1,all
	END
}

@test "the last of several tags wins, and the same tag twice is rejected" {
	table <<-'END'
		4    tid:100 tid:101
		7203 tid:101 tid:100
		2047 event:all event:CLK
	END
	[ "$(refused event:CLK event:CLK)" = "tag specified more than once: event:CLK" ]
	[ "$(refused event:CLK event:MISS event:CLK)" = "tag specified more than once: event:CLK" ]
}

@test "perf's spellings of selections work" {
	table <<-'END'
		18   --dsos libc.so.6
		2    --dsos=libc.so.6 image:make
		4    --comms worker
		6    --comms make,worker --dsos 'libc*,*a\,b'
	END
	[ "$(refused --comms make comm:make)" = "tag specified more than once: comm:make" ]
}

@test "time: selects intervals" {
	table <<-'END'
		1    session:times time:10%/1
		1    session:times time:0%-10%
		2    session:times time:10%/2
		2    session:times time:10%-20%
		1538 session:times time:10%/2,90%-
		1792 session:times time:90%-,10%/9
		2047 session:times time:0%-100%
		2047 session:times time:all
		6    session:times time:2s-4s
		7    session:times time:-4s
		2040 session:times time:4s-
		6    session:times time:1500ms-2.5,-1s,3s-3.1s
		1024 session:times time:1s-2s time:11s-12s
		6    session:times time:2s-4s comm:make
		0    session:times time:2s-4s comm:worker
		4096 session:times,late time:20s-
		4096 session:times,late time:1m-
		2050 session:times,late time:10%/2
	END
	# Each session has its own start time; the report's time key is relative to it.
	diff -u <("$OPROFILE" report --session-dir "$S" --by time:1s --csv -n session:times \
		time:2s-5s | tr -d '\r') - <<-'END'
		4,8,8,57.14285714
		3,4,4,28.57142857
		2,2,2,14.28571429
	END
	[ "$(refused time:5s)" = "time: '5s' is not a span such as 10%-20%, 1.5s-3s, 2s- or 10%/2" ]
	[ "$(refused time:20%-10%)" = "time: '20%-10%' is not a span such as 10%-20%, 1.5s-3s, 2s- or 10%/2" ]
	[ "$(refused session:times time:50s-60s)" = \
		"error: no sample files found: profile specification too strict ?" ]
}

@test "session: sums recordings, excludes them, and counts repeated ones once" {
	table <<-'END'
		8191  session:current
		8192  session:other
		16383 session:current,other
		8192  session:other,other
		8192  session:current,other session-exclude:current
		8191  session-exclude:other
		8192  session:current,other 'session-exclude:c*'
	END
	[ "$(refused session-exclude:current)" = "No session given: session-exclude:current excludes all" ]
	[[ "$(refused session:nowhere)" == *"Please specify a session containing sample data"* ]]
	[ "$(refused "$S/samples/other" session-exclude:x)" = \
		"'session-exclude:x': the session is already given as '$S/samples/other'" ]
}

# The programs below do not need to exist on this machine, but their links do.
describe_links() {
	cat <<-END
		info|2400|CPU|host1||1000
		event|CLK|Clocks|3|100000|0|0
		image|1|$1/usr/bin/dash
		image|1|/lib/libc.so.6
		image|1|/opt/bash
		thread|100|100|sh|0|0|
		thread|200|200|sh|2|0|
		sample|0|0|0|2000|1|0+0x10|1
		sample|0|0|0|2000|1|1+0x10|2
		sample|1|0|0|2000|1|2+0x10|4
	END
}

@test "absolute words that are symbolic links mean the file they lead to" {
	mkdir -p "$DIR/away/usr/bin" "$DIR/root/bin" "$DIR/root/opt"
	ln -s usr/bin "$DIR/away/bin"
	: >"$DIR/away/usr/bin/dash"
	ln -s dash "$DIR/away/usr/bin/sh"
	# In the other root, absolute links are relative to that root.
	: >"$DIR/root/opt/bash"
	ln -s /opt/bash "$DIR/root/bin/rsh"
	ln -s ../../../../../../../../opt/bash "$DIR/root/bin/up"
	mkdir -p "$DIR/samples/links"
	describe_links "$DIR/away" | write_segment "$DIR/samples/links"
	local a="session:links" d="$DIR/away"
	table <<-END
		3 $a $d/bin/sh
		3 $a image:$d/usr/bin/sh
		1 $a lib-image:$d/bin/dash
		4 $a image-exclude:$d/bin/sh
		2 $a image:$d/bin/sh lib-image-exclude:$d/bin/sh
		0 $a /bin/rsh
		4 $a --root $DIR/root /bin/rsh
		4 $a --root $DIR/root image:/bin/up
		3 $a --root $DIR/root $d/bin/sh
	END
	[ "$("$OPROFILE" dump --session-dir "$S" $a "$d/bin/sh" | wc -l)" -eq 3 ]
	# Links select the same samples in an archive of this recording.
	timeout 60 "$OPROFILE" archive --session-dir "$S" $a -o "$DIR/links.oparchive" "$d/bin/sh" \
		2>/dev/null || [ $? -eq 3 ]
	[ "$("$OPROFILE" report "archive:$DIR/links.oparchive" --by event --csv "$d/bin/sh" |
		awk -F, 'NR > 1 { print $2 }')" -eq 3 ]
}

@test "a relative image name means the file that it leads to" {
	ln -sf /usr/bin/make "$DIR/away/link"
	[ -e /usr/bin/make ] || skip "needs a file to lead to"
	cd "$DIR/away"
	if [ "$(realpath ./link)" = /usr/bin/make ]; then
		[ "$(selected image:./link)" = 7207 ]
	fi
	[ "$(selected ./nothing)" = 0 ]
}

@test "wrong tags are rejected in one line that names the tag" {
	[ "$(refused imgae:x)" = "unknown tag in profile specification 'imgae:x': did you mean 'image:'?" ]
	[ "$(refused tigd:1)" = "unknown tag in profile specification 'tigd:1': did you mean 'tgid:'?" ]
	[[ "$(refused foo:bar)" == "unknown tag in profile specification 'foo:bar'"*"image:./foo:bar"* ]]
	[ "$(refused tid:abc)" = "tid: 'abc' is not a thread id" ]
	[ "$(refused cpu:1,b)" = "cpu: 'b' is not the number of a CPU" ]
	[ "$(refused unit-mask:0xyz)" = "unit-mask: '0xyz' is not a unit mask" ]
	[ "$(refused count:)" = "nothing given after count:" ]
	[ "$(refused session:)" = "No session given after session:" ]
	[[ "$(refused binary:x)" == *"binary: is gone"* ]]
	[[ "$(refused sample-file:x)" == *"sample-file: is gone"* ]]
	[ "$(refused archive:x)" = "cannot open 'x': No such file or directory" ]
	[ "$(refused { image:a })" = "invalid profile specification { image:a } " ]
}

@test "an argument that matches nothing is named, with the closest match" {
	local strict="error: no sample files found: profile specification too strict ?"
	while IFS='|' read -r words want; do
		diff <(echo "$strict$want") <(refused $words)
	done <<-'END'
		image:none| No program matches 'image:none'
		/usr/bin/mack| No binary matches '/usr/bin/mack' (Did you mean make?)
		image:libc.so.6| No program matches 'image:libc.so.6', which is not a program: use lib-image:
		lib-image:libc.so.5 image:make| No binary matches 'lib-image:libc.so.5' (Did you mean libc.so.6?)
		event:MIS| No event matches 'event:MIS' (Did you mean MISS?)
		count:7| No event matches 'count:7'
		comm:wroker| No command matches 'comm:wroker' (Did you mean worker?)
		tgid:77| No process matches 'tgid:77'
		tid:77 tgid:100| No thread matches 'tid:77'
		cgroup:/none| No cgroup matches 'cgroup:/none'
		image:make lib-image:gmake|
		cpu:7|
	END
}

@test "dump selects the same samples as opreport" {
	while read -r words; do
		eval "want=\$(selected $words)"
		eval "got=\$(\"\$OPROFILE\" dump --session-dir \"\$S\" $words | wc -l)"
		[ "$want" -gt 0 ] && [ "$got" = "$want" ] || { echo "$words: $got, not $want"; return 1; }
	done <<-'END'
		tgid:200 cpu:0
		image:make lib-image:libc.so.6
		event:MISS unit-mask:1
		ext4
		image-exclude:make
		tid:-1
		time:10%-
	END
	for words in time:10%/2 time:2s-4s time:2s-4s,90%-; do
		want=$(selected session:times "$words")
		got=$("$OPROFILE" dump --session-dir "$S" session:times "$words" | wc -l)
		[ "$want" -gt 0 ] && [ "$got" = "$want" ] || { echo "$words: $got, not $want"; return 1; }
	done
	[ "$("$OPROFILE" dump --session-dir "$S" symbol:x 2>&1)" = \
		"oprofile dump: symbol: a dump contains no symbol names: use opreport" ]
}

# Describes two segments with unrelated clocks, as after a reboot: the first began an hour ago, the
# second two minutes ago. One sample each, 10 and 20 seconds later.
describe_day()
{
	cat <<-END
		info|2400|CPU|host1||$1|0|||$2000000000
		event|CLK|Clocks|3|100000|0|0
		image|1|/usr/bin/make
		thread|100|100|make|0|0|
		sample|0|0|0|$(($1 + 10000000000))|1|0+0x10|$3
		sample|0|0|0|$(($1 + 20000000000))|1|0+0x10|$4
	END
}

@test "time: accepts times of day" {
	now=$(date +%s)
	mkdir -p "$S/samples/day"
	describe_day 5000000000 $((now - 3600)) 1 2 | "$WRITE_SESSION" "$S/samples/day/segment-000001"
	describe_day 900000000000 $((now - 120)) 4 8 | "$WRITE_SESSION" "$S/samples/day/segment-000002"
	while read -r want words; do
		got=$(selected session:day $words)
		echo "$words: $got instead of $want"
		[ "$got" -eq "$want" ]
	done <<-END
		12 --since=10m
		15 --since=2h
		15 --since=1d
		14 --since=@$((now - 3585))
		12 --between=30m,0
		3  --between=61m,30m
		2  --between=@$((now - 3585)),@$((now - 3575))
		4  --between=@$((now - 115)),@$((now - 105))
		8  time:@$((now - 105))-@$((now - 95))
		7  time:-@$((now - 105))
	END
	refused session:day --since=noon
	refused session:day --between=5m
	refused session:day --since=5m --time=1s-2s
	# This session does not contain the time of day.
	describe_times | write_segment "$S/samples/undated"
	[[ "$(refused session:undated --since=10m)" == *"does not contain its time of day"* ]]
}

# said COMMAND...: checks for status 1 and empty standard output; prints the error without the
# command's name.
said() {
	local status=0
	"$OPROFILE" "$@" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" || status=$?
	[ "$status" -eq 1 ] || return 1
	[ ! -s "$BATS_TEST_TMPDIR/out" ] || return 1
	sed -n '/^Using/d; /: warning:/d; s/^[^:]*: *//p' "$BATS_TEST_TMPDIR/err"
}

@test "an unreadable recording that was taken for a binary's name is explained" {
	local strict="error: no sample files found: profile specification too strict ?"
	local command word want
	cd "$BATS_TEST_TMPDIR"
	: >perf.data
	printf PERF >cut.data
	seq 100 >some.text
	mkdir empty nowhere
	for command in report script "annotate --assembly" gprof "export folded"; do
		while IFS='|' read -r word want; do
			said $command --session-dir "$S" "$word" >"$BATS_TEST_TMPDIR/said"
			diff <(printf '%s\n' "$word$want (interpreted as the name of a binary)" "$strict") \
				<(sed 's/ No [a-z]* matches .*//' "$BATS_TEST_TMPDIR/said")
			[[ "$(tail -n 1 "$BATS_TEST_TMPDIR/said")" == *"matches '$word'"* ]]
		done <<-'END'
			perf.data| is empty
			cut.data| is too short to be a recording
			some.text| is neither a perf.data file nor a profile of another tool
			empty| contains neither a session nor a perf.data file
			/nowhere/perf.data|: No such file or directory
			./none.data|: No such file or directory
		END
		# A program without samples, a pattern, a name: as in OProfile.
		for word in "$OPROFILE" '*.data' nothing comm:nosuch; do
			[[ "$(said $command --session-dir "$S" "$word")" == "$strict No "*" matches '$word'"* ]]
		done
		[ "$(said $command --session-dir nowhere "$OPROFILE" | head -n 1)" = \
			"$OPROFILE is a program, not a recording (interpreted as the name of a binary)" ]
	done
	[ "$(said export perf-data -o new --session-dir "$S" perf.data | wc -l)" -eq 2 ]
	[ "$(said export perf-script --session-dir "$S" perf.data | wc -l)" -eq 2 ]
	# An argument that matches a binary is an ordinary pattern.
	[ "$("$OPROFILE" report --session-dir "$S" /usr/bin/make some.text 2>&1 | grep -c taken)" -eq 0 ]
}
