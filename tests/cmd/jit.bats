# SPDX-License-Identifier: GPL-2.0-or-later
# Code of just-in-time compilers: perf-PID.map, jitdump files, libopagent.
load helpers

bats_require_minimum_version 1.5.0

setup()
{
	begin_recording_test
	cd "$BATS_TEST_TMPDIR"
	jit_map=
	hidden=
	target=
}

teardown()
{
	[ -z "$jit_map" ] || rm -f "$jit_map"
	[ -z "$target" ] || kill -KILL "$target" 2>/dev/null || true
	if [ -n "$hidden" ]; then
		rm -r "$hidden"
		find /tmp -maxdepth 1 -user 65534 -name 'perf-*.map' -delete
	fi
	end_recording_test
}

# our_counts and perf_counts print "COUNT SYMBOL" of all code that is not in a file.
our_counts()
{
	"$OPROFILE_LINKS/opreport" --csv --by image,symbol "$@" 2>report.err | python3 -c '
import csv, sys
for r in csv.reader(sys.stdin):
    if len(r) > 2 and ("JIT" in r[0] or r[0].endswith(".jo")): print(r[2], r[1])' | sort
}

perf_counts()
{
	perf report --stdio -n -s dso,sym -t '|' -i "$1" 2>perf.err | awk -F'|' '
		$3 ~ /JIT|jitted-/ { sub(/^ *\[.\] */, "", $4); sub(/ *$/, "", $4); print $2 + 0, $4 }' | sort
}

@test "a perf map of the process names its JIT code, even after the map is deleted" {
	operf --session-dir "$session" sh -c 'echo $$ >pid; exec "$0" 1000' "$WORKLOADS/jit_map" >truth
	jit_map=/tmp/perf-$(cat pid).map
	rm "$jit_map"
	check_shares truth --session-dir "$session"
}

@test "opreport and perf count the same names with the same file and perf map" {
	need perf
	perf_record -o data sh -c 'echo $$ >pid; exec "$0" 500 last' "$WORKLOADS/jit_map" >truth ||
		skip "perf cannot record here: NOT TESTED"
	jit_map=/tmp/perf-$(cat pid).map
	# If two functions have the same address, perf uses either of them.
	sed -i /jit_gone/d "$jit_map"
	touch -r "$jit_map" data
	our_counts data >ours
	perf_counts data | diff -u - ours
	[ "$(wc -l <ours)" -ge 3 ]
	# On another machine the map is read from the archive.
	"$OPROFILE" archive -o folder data
	rm "$jit_map"
	our_counts archive:folder | diff -u ours -
}

@test "a file that is not a perf map gives no names and is reported once" {
	operf --session-dir "$session" sh -c 'echo $$ >pid; exec "$0" 300' "$WORKLOADS/jit_map" >truth
	jit_map=/tmp/perf-$(cat pid).map
	head -c 100000 /dev/urandom >"$(echo "$session"/samples/current/jit/*/perf-*.map)"
	# An empty list verifies nothing, which is status 3.
	truncate -s 0 "$session"/samples/current/jit/*/checksums
	run -3 --separate-stderr opreport --session-dir "$session" -l
	echo "$output" >out
	echo "$stderr" >report.err
	[ "$(grep -c 'not of the form START SIZE NAME' report.err)" = 1 ]
	grep -q 'anon (tgid:' out
}

@test "operf records the perf map of node with its function names" {
	need node
	cat >burn.js <<-'END'
		function burnHot(n) { let a = 1; for (let i = 0; i < n; i++) a = (a * 31 + i) | 0; return a; }
		const end = Date.now() + 1500;
		while (Date.now() < end) burnHot(1e6);
	END
	operf --session-dir "$session" node --perf-basic-prof burn.js 2>operf.err
	jit_map=$(echo "$session"/samples/current/jit/*/perf-*.map)
	jit_map=/tmp/${jit_map##*/}
	rm "$jit_map"
	opreport --session-dir "$session" --by symbol --csv >out
	cat out
	# The hot function is first, whatever prefix the compiler gives its name.
	sed -n 2p out | grep -q burnHot
}

