#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# oprofile merge: weighted sums of recordings.

bats_require_minimum_version 1.5.0
load helpers

merge() {
	timeout -k 5 60 "$OPROFILE" merge "$@"
}

# Describes a recording of a host: two threads, three images, two events, lost samples.
describe() # HOST START_S FACTOR
{
	cat <<-END
		info|2400|CPU|$1||1000000000|0|6.1|boot-$1|${2}000000000
		event|CLK|Clocks|3|100000|0|0
		event|MISS|Misses|0|1000|0|0
		image|1|/nowhere/bin/prog
		image|1|/nowhere/lib/libx.so
		image|1|/nowhere/bin/only-$1
		thread|9|9|prog|0|0|
		thread|9|10|worker|0|0|
	END
	python3 -c '
import sys
n = 0
for thread, event, image, offset, nr in [(0, 0, 0, 16, 30), (1, 0, 0, 32, 11), (0, 0, 1, 64, 7),
                                         (1, 0, 2, 16, 5), (0, 1, 0, 16, 13)]:
    for i in range(nr * int(sys.argv[1])):
        n += 1
        print("sample|%d|%d|0|%d|%d|%d+0x%x|1" % (thread, event, 1000000000 + n * 1000000,
              100000 if not event else 1000, image, offset))
' "$3"
	echo "totals|10|2|0|0"
}

setup() {
	cd "$BATS_TEST_TMPDIR"
	describe web1 1700000000 1 | write_segment one/samples/current
	describe web2 1700086400 2 | write_segment two/samples/current
}

# Prints KEYS,samples of a report as sorted lines.
counts() # KEYS SOURCE...
{
	local keys=$1
	shift
	opreport --by "$keys" --csv "$@" 2>/dev/null | tail -n +2 | tr -d '\r' |
		cut -d, -f "1-$(($(tr -cd , <<<"$keys" | wc -c) + 2))" | sort
}

# Adds up the last field of lines with the same other fields.
sum_up() {
	awk -F, -v OFS=, '{ n = $NF; NF--; k = $0; s[k] += n } END { for (k in s) print k, s[k] }' | sort
}

@test "the counts of a merged session are the sums of its inputs" {
	merge one two -o both
	local keys
	for keys in event,image,symbol event,comm,tid event,address host,event; do
		diff <(counts $keys both) <({ counts $keys one; counts $keys two; } | sum_up)
	done
	# Hosts with the same pid stay apart.
	diff <(counts host,event,comm both) - <<-'END'
		web1,CLK,prog,37
		web1,CLK,worker,16
		web1,MISS,prog,13
		web2,CLK,prog,74
		web2,CLK,worker,32
		web2,MISS,prog,26
	END
	diff <(counts session,event both) - <<-'END'
		both/one,CLK,53
		both/one,MISS,13
		both/two,CLK,106
		both/two,MISS,26
	END
	# The same as a session of the directory, and by every option that names one.
	diff <(opreport -l both 2>&1) <(opreport -l --session-dir=both 2>&1)
	diff <(opreport -l both 2>&1) <(cd both && opreport -l . 2>&1)
}

@test "merging a recording with itself doubles its counts" {
	merge one one -o twice
	diff <(counts event,image,tid twice) <({ counts event,image,tid one; counts event,image,tid one; } | sum_up)
	diff <(counts session,event twice) - <<-'END'
		twice/one,CLK,53
		twice/one,MISS,13
		twice/one-2,CLK,53
		twice/one-2,MISS,13
	END
}

@test "weights multiply samples, periods and lost samples" {
	merge one two --weight 3,1 -o weighted
	diff <(counts event,image,address weighted) \
		<({ for i in 1 2 3; do counts event,image,address one; done; counts event,image,address two; } | sum_up)
	opreport --by host,event --csv weighted 2>/dev/null | grep -q "^web1,CLK,159,15900000,"
	"$OPROFILE" info --json weighted | python3 -c '
import json, sys
docs = json.load(sys.stdin)
text = json.dumps(docs)
print(text, file=sys.stderr)
assert "\"merged_from\": \"one\"" in text and "\"merged_from\": \"two\"" in text
assert "\"weight\": \"3\"" in text and "\"weight\": \"1\"" in text
assert "\"lost_samples\": 30" in text and "\"lost_samples\": 10" in text
assert "web1" in text and "web2" in text'
	# One weight is for all recordings.
	merge one two --weight 2 -o doubled
	diff <(counts event,image doubled) \
		<({ for i in 1 2; do counts event,image one; counts event,image two; done; } | sum_up)
}

@test "fractions keep the sum of each function up to one sample" {
	merge one two --weight 0.37,1.6 -o fraction
	{ counts event,image,symbol one | sed 's/^/0.37,/'; counts event,image,symbol two | sed 's/^/1.6,/'; } >wanted
	counts event,image,symbol fraction >got
	python3 - <<-'END'
		import collections
		wanted, inputs = collections.Counter(), collections.Counter()
		for line in open("wanted"):
		    weight, *key, n = line.strip().split(",")
		    wanted[tuple(key)] += float(weight) * int(n)
		    inputs[tuple(key)] += 1
		got = {}
		for line in open("got"):
		    *key, n = line.strip().split(",")
		    got[tuple(key)] = int(n)
		assert set(got) <= set(wanted) and len(got) >= 5
		for key, n in wanted.items():
		    assert abs(got.get(key, 0) - n) < inputs[key], (key, n, got.get(key))
		for event in "CLK", "MISS":
		    all_wanted = sum(n for k, n in wanted.items() if k[0] == event)
		    all_got = sum(n for k, n in got.items() if k[0] == event)
		    assert abs(all_got - all_wanted) <= 1, (event, all_got, all_wanted)
	END
}

