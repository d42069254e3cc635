#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# opreport --confidence: intervals of the shares.

bats_require_minimum_version 1.5.0
load helpers

# Describes twelve seconds with 6000 samples: those of two images are spread at random, those of a
# third one come in 20 bursts.  A second event has 100 samples of one image.
describe() {
	cat <<-'END'
		info|2400|CPU|host||1000000000
		event|CLK|Clocks|3|100000|0|0
		event|MISS|Misses|0|1000|0|0
		image|1|/nowhere/bin/prog
		image|1|/nowhere/lib/even.so
		image|1|/nowhere/lib/bursts.so
		image|1|/nowhere/bin/other
		thread|9|9|prog|0|0|
		thread|10|10|other|3|0|
	END
	python3 -c '
import random
r = random.Random(7)
samples = []
for i in range(6000):
    t = r.random() * 12
    x = r.random()
    samples.append((t, 1, 3) if x < 0.1 else (t, 0, 0) if x < 0.7 else (t, 0, 1))
for burst in range(20):
    t = r.random() * 11.9
    samples += [(t + r.random() * 0.1, 0, 2) for i in range(30)]
for t, thread, image in sorted(samples):
    print("sample|%d|0|0|%d|100000|%d+0x10|1" % (thread, 1000000000 + t * 1e9, image))
for i in range(100):
    print("sample|0|1|0|%d|1000|0+0x10|1" % (1000000000 + i * 12e7))
'
}

setup_file() {
	export S="$BATS_FILE_TMPDIR"
	describe | write_segment "$S/samples/current"
}

setup() {
	cd "$BATS_TEST_TMPDIR"
}

@test "without the option nothing changes, and with it only the interval is added" {
	local layout
	for layout in "" "-l" "--by comm,image" "-%" "-l --show-total-period" "-n"; do
		opreport --session-dir="$S" $layout event:CLK >plain
		opreport --session-dir="$S" $layout event:CLK --confidence >got
		! grep -q ' \.\. ' plain
		grep -q ' \.\. ' got
		python3 - <<-'END'
			import re
			def words(name):
			    text = re.sub(r" *[0-9.]+ \.\. +[0-9.]+|interval|\|", " ", open(name).read())
			    return [l.split() for l in text.splitlines() if not re.match("\t?-+$|Intervals", l)]
			assert words("got") == words("plain")
		END
	done
	diff <(opreport --session-dir="$S" --by image --csv) \
		<(opreport --session-dir="$S" --by image --csv --confidence | cut -d, -f1-5 |
			sed '1!s/\([^\r]\)$/\1\r/; 1s/$/\r/')
}

@test "independent samples have Wilson's limits, and bursts have wider ones" {
	opreport --session-dir="$S" --by image --csv --confidence event:CLK >all
	opreport --session-dir="$S" --by image --csv --confidence event:CLK \
		lib-image:/nowhere/bin/prog,/nowhere/lib/even.so >even
	python3 - <<-'END'
		import csv, math
		def factors(name):
		    rows = list(csv.DictReader(open(name, newline="")))
		    n = sum(int(r["samples"]) for r in rows)
		    for r in rows:
		        low, percent, high = (float(r[k]) for k in ("percent_low", "percent", "percent_high"))
		        p, z = int(r["samples"]) / n, 1.96
		        half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
		        assert abs(percent - 100 * p) < 1e-6 and low < percent < high
		        yield r["image"].split("/")[-1], (high - low) / (200 * half)
		independent = dict(factors("even"))
		assert set(independent) == {"prog", "even.so"}
		assert all(0.8 < f < 1.25 for f in independent.values()), independent
		# Bursts also change the shares of the others, and small rows share what is known.
		bursts = dict(factors("all"))
		assert set(bursts) == {"prog", "even.so", "bursts.so", "other"}
		assert 3 < bursts["bursts.so"] < 8, bursts
		assert all(0.8 < f < 3 for name, f in bursts.items() if name != "bursts.so"), bursts
	END
}

@test "a higher level gives wider intervals that contain the narrower ones" {
	local level
	for level in 80 95 99.9; do
		opreport --session-dir="$S" --by image --json --confidence=$level event:CLK >"$level"
	done
	python3 - <<-'END'
		import json
		docs = [json.load(open(n)) for n in ("80", "95", "99.9")]
		assert [d["confidence"]["level"] for d in docs] == [80, 95, 99.9]
		assert 95 <= docs[0]["confidence"]["blocks"] <= 105
		for narrow, wide in zip(docs, docs[1:]):
		    for a, b in zip(narrow["rows"], wide["rows"]):
		        assert a["image"] == b["image"]
		        assert b["percent_low"] < a["percent_low"] < a["percent"]
		        assert a["percent"] < a["percent_high"] < b["percent_high"]
	END
	diff <(opreport --session-dir="$S" --by image --csv --confidence) \
		<(opreport --session-dir="$S" --by image --csv --confidence=95)
}