@test "operf names the methods of a Java machine from the map that it writes at its end" {
	need java
	java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -version >/dev/null 2>&1 ||
		skip "this Java has no DumpPerfMapAtExit: NOT TESTED"
	cat >Burn.java <<-'END'
		public class Burn {
			static int burnHot(int n) { int a = 1; for (int i = 0; i < n; i++) a = a * 31 + i; return a; }
			public static void main(String[] s) {
				long end = System.currentTimeMillis() + 2000;
				int x = 0;
				while (System.currentTimeMillis() < end) x += burnHot(1000000);
				System.out.println(x);
			}
		}
	END
	operf --session-dir "$session" java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit \
		-XX:TieredStopAtLevel=1 -XX:CompileCommand=dontinline,Burn::burnHot Burn.java 2>operf.err
	jit_map=$(echo "$session"/samples/current/jit/*/perf-*.map)
	jit_map=/tmp/${jit_map##*/}
	rm "$jit_map"
	opreport --session-dir "$session" --by symbol --csv >out
	head -n 5 out
	grep -m 1 burnHot out
}

@test "operf names methods and lines of a Java machine with an agent on libopagent" {
	need java
	need gcc
	home=$(dirname "$(dirname "$(readlink -f "$(command -v java)")")")
	[ -f "$home/include/jvmti.h" ] || skip "NOT TESTED: no jvmti.h beside this Java"
	gcc -shared -fPIC -O1 -I"$home/include" -I"$home/include/linux" -I"$SOURCE_ROOT/src" -o libjvm_agent.so \
		"$SOURCE_ROOT/tests/workloads/jvm_agent.c" "$BUILD_ROOT/src/opagent/libopagent.so" \
		-Wl,-rpath,"$BUILD_ROOT/src/opagent"
	cat >Burn.java <<-'END'
		public class Burn {
			static int burnHot(int n) {
				int a = 1;
				for (int i = 0; i < n; i++)
					a = a * 31 + i;
				return a;
			}
			public static void main(String[] s) {
				long end = System.nanoTime() + 2000000000L;
				int x = 0;
				while (System.nanoTime() < end) x += burnHot(1000000);
				System.out.println(x);
			}
		}
	END
	mkdir dumps
	JITDUMPDIR=$PWD/dumps operf --session-dir "$session" java -agentpath:"$PWD/libjvm_agent.so" \
		-XX:CompileCommand=dontinline,Burn::burnHot Burn.java >told 2>operf.err
	opreport --session-dir "$session" --by symbol --csv >out
	head -n 5 out
	# It is the function with the most samples, and its lines are those of the loop.
	sed -n 2,3p out | grep -q '^Burn.burnHot,'
	opreport --session-dir "$session" --by symbol,line --csv >out
	head -n 5 out
	grep -q '^Burn.burnHot,Burn.java:[45],' out
	opreport --session-dir "$session" --by symbol,line --csv symbol:Burn.burnHot | sed -n 2p | grep -q 'Burn.java:[45],'
}

@test "a jitdump distinguishes replaced code, in sessions and perf.data" {
	operf --session-dir "$session" --perf-data data "$WORKLOADS/jit_dump" 1500 >truth
	check_shares truth --session-dir "$session"
	cp "$(ls jit-*.dump)" kept
	our_counts --session-dir "$session" >ours
	our_counts data | diff -u ours -
	# A session does not record the directories of these files.
	"$OPROFILE" script --session-dir "$session" -F ip,sym,symoff | awk '{ $1 = ""; print }' >script
	grep -q 'reuse_second(int)+0x' script
	"$OPROFILE" script -i data -F ip,sym,symoff | awk '{ $1 = ""; print }' | diff script -
	"$OPROFILE" archive -o folder data
	# A session has its own copy of the dump; a perf.data file has not.
	rm jit-*.dump
	our_counts --session-dir "$session" | diff -u ours -
	our_counts archive:folder | diff -u ours -
	run ! grep -q mover <(our_counts data)
	grep -q mover ours
}