@test "values of profiles are multiplied" {
	local heap=$SOURCE_ROOT/tests/data/foreign/go-heap.pb.gz
	merge "$heap" --weight 2 -o doubled
	diff <(opreport --by event,symbol --csv doubled | tr -d '\r' | cut -d, -f1-4 | tail -n +2 | sort) \
		<(opreport --by event,symbol --csv "$heap" | tr -d '\r' | tail -n +2 |
			awk -F, -v OFS=, '{ print $1, $2, 2 * $3, 2 * $4 }' | sort)
	merge "$heap" --weight 0.5 -o half
	diff <(counts event half) - <<-'END'
		alloc_space,1154758
		inuse_space,5168
	END
}

@test "--average gives the mean of runs" {
	merge --average one two two one -o mean
	counts event,image,symbol mean >got
	{ counts event,image,symbol one; counts event,image,symbol two; } | sum_up >sums
	python3 - <<-'END'
		rows = lambda n: {tuple(l.strip().split(",")[:-1]): int(l.split(",")[-1]) for l in open(n)}
		got, sums = rows("got"), rows("sums")
		for key, n in sums.items():
		    assert abs(got[key] - n / 2) <= 2, (key, n, got[key])
		assert abs(sum(got.values()) - sum(sums.values()) / 2) <= 3
	END
	# The mean of a recording and itself is that recording, up to one sample of each function.
	merge --average one one -o same
	counts event same | grep -q "^CLK,5[2-4]$"
}

@test "different counts of one event stay apart" {
	describe web3 1700000000 1 | sed 's/^event|CLK|Clocks|3|100000/event|CLK|Clocks|3|50000/' |
		write_segment other/samples/current
	merge one other -o counts
	opreport counts >got
	grep -q "CLK:100000|.*CLK:50000|\|CLK:50000|.*CLK:100000|" got
	opreport --by event --csv event:CLK count:50000 counts >got
	grep -q "^CLK,53," got
}

@test "perf.data of another machine and a session merge into one" {
	need_data
	local weight
	for weight in 1 2; do
		merge one "$DATA/arm64/perf.data" --weight $weight -o mixed$weight 2>err
		diff <(counts event,image,symbol mixed$weight) <(
			{
				for i in $(seq $weight); do
					counts event,image,symbol one
					counts event,image,symbol "$DATA/arm64/perf.data"
				done
			} | sum_up
		)
		"$OPROFILE" info mixed$weight >info
		grep -q "Arch: *aarch64$" info
		grep -q "Merged from: *$DATA/arm64/perf.data$" info
		grep -q "Merged from: *one$" info
	done
}

@test "profiles of other tools, archives and merged sessions merge, too" {
	printf 'p;f 20\np;g 80\n' >p.folded
	merge p.folded one -o first
	counts event,symbol first | grep -q "^samples,f,20$"
	oparchive --session-dir two --output two.oparchive 2>err
	merge first two.oparchive --weight 1,2 -o second
	diff <(counts event,comm second | grep -v samples) \
		<({ counts event,comm one; counts event,comm two; counts event,comm two; } | sum_up)
	counts event,symbol second | grep -q "^samples,g,80$"
	"$OPROFILE" info second >info
	grep -q "Merged from: *first/one$" info
	grep -q "Merged from: *one$" info
	grep -q "Merged from: *current of two.oparchive$" info
}

@test "every command reads a merged session" {
	merge one two -o both
	[ "$(timeout 60 "$OPROFILE" script both 2>/dev/null | grep -c .)" -ge 198 ]
	[ "$(timeout 60 "$OPROFILE" export folded both event:CLK 2>/dev/null | awk '{ n += $NF } END { print n }')" -ge 159 ]
	oparchive --session-dir both --output both.oparchive 2>err
	oparchive --session-dir both --output-directory copy 2>err
	diff <(counts host,event both) <(counts host,event both.oparchive)
	diff <(counts host,event both) <(counts host,event copy)
	diff <(counts host,event both --since 2023-11-15) <(counts host,event both | grep web2)
	timeout 60 "$OPROFILE" buildid-list both >/dev/null
}

@test "a merged session is complete or does not exist" {
	local wrong
	mkdir exists
	run -1 --separate-stderr merge one two -o exists
	[[ $stderr == *"'exists' already exists"* ]]
	run -1 --separate-stderr merge one two
	[[ $stderr == *"no output given"* ]]
	run -1 --separate-stderr merge -o new
	[[ $stderr == *"no recording given"* ]]
	run -1 --separate-stderr merge one missing -o new
	[[ $stderr == *"missing"* ]]
	echo text >text
	run -1 --separate-stderr merge one text -o new
	[[ $stderr == *"text is too short to be a recording"* ]]
	for wrong in 0 -1 x 1e9 1,2,3 ""; do
		run -1 --separate-stderr merge one two --weight="$wrong" -o new
		[[ $stderr == *"--weight: "* ]]
	done
	[ ! -e new ]
	[ -z "$(find . -name 'new*')" ]
}

@test "damage of an input is reported, and the rest is merged" {
	local segment
	segment=$(find two/samples/current -name 'segment-*')
	head -c "$(($(stat -c %s "$segment") - 100))" "$segment" >cut
	mv cut "$segment"
	run -3 --separate-stderr merge one two -o new
	[[ $stderr == *"two is incomplete"* ]]
	counts event,host new | grep -q "^CLK,web1,53$"
}
