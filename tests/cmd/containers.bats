# SPDX-License-Identifier: GPL-2.0-or-later
# Containers that start and end during a recording, and control groups.
load helpers

bats_require_minimum_version 1.5.0

setup()
{
	begin_recording_test
	cd "$BATS_TEST_TMPDIR"
	groups=
}

teardown()
{
	end_recording_test
	for group in $groups; do
		rmdir "$group" 2>/dev/null || true
	done
}

# Skips the test unless it can start containers. Their root has only the program, and is removed
# with it.
need_containers()
{
	need_root
	"$WORKLOADS/container" 1 "$WORKLOADS/inner_first" 1 || skip "NOT TESTED: containers cannot be made here"
}

# Prints the samples in binaries of the container that have no symbol.
nameless()
{
	opreport --session-dir "$session" --by image,symbol --csv 'lib-image:/inner/only' "$@" 2>/dev/null |
		grep -E ',(0x[0-9a-f]+|\(no symbols\)|\[[^]]*\]),' || true
}

# samples OPTION...: prints the number of samples in a report.
samples()
{
	opreport --session-dir "$session" --by event --csv "$@" 2>/dev/null | awk -F, 'NR > 1 { n += $2 } END { print n + 0 }'
}

# Lists the copies of binaries in the session.
kept_images()
{
	find "$session/samples/current/images" -type f ! -name checksums
}

@test "a container that ends before the recording has named functions with correct shares" {
	need_containers
	operf --session-dir "$session" -- sh -c '"$0" 1 "$1" 1500; sleep 1.2' "$WORKLOADS/container" "$WORKLOADS/static_pie" >told
	sed 's|\*/static_pie|/inner/only|' told >truth
	check_shares truth --session-dir "$session"
	[ -z "$(nameless)" ]
	# The only copy of its binary is in the session.
	[ ! -e /inner/only ]
	[ "$(kept_images | wc -l)" = 1 ]
}

@test "a container that runs for 50 ms during the recording has names" {
	need_containers
	# Tests also a program without a build-id, which could identify its binary.
	for program in inner_first inner_bare; do
		for option in "" --system-wide; do
			operf --session-dir "$session" $option -- sh -c 'sleep 1; "$0" 1 "$1" 50; sleep 1' \
				"$WORKLOADS/container" "$WORKLOADS/$program"
			[ "$(samples 'lib-image:/inner/only')" -ge 20 ]
			[ "$(samples "symbol:${program}_work")" -ge 20 ]
			[ -z "$(nameless)" ]
		done
	done
}

@test "three containers with different files at the same path have their own names" {
	need_containers
	operf --session-dir "$session" -- sh -c 'for p in first second bare; do "$0" 1 "$1/inner_$p" 300; done; sleep 0.5' \
		"$WORKLOADS/container" "$WORKLOADS"
	for name in first second bare; do
		echo "share image,symbol /inner/only,inner_${name}_work 0.3333"
	done >truth
	check_shares truth --session-dir "$session"
	[ -z "$(nameless)" ]
	[ "$(kept_images | wc -l)" = 3 ]
}

@test "500 containers in a row have names" {
	need_containers
	# If operf misses the binary in one container, it copies it from another container, by
	# build-id.
	for name in first second; do
		echo "share image,symbol /inner/only,inner_${name}_work 0.5"
	done >truth
	# On a busy machine one container in a hundred ends before operf can read its binary.
	for try in 1 2 3; do
		timeout -k 5 200 "$OPROFILE_LINKS/operf" --session-dir "$session" --system-wide -- \
			"$WORKLOADS/container" 500 "$WORKLOADS/inner_first,$WORKLOADS/inner_second" 8 2>operf.err
		cat operf.err
		check_shares truth --session-dir "$session" >told && break
		echo "try $try: $(head -n 5 told)"
	done
	check_shares truth --session-dir "$session"
	[ "$(samples 'lib-image:/inner/only')" -gt 2000 ]
	nameless
	[ -z "$(nameless)" ]
}

@test "a perf map in a short container names its code by the pid in the container" {
	need_root
	unshare --mount --pid --fork true || skip "NOT TESTED: namespaces cannot be made here"
	operf --session-dir "$session" -- sh -c 'sleep 1
		unshare --mount --pid --fork sh -c "exec 9<\"\$0\" && mount -t tmpfs none /tmp && cat <&9 >/tmp/program &&
			chmod +x /tmp/program && exec /tmp/program 60" "$0"
		sleep 1' "$WORKLOADS/jit_map" >truth
	ls "$session"/samples/current/jit/*/
	opreport --session-dir "$session" --by image,symbol --csv >out
	cat out
	run ! grep -E '^anon|^\[anon|^\[JIT][^,]*,0x' out
	grep -q '^[^,]*\.jo,jit_\|JIT.*,jit_' out
}

# make_group NAME: makes a control group that recordings distinguish, in $groups.
make_group()
{
	local mount
	mount=$(awk '$3 == "cgroup" && $4 ~ /perf_event/ { print $2 }' /proc/mounts | head -n 1)
	[ -n "$mount" ] || mount=$(awk '$3 == "cgroup2" { print $2 }' /proc/mounts | head -n 1)
	[ -n "$mount" ] && mkdir "$mount/$1" || skip "NOT TESTED: control groups cannot be made here"
	groups="$groups $mount/$1"
	group=$mount/$1
}

# Runs half a second in an existing group, and one second in a group that is created and removed.
record_groups()
{
	make_group "before$$"
	before=$group
	"$@" operf --session-dir "$session" --perf-data own.data -- sh -c '
		sh -c "echo \$\$ >\"$0/cgroup.procs\"; exec \"$2\" 500"
		mkdir "$1"
		sh -c "echo \$\$ >\"$1/cgroup.procs\"; exec \"$2\" 1000"
		rmdir "$1"' "$before" "${before%/*}/after$$" "$WORKLOADS/inner_first"
}

by_group()
{
	opreport --by cgroup --csv "$@" | sed -n 's|^\(/[a-z]*\)[0-9]*,\([0-9]*\),.*|\1 \2|p' | sort
}

@test "--by cgroup and cgroup: work as in perf, also for removed groups" {
	need_root
	record_groups
	by_group --session-dir "$session" >ours
	cat ours
	awk '{ n[$1] = $2 } END { exit !(n["/before"] > 300 && n["/after"] > 1.6 * n["/before"] && n["/after"] < 2.4 * n["/before"]) }' ours
	by_group own.data | diff ours -
	[ "$(samples "cgroup:/before$$")" = "$(sed -n 's|^/before ||p' ours)" ]
	[ "$(samples "cgroup:/*[a-z]$$")" = "$(awk '/[a-z]/ { n += $2 } END { print n }' ours)" ]
	[ "$(opreport --by cgroup --csv own.data "cgroup:/after$$" | grep -c '^/')" = 1 ]
	need perf
	perf report --stdio -n -s cgroup -i own.data 2>/dev/null |
		sed -n 's|^ *[0-9.]*%  *\([0-9]*\)  *\(/[a-z]*\)[0-9]* *$|\2 \1|p' | sort | diff ours -
}

@test "cgroups are known even if kernel samples do not contain them" {
	need_root
	LD_PRELOAD=$WORKLOADS/librefuse_perf.so REFUSE=cgroup record_groups
	run ! grep -q . <("$OPROFILE" script -i own.data -F cgroup 2>/dev/null | grep /before)
	by_group --session-dir "$session" >ours
	cat ours
	# Each process is queried once, when it is first seen.
	grep -q '^/before [0-9]' ours
}