@test "lines of a jitdump appear in reports and annotated sources, even for reused addresses" {
	mkdir dumps
	seq 1 20 | sed 's/^/this is line /' >agent.lang
	JITDUMPDIR=$PWD/dumps operf --session-dir "$session" "$WORKLOADS/jit_agent" 600 >truth
	opreport --session-dir "$session" --by symbol,line --csv >out
	cat out
	# The loop is in the second line; the first line belongs to the first instruction.
	grep -q '^agent_first,agent.lang:12,' out && grep -q '^the_agents_second,agent.lang:12,' out
	opreport --session-dir "$session" -g -l | grep -q ' agent.lang:11 .* agent_first$'
	timeout 60 "$OPROFILE_LINKS/opannotate" --source --session-dir "$session" --search-dirs="$PWD" >annotated
	grep -q '^ *[0-9]* [0-9.]* :this is line 12$' annotated
	grep -q ':this is line 11 /\* the_agents_second *[0-9]* [0-9.]*, agent_first ' annotated
	# Two functions have the same address one after the other, and one of them has lines.
	operf --session-dir "$session" "$WORKLOADS/jit_dump" 600 >truth
	opreport --session-dir "$session" --by symbol,line --csv >out
	cat out
	grep -q '^reuse_first,burn.jit:42,' out
	grep -q '^reuse_second(int),(no location information),' out
	run ! grep -E '^(reuse_second|mover).*burn.jit' out
}

@test "a jitdump gives the names of perf inject --jit, also with perf's default clock" {
	need perf
	perf_record -k 1 -o data "$WORKLOADS/jit_dump" 700 >truth ||
		skip "perf cannot record here: NOT TESTED"
	perf inject --jit -i data -o injected
	# perf makes a file for each block of code, so sum its counts by function.
	perf_counts injected | awk '{ n[$2] += $1 } END { for (f in n) print n[f], f }' | sort >perfs
	our_counts data | awk '{ n[$2] += $1 } END { for (f in n) print n[f], f }' | sort | diff -u perfs -
	[ "$(wc -l <perfs)" -ge 3 ]
	# Both print the same names and offsets, sample for sample.
	"$OPROFILE" script -i data -F ip,sym,symoff >ours
	perf script -i injected -F ip,sym,symoff 2>/dev/null | diff -u <(sed 's/^ *//' ours) <(sed 's/^ *//' -) >differences ||
		{ head -n 20 differences; false; }
	# The recording can use another clock; the time when the dump was mapped then gives its
	# start.
	perf_record -o data "$WORKLOADS/jit_dump" 1000 >truth
	check_shares truth data
}

@test "opimport copies perf maps and jitdumps, whatever the recording's clock" {
	need perf
	for clock in '' '-k 1'; do
		rm -rf "$session"/samples jit-*.dump
		perf_record $clock -o data sh -c '"$0" 700; echo $$ >pid; exec "$1" 300 last' "$WORKLOADS/jit_dump" "$WORKLOADS/jit_map" >truth ||
			skip "perf cannot record here: NOT TESTED"
		jit_map=/tmp/perf-$(cat pid).map
		"$OPROFILE" import --session-dir "$session" data
		our_counts data >ours
		rm "$jit_map" jit-*.dump
		our_counts --session-dir "$session" | diff -u ours -
		grep -q reuse_second ours && grep -q reuse_first ours && grep -q jit_gamma ours
		grep -q reuse_second <(our_counts --session-dir "$session")
	done
}

