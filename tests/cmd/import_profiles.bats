#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Profiles of valgrind, the JDK and difffolded.pl: the totals of the tools themselves.

bats_require_minimum_version 1.5.0
load helpers

setup()
{
	out=$BATS_TEST_TMPDIR
	cd "$out"
	new_session
}

report()
{
	timeout -k 5 60 "$OPROFILE_LINKS/opreport" "$@"
}

make_program()
{
	cat >prog.c <<-'END'
		#include <stdlib.h>
		static int cmp(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
		__attribute__((noinline)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
		__attribute__((noinline)) long work(int n) { volatile long s = 0; for (int i = 0; i < n; i++) s += i % 7; return s; }
		int main(void)
		{
			int v[500];
			for (int i = 0; i < 500; i++) v[i] = rand();
			qsort(v, 500, sizeof(*v), cmp);
			return (fib(12) + work(50000) + v[0]) == 0;
		}
	END
	gcc -g -O1 prog.c -o prog
}

# periods FILE: prints "EVENT PERIOD" for each event.
periods()
{
	report --csv --by event "$1" | awk -F, 'NR > 1 { print $1, $3 }' | sort
}

# totals FILE: the events and totals that the tool wrote itself, in the same form.
totals()
{
	awk '/^events:/ { for (i = 2; i <= NF; i++) name[i] = $i }
		/^(totals|summary):/ { for (i = 2; i <= NF; i++) total[i] = $i }
		END { for (i in total) if (total[i]) print name[i], total[i] }' "$1" | sort
}

@test "an imported callgrind file has valgrind's totals and callgrind_annotate's own costs" {
	need gcc
	command -v valgrind >/dev/null || skip "valgrind is not installed: NOT TESTED"
	make_program
	local -a how=("--cache-sim=yes" "--dump-instr=yes --compress-pos=no --compress-strings=no"
		"--separate-callers=2 --dump-instr=yes" "--collect-jumps=yes --dump-line=no")
	for options in "${how[@]}"; do
		echo "$options"
		rm -f cg.out
		valgrind --tool=callgrind --callgrind-out-file=cg.out $options ./prog 2>err || [ $? -eq 1 ]
		totals cg.out >wanted
		[ -s wanted ]
		periods cg.out 2>warned | diff wanted -
		[ ! -s warned ]
	done
	valgrind --tool=callgrind --callgrind-out-file=cg.out ./prog 2>err || [ $? -eq 1 ]
	callgrind_annotate --auto=no --threshold=100 cg.out >text
	for f in work fib cmp; do
		awk -v f=":$f" '$0 ~ f "( |\x27|$)" { gsub(",", "", $1); s += $1 } END { print s + 0 }' text >wanted
		report --csv --by symbol cg.out | awk -F, -v f="$f" '$1 == f || index($1, f "\x27") == 1 { s += $3 } END { print s + 0 }' |
			diff wanted -
		[ "$(cat wanted)" -gt 0 ]
	done
	report --csv --by image,comm,pid cg.out | grep -q "^$PWD/prog,prog,[1-9]"
	"$OPROFILE" import --session-dir "$session" cg.out
	totals cg.out | cut -d' ' -f2 >wanted
	report --csv --by symbol --session-dir "$session" | awk -F, 'NR > 1 { s += $3 } END { print s }' | diff wanted -
	# A line for each function, whatever its cost.
	"$OPROFILE" script cg.out >script
	[ "$(grep -c ' Ir:' script)" -lt 2000 ]
	grep -q 'work.*prog' script
	valgrind --tool=cachegrind --cachegrind-out-file=cc.out ./prog 2>err || [ $? -eq 1 ]
	totals cc.out >wanted
	periods cc.out | diff wanted -
}

@test "the export to callgrind, imported again, has the samples as periods" {
	write_segment made <<-END
		info|0||$(uname -n)||1000000000|0||
		event|cycles|c|11|1000000|0|0
		image|1|/opt/lib.so|
		image|1|/opt/other.so|
		thread|7|7|p|0|0|/
		sample|0|0|0|1000002000|1000000|0+16;0+4112;1+8208|5
		sample|0|0|1|1000004000|1000000|1+4112;1+8208|3
	END
	"$OPROFILE" export callgrind made -o x.callgrind
	report --csv --by image,symbol made | awk -F, 'NR > 1 { print $1, $2, $3 }' | sort >wanted
	report --csv --by image,symbol x.callgrind | awk -F, 'NR > 1 { print $1, $2, $4 }' | sort | diff wanted -
}

# ranked NAME ARGUMENTS: the text report must list the functions in the order of their values.
ranked()
{
	local name=$1
	shift
	report "$@" >"$name.report"
	sed -n 's/^[|` -]*\([0-9]*\) .*\(rare\|often\).*/\1 \2/p' "$name.report" |
		awk '!seen[$2]++' >"$name.ranks"
	diff - "$name.ranks" <<-'END' || { cat "$name.report"; return 1; }
		900000 rare
		7000 often
	END
}

@test "values without a number of samples decide about the order, in reports and exports" {
	python3 - <<-'END'
		def v(n):
		    o = b""
		    while True:
		        c = n & 127
		        n >>= 7
		        if not n:
		            return o + bytes([c])
		        o += bytes([c | 128])
		def f(k, x):
		    return v(k << 3) + v(x) if isinstance(x, int) else v(k << 3 | 2) + v(len(x)) + x
		names = ["", "cpu", "nanoseconds", "main", "rare", "often"]
		o = f(1, f(1, 1) + f(2, 2))
		for locations, value in [([2, 1], 900000), ([3, 1], 1000), ([3, 1], 2000), ([3, 1], 4000)]:
		    o += f(2, b"".join(f(1, x) for x in locations) + f(2, value))
		for i in 1, 2, 3:
		    o += f(4, f(1, i) + f(4, f(1, i))) + f(5, f(1, i) + f(2, i + 2))
		open("values.pb", "wb").write(o + b"".join(f(6, s.encode()) for s in names))
		open("values.speedscope.json", "w").write("""{"$schema":"https://www.speedscope.app/file-format-schema.json",
		"shared":{"frames":[{"name":"main"},{"name":"rare"},{"name":"often"}]},
		"profiles":[{"type":"sampled","name":"p","unit":"bytes","startValue":0,"endValue":907000,
		"samples":[[0,2],[0,2],[0,1],[0,2]],"weights":[1000,2000,900000,4000]}]}""")
	END
	for file in values.pb values.speedscope.json; do
		ranked symbols -l "$file"
		ranked calls --callgraph "$file"
		ranked tree --tree "$file"
		report --csv --by symbol "$file" | tr -d '\r' >csv
		diff - csv <<-'END'
			symbol,samples,period,percent
			rare,1,900000,99.22822492
			often,3,7000,0.7717750827
		END
		report --csv --tree "$file" | grep -c ',main,4,907000,100,0,0,0' >nr
		report --json --by symbol --children "$file" |
			grep -F '"symbol":"main","samples":0,"period":0,"total_samples":4,"total_period":907000'
		"$OPROFILE" export folded "$file" | sed 's/^[^;]*;//' | sort >folded
		diff - folded <<-'END'
			main;often 7000
			main;rare 900000
		END
		"$OPROFILE" export flamegraph --svg "$file" | grep -F 'rare (900000 samples, 99.23%)'
		for format in callgrind pprof; do
			rm -rf again
			"$OPROFILE" export "$format" "$file" -o again
			ranked again -l again
		done
		! command -v go >/dev/null || HOME=$out go tool pprof -top again 2>err | grep -E '900000 99.23% .*rare$'
	done
	report --show-total-period -l values.pb | grep -E '^900000 +1 +99.2282 +rare$'
	# Of counts without a common divisor, the exact numbers decide.
	printf 'p;a 5\np;b 7120000000\np;c 10\n' >big.folded
	report -l big.folded 2>err | sed -n 's/^\([0-9]*\) .* /\1 /p' >found
	diff - found <<-'END'
		7120000000 b
		10 c
		5 a
	END
	"$OPROFILE" export folded big.folded 2>err | diff <(sort big.folded) -
	# Recordings with numbers of samples are still ordered by these.
	printf 'p;a 5\np;b 7\n' >counts.folded
	report -l counts.folded | grep -q '^samples '
}

@test "an imported Java Flight Recording has the samples and methods of jfr print" {
	command -v jfr javac java >/dev/null || skip "no JDK is installed: NOT TESTED"
	cat >W.java <<-'END'
		public class W {
		    static double work(int n) { double s = 0; for (int i = 0; i < n; i++) s += Math.sqrt(i) * Math.sin(i); return s; }
		    static void run() { double s = 0; long end = System.nanoTime() + 1500000000L; while (System.nanoTime() < end) s += work(300000); System.out.println(s); }
		    public static void main(String[] args) throws Exception { Thread t = new Thread(W::run, "w\u00f6rker"); t.start(); run(); t.join(); }
		}
	END
	javac -encoding ASCII W.java
	java -XX:StartFlightRecording=filename=w.jfr,settings=profile W >log 2>&1
	jfr print --events jdk.ExecutionSample,jdk.NativeMethodSample --stack-depth 64 w.jfr >printed
	grep -q 'W\.work' printed || skip "the JVM took no sample: NOT TESTED"
	sed -n 's/^\(jdk.*\) {$/\1/p' printed | sort | uniq -c | awk '{ print $2 "," $1 }' >wanted
	report --csv --by event w.jfr | tail -n +2 | cut -d, -f1,2 | sort | diff wanted -
	# What jfr print says of the samples: the innermost method, and the thread. A thread that began
	# during the sample has no name.
	awk '/^jdk/ { event = $1 }
		/stackTrace = \[/ { getline; sub(/^ */, ""); sub(/\(.*/, ""); nr[event "," $0]++ }
		END { for (i in nr) print i "," nr[i] }' printed | sort >wanted
	report --csv --by event,symbol w.jfr | tail -n +2 | cut -d, -f1-3 | sort | diff wanted -
	awk '/^jdk/ { event = $1 }
		/sampledThread = / { if (!sub(/^[^"]*"/, "")) $0 = ""; sub(/" \(.*/, ""); nr[event "," $0]++ }
		END { for (i in nr) print i "," nr[i] }' printed | sort >wanted
	report --csv --by event,comm w.jfr | tail -n +2 | cut -d, -f1-3 | sort | diff wanted -
	"$OPROFILE" script w.jfr >script
	grep -q 'W.work' script
	head -c -1 w.jfr >cut.jfr
	run -1 --separate-stderr "$OPROFILE" import --session-dir "$session" cut.jfr
	[[ $stderr == *"cut.jfr: it ends within its first chunk"* ]]
}

@test "an imported difffolded file has both counts, as two events" {
	printf 'p;main;lex 10 25\np;main;emit 30 0\np;main 0 7\n' >x.diff
	report --csv --by event,symbol x.diff | tail -n +2 | cut -d, -f1-3 | sort >found
	diff - found <<-'END'
		after,lex,25
		after,main,7
		before,emit,30
		before,lex,10
	END
	"$OPROFILE" import --session-dir "$session" x.diff
	"$OPROFILE" script x.diff >script
	[ "$(grep -c 'after:' script)" -eq 32 ]
	printf 'p;main;lex 10 25\np;main;emit x 0\np;main 0 7\np;main 1 7\n' >x.diff
	run -3 --separate-stderr "$OPROFILE" import --session-dir "$session" x.diff
	[[ $stderr == *"x.diff: 1 lines were not recognised"* ]]
}

@test "sums of a callgrind file that contradict its costs are reported" {
	printf 'creator: callgrind-3.19.0\nevents: Ir\nfn=f\n1 10\nfn=g\n2 20\ntotals: 12345\n' >wrong
	run -3 --separate-stderr report --csv --by symbol wrong
	echo "$stderr"
	[[ "$stderr" == *"wrong: 1 of its sums, ids or references contradict the rest of the file"* ]]
	[[ "$output" == *$'\ng,1,20,'* ]]
	mkdir made
	run -3 "$OPROFILE" import --session-dir made wrong
	sed 's/12345/30/' wrong >right
	report --csv --by symbol right
}

@test "samples that simpleperf lost are reported, and ids that do not exist" {
	python3 - <<-'END'
		import struct
		def number(n): return bytes([n & 127 | 128]) + number(n >> 7) if n > 127 else bytes([n])
		def value(field, n): return number(field << 3) + number(n)
		def text(field, b): return number(field << 3 | 2) + number(len(b)) + b
		frame = lambda file, symbol: text(3, value(1, 16) + value(2, file) + value(3, symbol))
		sample = lambda *frames: text(1, value(1, 5) + value(2, 5) + b"".join(frames) + value(4, 9))
		tables = [text(3, value(1, 0) + text(2, b"/a") + text(3, b"f")), text(5, text(1, b"cycles"))]
		def write(name, *records):
		    with open(name, "wb") as out:
		        out.write(b"SIMPLEPERF\1\0" + b"".join(struct.pack("<I", len(r)) + r for r in records) +
		                  bytes(4))
		write("lost", sample(frame(0, 0)), sample(frame(0, 0)), *tables, text(2, value(1, 2) + value(2, 900)))
		write("odd", sample(frame(0, 0)), sample(frame(7, 0)), sample(frame(0, 1)), *tables)
	END
	run -0 --separate-stderr report --csv --by symbol lost
	echo "$stderr"
	[[ "$stderr" == *"Lost samples detected! The kernel lost 900 of 902 samples"* ]]
	report --quality lost | grep -E '^  lost +900 '
	mkdir made
	"$OPROFILE" import --session-dir made lost
	report --session-dir made --quality | grep -E '^  lost +900 '
	run -3 --separate-stderr report --csv --by symbol odd
	[[ "$stderr" == *"odd: 2 of its sums, ids or references contradict the rest of the file"* ]]
}