@test "in the summary, intervals of images are of their program's samples" {
	opreport --session-dir="$S" --confidence event:CLK >nested
	opreport --session-dir="$S" --by image --csv --confidence event:CLK comm:prog >alone
	python3 - <<-'END'
		import csv, re
		alone = {r["image"].split("/")[-1]: r for r in csv.DictReader(open("alone", newline=""))}
		seen = 0
		for line in open("nested"):
		    m = re.match(r"\t +\d+ +([\d.]+) +([\d.]+) \.\. +([\d.]+) (\S+)$", line)
		    if not m:
		        continue
		    r = alone[m[4]]
		    seen += 1
		    assert abs(float(m[1]) - float(r["percent"])) < 1e-3
		    # Small rows share what is known about bursts with all programs' rows.
		    width = float(r["percent_high"]) - float(r["percent_low"])
		    assert abs(float(m[2]) - float(r["percent_low"])) < 0.1 * width, line
		    assert abs(float(m[3]) - float(r["percent_high"])) < 0.1 * width, line
		assert seen == 3, seen
	END
	# The intervals of whole programs are computed from all samples.
	opreport --session-dir="$S" --by app --csv --confidence event:CLK >apps
	python3 - <<-'END'
		import csv, re
		apps = {r["app"].split("/")[-1]: r for r in csv.DictReader(open("apps", newline=""))}
		lines = [re.match(r" +\d+ +[\d.]+ +([\d.]+) \.\. +([\d.]+) (\S+)$", l) for l in open("nested")]
		lines = [m for m in lines if m]
		assert {m[3] for m in lines} == {"prog", "other"}
		for m in lines:
		    assert abs(float(m[1]) - float(apps[m[3]]["percent_low"])) < 1e-3
		    assert abs(float(m[2]) - float(apps[m[3]]["percent_high"])) < 1e-3
	END
}

@test "each event has its own intervals" {
	opreport --session-dir="$S" --by event,image --csv --confidence >both
	opreport --session-dir="$S" --by event,image --csv --confidence event:CLK >one
	diff <(grep CLK both) <(grep CLK one)
	# All samples of the event are in one image.
	grep "^MISS,/nowhere/bin/prog,100,100000,100,9[5-8]\.[0-9]*,100" both
	# Side by side, a line without samples of an event has an interval for it as well.
	opreport --session-dir="$S" -l --confidence | grep -E "^[0-9]+ .* 0 +0 +0\.0000 \.\. +[1-9]"
}

@test "samples without times count as independent, which the header says" {
	printf 'prog;f 20\nprog;g 80\n' >p.folded
	opreport --by symbol --confidence p.folded >got
	grep -q "^Intervals .* 95 % .*count as independent" got
	opreport --by symbol --csv --confidence p.folded >got
	python3 - <<-'END'
		import csv, math
		rows = {r["symbol"]: r for r in csv.DictReader(open("got", newline=""))}
		# Wilson's formula, with the quantile of Student's t for 16 degrees of freedom.
		z, n, p = 2.1199053, 100, 0.2
		middle = (p + z * z / (2 * n)) / (1 + z * z / n)
		half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
		assert abs(float(rows["f"]["percent_low"]) - 100 * (middle - half)) < 1e-3
		assert abs(float(rows["f"]["percent_high"]) - 100 * (middle + half)) < 1e-3
		assert abs(float(rows["g"]["percent_low"]) - 100 * (1 - middle - half)) < 1e-3
	END
}

@test "several sessions are divided into blocks one after the other" {
	describe | write_segment "$S/samples/again"
	opreport --session-dir="$S" session:current,again --by image --json --confidence event:CLK >two
	opreport --session-dir="$S" --by image --json --confidence event:CLK >one
	rm -r "$S/samples/again"
	python3 - <<-'END'
		import json
		one, two = (json.load(open(n)) for n in ("one", "two"))
		assert 95 <= two["confidence"]["blocks"] <= 105
		for a, b in zip(one["rows"], two["rows"]):
		    assert b["samples"] == 2 * a["samples"]
		    # Twice the samples: intervals are shorter by the square root of 2.
		    ratio = (a["percent_high"] - a["percent_low"]) / (b["percent_high"] - b["percent_low"])
		    assert 1.2 < ratio < 1.7, (a["image"], ratio)
	END
	# The session can also be a key.
	opreport --session-dir="$S" --by session,image --csv --confidence | grep -q "^current,CLK\|^CLK,current,"
}

@test "layouts without intervals are refused" {
	local wrong
	for wrong in --xml --details --callgraph --tree "--children --symbols"; do
		run -1 --separate-stderr opreport --session-dir="$S" --confidence $wrong
		[[ $stderr == *"--confidence is incompatible with"* ]]
	done
	run -1 --separate-stderr opreport --session-dir="$S" --confidence --by time:1s
	[[ $stderr == *"--confidence cannot be combined with --by time"* ]]
	for wrong in 20 100 x 95%x; do
		run -1 --separate-stderr opreport --session-dir="$S" --confidence=$wrong
		[[ $stderr == *"--confidence: illegal value '$wrong': give a percentage from 50 to 99.999"* ]]
	done
	run -1 --separate-stderr opreport -l --confidence --session-dir="$S" { session:current } { session:current }
	[[ $stderr == *"use 'oprofile diff'"* ]]
}