@test "a damaged jitdump is read up to the damage" {
	operf --session-dir "$session" "$WORKLOADS/jit_dump" 300 >truth
	copy=$(echo "$session"/samples/current/jit/*/jit-*.dump)
	truncate -s 700 "$copy"
	truncate -s 0 "$session"/samples/current/jit/*/checksums
	run -3 --separate-stderr opreport --session-dir "$session" -l
	grep -q reuse_first <<<"$output"
	head -c 5000 /dev/urandom >"$copy"
	run -3 --separate-stderr opreport --session-dir "$session" -l
	echo "$output" >out
	echo "$stderr" >report.err
	grep -q 'not a jitdump' report.err
	grep -q 'anon (tgid:' out
	: >"$copy"
	run -3 opreport --session-dir "$session" -l
}

@test "a jitdump of a finished container gives names" {
	need_root
	unshare --mount --pid --fork true || skip "NOT TESTED: namespaces cannot be made here"
	operf --session-dir "$session" unshare --mount --pid --fork sh -c '
		exec 9<"$0" && mount -t tmpfs none /tmp && cd /tmp && cat <&9 >/tmp/program && chmod +x program &&
			exec ./program 1000' "$WORKLOADS/jit_dump" >truth
	check_shares truth --session-dir "$session"
}

# record_with_map FILE: records a process of the unprivileged user that sees FILE at the path of its
# map. The owner of a mount namespace decides what is at each path in it.
record_with_map()
{
	local i
	setpriv --reuid=65534 --regid=65534 --clear-groups unshare --user --map-root-user --mount sh -c '
		touch /tmp/perf-$$.map && mount --bind "$1" /tmp/perf-$$.map && exec 3>&- "$0" 60000' \
		"$WORKLOADS/code_region" "$1" >told &
	target=$!
	for ((i = 0; i < 100; i++)); do
		grep -q code_region "/proc/$target/comm" && break
		sleep 0.1
	done
	operf --session-dir "$session" --system-wide --duration 2
	kill "$target"
	wait "$target" || true
}

@test "operf does not copy a perf map that only another user can read" {
	need_root
	need setpriv
	need_nobody
	setpriv --reuid=65534 --regid=65534 --clear-groups unshare --user --map-root-user --mount true ||
		skip "NOT TESTED: users cannot make namespaces here"
	hidden=$(mktemp -d)
	chmod 755 "$hidden"
	echo "1000 1000 a_secret" >"$hidden/secret"
	# Mounts of a namespace that another user made are not searched, whatever the file's mode.
	record_with_map "$hidden/secret"
	ls -lR "$session"/samples/current/jit
	run grep -rq a_secret "$session"/samples/current/jit
	[ "$status" -ne 0 ]
	chmod 600 "$hidden/secret"
	record_with_map "$hidden/secret"
	opreport --session-dir "$session" --by comm,image --csv comm:code_region >out
	cat out
	grep -qE '^code_region,(\[JIT\]|anon)' out
	run ! grep -r a_secret "$session"/samples/current
}

@test "libopagent records code that replaces other code, also after unloading" {
	mkdir dumps
	JITDUMPDIR=$PWD/dumps operf --session-dir "$session" "$WORKLOADS/jit_agent" 1000 >truth
	check_shares truth --session-dir "$session"
	[ "$(stat -c %a dumps/jit-*.dump)" = 600 ]
	need perf
	# perf ignores our additional records.
	JITDUMPDIR=$PWD/dumps perf_record -k 1 -o data "$WORKLOADS/jit_agent" 500 >truth ||
		skip "perf cannot record here: NOT TESTED"
	perf inject --jit -i data -o injected 2>inject.err || { cat inject.err; false; }
	perf_counts injected | awk '{ n[$2] += $1 } END { for (f in n) print n[f], f }' | sort >perfs
	our_counts data | awk '{ n[$2] += $1 } END { for (f in n) print n[f], f }' | sort | diff -u perfs -
}

@test "libopagent has OProfile's directory, symbols and header" {
	operf --session-dir "$session" sh -c 'echo $$ >pid; exec "$0" 300' "$WORKLOADS/jit_agent" >truth
	jit_map=/tmp/.oprofile/jitdump/jit-$(cat pid).dump
	[ "$(stat -c %a /tmp/.oprofile/jitdump)" = 1777 ]
	[ -s "$jit_map" ]
	lib=$BUILD_ROOT/src/opagent/libopagent.so
	nm -D --defined-only "$lib" | awk '$2 == "T" { print $3 }' | sort | diff - <(cat <<-'END'
		op_close_agent@@OPAGENT_1.0
		op_major_version@@OPAGENT_1.0
		op_minor_version@@OPAGENT_1.0
		op_open_agent@@OPAGENT_1.0
		op_unload_native_code@@OPAGENT_1.0
		op_write_debug_line_info@@OPAGENT_1.0
		op_write_native_code@@OPAGENT_1.0
	END
	)
	echo '#include "opagent/opagent.h"
		int main() { return op_open_agent() && op_close_agent(0) == -1 ? 0 : 1; }' >agent.cpp
	c++ -Wall -Wextra -Werror -I"$SOURCE_ROOT/src" agent.cpp "$lib" -Wl,-rpath,"${lib%/*}" -o agent ||
		skip "NOT TESTED: no C++ compiler"
	JITDUMPDIR=$PWD ./agent
	# A stale dump of the same number is replaced; a symbolic link is not followed.
	JITDUMPDIR=/no/such/folder run ./agent
	[ "$status" = 1 ]
}

@test "a dump of OProfile's own libopagent is matched by the time of day" {
	[ "$(uname -m)" = x86_64 ] || skip "NOT TESTED here: the code is of x86-64"
	cat >burn.py <<-'END'
		import ctypes, mmap, os, struct, sys, time
		os.makedirs("/tmp/.oprofile/jitdump", exist_ok=True)
		out = open("/tmp/.oprofile/jitdump/%d.dump" % os.getpid(), "wb")
		out.write(struct.pack("<6IQ16s", 0x4F74496A, 1, 48, 9, 64, 0, int(time.time()), b"elf64-x86-64"))
		# mov ecx, 1 << 28; dec ecx; jnz; ret
		code = bytes.fromhex("b900000010ffc975fcc3")
		memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
		memory.write(code)
		address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
		for name, times in (b"oprofiles_first\0", 1), (b"oprofiles_second\0", 9):
		    # Time stamps in this format are whole seconds.
		    time.sleep(1.05 - time.time() % 1)
		    body = name + code
		    body += bytes(-len(body) % 8)
		    out.write(struct.pack("<IIQQQII", 0, 40 + len(body), int(time.time()), address, address, len(code), 0))
		    out.write(body)
		    out.flush()
		    began = time.process_time()
		    for _ in range(times):
		        ctypes.CFUNCTYPE(None)(address)()
		    print(name.decode()[:-1], time.process_time() - began, file=sys.stderr)
		print(os.getpid())
	END
	operf --session-dir "$session" python3 burn.py >pid 2>messages
	cat messages
	grep '^oprofiles_' messages >took
	jit_map=/tmp/.oprofile/jitdump/$(cat pid).dump
	rm "$jit_map"
	our_counts --session-dir "$session" | sort -n >ours
	cat ours
	[ "$(awk '{ print $2 }' ours | tr '\n' ' ')" = "oprofiles_first oprofiles_second " ]
	# Compare with the time that the program measured for each function, because the machine
	# can be slow at times.
	awk 'NR == FNR { took[$1] = $2; all += $2; next } { n[$2] = $1; sum += $1 }
		END {
			share = took["oprofiles_first"] / all
			off = n["oprofiles_first"] / sum - share
			exit !(all > 0 && off * off < 25 * share * (1 - share) / sum + 0.0025)
		}' took ours
}

@test "a perf map of another user gives no names" {
	need_root
	operf --session-dir "$session" --perf-data data sh -c 'echo "0 7fffffffffff planted" >/tmp/perf-$$.map
		chown 65534 /tmp/perf-$$.map; echo $$ >pid; exec "$0" 500' "$WORKLOADS/code_region" >truth
	jit_map=/tmp/perf-$(cat pid).map
	[ ! -e "$session/samples/current/jit" ]
	for recording in "--session-dir $session" data; do
		opreport -l $recording >out
		run ! grep planted out
	done
	oparchive -o folder data
	[ ! -e "folder$jit_map" ]
	chown 0 "$jit_map"
	opreport -l data | grep planted
	oparchive -o own data
	[ -e "own$jit_map" ]
	"$OPROFILE" script data | grep -q planted
	mkdir -p imported
	"$OPROFILE" import --session-dir imported data
	ls imported/samples/*/jit/*/"${jit_map##*/}"
	# The map was written after the recording, so it belongs to a later process with this
	# number.
	touch -d 'now + 1 hour' "$jit_map"
	opreport -l data >out
	run ! grep planted out
	"$OPROFILE" script data >out
	run ! grep planted out
	oparchive -o later data
	[ ! -e "later$jit_map" ]
	rm -r imported
	mkdir -p imported
	"$OPROFILE" import --session-dir imported data
	[ ! -e "$(echo imported/samples/*)/jit" ]
}

# As the unprivileged user, starts a process with pid $1 that writes a perf map of its own pid, and
# waits for the map.
start_as_pid() # PID
{
	local try
	for try in $(seq 200); do
		(
			echo $(($1 - 1)) >/proc/sys/kernel/ns_last_pid
			exec setpriv --reuid=65534 --regid=65534 --clear-groups sh -c '
				[ $$ -eq "$1" ] || exit 1
				echo "0 7fffffffffff planted" >/tmp/perf-$$.map
				exec sleep 60' sh "$1"
		) 2>/dev/null &
		target=$!
		[ "$target" -eq "$1" ] || { wait "$target" || true; continue; }
		for try in $(seq 100); do
			[ ! -s "/tmp/perf-$1.map" ] || return 0
			sleep 0.05
		done
	done
	target=
	return 1
}

@test "a later process with the pid of a recorded one gives no names" {
	need_root
	need setpriv
	[ -w /proc/sys/kernel/ns_last_pid ] || skip "NOT TESTED: the kernel cannot choose a pid"
	operf --session-dir "$session" --perf-data data sh -c 'echo $$ >pid; exec "$0" 300' "$WORKLOADS/code_region" >truth
	pid=$(cat pid)
	jit_map=/tmp/perf-$pid.map
	start_as_pid "$pid" || skip "NOT TESTED: the pid is in use"
	# By its times, the recording could have ended after the other process began.
	touch -d 'now + 1 hour' data
	opreport -l data >out 2>err
	run ! grep planted out
	grep "perf-$pid.map' is not used: it belongs to another user" err
	oparchive -o folder data
	[ ! -e "folder$jit_map" ]
	mkdir imported
	"$OPROFILE" import --session-dir imported data
	[ ! -e "$(echo imported/samples/*)/jit" ]
	"$OPROFILE" script data >out
	run ! grep planted out
}

@test "while another user's process runs that began before the recording, its map counts" {
	need_root
	need setpriv
	setpriv --reuid=65534 --regid=65534 --clear-groups "$WORKLOADS/jit_map" 8000 >truth &
	target=$!
	jit_map=/tmp/perf-$target.map
	for try in $(seq 100); do [ ! -s "$jit_map" ] || break; sleep 0.05; done
	sleep 0.1
	timeout -s INT 1 "$OPROFILE_LINKS/operf" --session-dir "$session" --perf-data data --pid "$target" || true
	opreport -l data >out
	grep -E 'jit_(alpha|gamma)|jit::beta' out
	kill "$target"
	wait "$target" || true
	target=
	opreport -l data >out
	run ! grep -E 'jit_(alpha|gamma)|jit::beta' out
}

@test "a jitdump of another user gives no names" {
	need_root
	cp "$WORKLOADS/jit_dump" .
	operf --session-dir "$session" --perf-data data sh -c './jit_dump 500 & sleep 0.2; wait' >truth
	[ -n "$(our_counts data)" ]
	our_counts data >own
	chown 65534 jit-*.dump
	run ! diff own <(our_counts data)
	run ! grep reuse_first <(our_counts data)
}

# check_remapped RECORDING...: most samples are in the function, whose stacks are whole.
check_remapped()
{
	local least=50
	opreport -l --csv "$@" >out
	cat out
	awk -F, -v least="$least" '/remapped_text \[remapped\]/ && /remapped_work/ { share += $6 } END { exit !(share > least) }' out
	"$OPROFILE" export folded "$@" >folded
	awk '{ n += $NF } /;main;remapped_work / { whole += $NF } END { exit !(whole > 0.9 * n) }' folded
}

@test "code that a program copied to anonymous memory keeps its names, with a mark" {
	operf --callgraph --session-dir "$session" --perf-data data "$WORKLOADS/remapped_text" 500
	check_remapped --session-dir "$session"
	check_remapped data
	# The file's name selects it also.
	opreport -l --csv --session-dir "$session" "image:$WORKLOADS/remapped_text" | grep remapped_work
	"$OPROFILE_LINKS/opannotate" --source --session-dir "$session" | grep 'remapped_work total'
	"$OPROFILE" archive -o archive --session-dir "$session"
	check_remapped archive:archive
}

@test "code that was copied before the recording keeps its names, with a mark" {
	"$WORKLOADS/remapped_text" 10000 3>&- >told &
	target=$!
	for ((i = 0; i < 100; i++)); do
		grep -q remapped told && break
		sleep 0.1
	done
	operf --callgraph --session-dir "$session" --pid "$target" --duration 1
	check_remapped --session-dir "$session"
}

@test "CPython with -X perf_jit has function names and complete stacks" {
	local py=
	for p in python3.14 python3.13 python3; do
		"$p" -X perf_jit -c 'import sys; sys.exit(sys.version_info < (3, 13) or not sys.is_stack_trampoline_active())' \
			2>/dev/null && py=$p && break
	done
	[ -n "$py" ] || skip "no Python 3.13 with -X perf_jit: NOT TESTED"
	cat >burn.py <<-'END'
		import time
		def burn_inner(n):
		    a = 1
		    for i in range(n):
		        a = (a * 31 + i) & 0xffffff
		    return a
		def burn_outer(n):
		    return burn_inner(n)
		def burn_main():
		    end = time.process_time() + 1
		    while time.process_time() < end:
		        burn_outer(20000)
		burn_main()
	END
	operf --callgraph --session-dir "$session" "$py" -X perf_jit burn.py 2>operf.err
	cat operf.err
	"$OPROFILE" export folded --session-dir "$session" >folded
	jit_map=$(echo "$session"/samples/current/jit/*/jit-*.dump)
	jit_map=/tmp/${jit_map##*/}
	awk '/py::burn_inner/ { n += $NF }
		/_start;.*py::burn_main.*py::burn_outer.*py::burn_inner/ { whole += $NF }
		END { print n + 0, whole + 0; exit !(n > 300 && whole > 0.95 * n) }' folded
}

@test "a map names memory of every kind: memfd, /dev/shm, unlinked files" {
	local kind
	for kind in memfd shm unlinked private; do
		echo "$kind"
		rm -rf "$session"/*
		operf --session-dir "$session" --perf-data "$kind.data" \
			sh -c 'echo $$ >pid; exec "$0" 500 "$1"' "$WORKLOADS/jit_map" "$kind" >truth
		jit_map=/tmp/perf-$(cat pid).map
		touch -r "$jit_map" "$kind.data"
		check_shares truth --session-dir "$session"
		# perf.data does not show whether a privately mapped file is a binary.
		[ "$kind" = private ] || check_shares truth "$kind.data"
		rm "$jit_map"
	done
}
