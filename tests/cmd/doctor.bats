#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# oprofile doctor: what this user can record, and the commands that lift limits.

bats_require_minimum_version 1.5.0
load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
	daemon=
}

teardown() {
	[ -z "$daemon" ] || kill -KILL $daemon 2>/dev/null || true
	[ -z "${OPROFILE_RUN_DIR:-}" ] || rm -r "$OPROFILE_RUN_DIR"
}

doctor() {
	timeout -k 5 60 "$OPROFILE" doctor "$@"
}

# ask EXPRESSION: evaluates it with d, the JSON on standard input, and c, its checks by name.
ask() {
	python3 -c "import json, sys
d = json.load(sys.stdin)
c = {x['name']: x for x in d['checks']}
$1"
}

@test "doctor agrees with a recording" {
	mkdir s
	if operf --session-dir s -e TIMER -- true 2>err || grep -q 'No samples collected' err; then
		run -0 doctor --json
	else
		run -1 doctor --json
	fi
	ask "assert d['schema'] == 'oprofile-doctor/1'
assert d['can_record'] == ($status == 0)
assert all(x['state'] == 'ok' or x['cost'] for x in d['checks'])
assert all('cost' not in x and 'fix' not in x for x in d['checks'] if x['state'] == 'ok')
assert c['perf_event_paranoid']['found'].split(',')[0] == open('/proc/sys/kernel/perf_event_paranoid').read().strip()" <<<"$output"
}

@test "doctor prints text, without colours in a file" {
	doctor >out || [ $? -eq 1 ]
	grep -qE '^Recording is (not )?possible for this user\.$' out
	grep -qE '^  (ok|limited|missing) +perf_event_paranoid +-?[0-9]' out
	run ! grep -q $'\x1b' out
	doctor --color=always >coloured || [ $? -eq 1 ]
	grep -q $'\x1b' coloured
}

@test "doctor names the limits of an unprivileged user" {
	need_root
	need setpriv
	setpriv --reuid=65534 --regid=65534 --clear-groups "$OPROFILE" --version >/dev/null 2>&1 ||
		skip "nobody cannot run programs of this folder"
	cd /
	run setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs "$OPROFILE" doctor --json
	ask "assert c['capabilities']['state'] == 'limited' and 'setcap' in c['capabilities']['fix']
assert c['no_new_privs']['state'] == 'limited'
assert c['session directory']['state'] == 'missing'" <<<"$output"
}

@test "doctor checks the symbols of a program" {
	printf 'int main(void) { return 0; }\n' >p.c
	gcc -g -Wl,--build-id -o p p.c
	doctor --json ./p >out || [ $? -eq 1 ]
	ask "assert c['build-id']['state'] == c['symbols']['state'] == 'ok'
assert c['debug information']['found'] == 'in the program'
assert c['unwind tables (CFI)']['state'] == 'ok'" <out
	strip -o stripped p
	doctor --json ./stripped >out || [ $? -eq 1 ]
	ask "assert c['symbols']['state'] == c['debug information']['state'] == 'limited'
assert c['symbols']['fix'].startswith('build it with -g')" <out
	gcc -Wl,--build-id=none -o without p.c
	doctor --json ./without >out || [ $? -eq 1 ]
	ask "assert c['build-id']['state'] == 'missing' and '--build-id' in c['build-id']['fix']" <out
}

@test "doctor tells frame pointers from their absence" {
	[ "$(uname -m)" = x86_64 ] || skip "needs x86_64"
	for i in 1 2 3 4 5 6 7 8; do
		printf 'int f%d(int *a) { int s = g(a); for (int i = 0; i < a[0]; i++) s += g(a + i) * %d; return s; }\n' $i $i
	done >f.c
	printf 'int g(int *a) { return *a; }\nint main(void) { return 0; }\n' >g.c
	for kind in with without; do
		[ $kind = with ] && flag=-fno-omit-frame-pointer || flag=-fomit-frame-pointer
		gcc -O2 $flag -fno-ipa-icf -include /dev/stdin -c -o f.o f.c <<<'int g(int *);'
		gcc -O2 -o $kind f.o g.c
	done
	doctor --json ./with >out || [ $? -eq 1 ]
	ask "assert c['frame pointers of it']['state'] == 'ok', c['frame pointers of it']" <out
	doctor --json ./without >out || [ $? -eq 1 ]
	ask "assert c['frame pointers of it']['state'] == 'limited', c['frame pointers of it']" <out
}

@test "doctor names the flag of a script's interpreter" {
	printf '#!/usr/bin/env python3\n' >script
	chmod +x script
	doctor --json ./script >out || [ $? -eq 1 ]
	ask "assert c['kind']['found'] == 'script of python3'
assert '-X perf' in c['interpreter']['fix']" <out
}

# daemon_check [COMMAND...]: prints state, finding and fix of doctor's check of the daemon; COMMAND
# runs it as another user.
daemon_check() {
	(cd / && timeout -k 5 60 "$@" "$OPROFILE" doctor --json >"$BATS_TEST_TMPDIR/out") || [ $? -eq 1 ]
	ask "print(c['daemon']['state'], c['daemon']['found'], c['daemon'].get('fix'), sep='|')" <out
}

@test "doctor knows a running daemon and who may control it" {
	need_root
	need setpriv
	# The path of a socket has at most 107 bytes.
	OPROFILE_RUN_DIR=$(mktemp -d)
	export OPROFILE_RUN_DIR
	chmod 755 "$OPROFILE_RUN_DIR"
	[ "$(daemon_check)" = 'ok|oprofiled does not run|None' ]
	mkdir s
	"$OPROFILE_LINKS/oprofiled" --foreground --paused --session-dir s >/dev/null 2>log 3>&- &
	daemon=$!
	for ((i = 0; i < 300; i++)); do
		! grep -q 'runs as process' log || break
		kill -0 $daemon 2>/dev/null || break
		sleep 0.1
	done
	if ! grep -q 'runs as process' log; then
		cat log
		grep -q perf_event log && skip "the system cannot be sampled here: NOT TESTED"
		return 1
	fi
	[ "$(daemon_check)" = 'ok|oprofiled runs, and you may control it|None' ]
	if setpriv --reuid=65534 --regid=65534 --clear-groups "$OPROFILE" --version >/dev/null 2>&1; then
		daemon_check setpriv --reuid=65534 --regid=65534 --clear-groups >found
		grep -qxE 'limited\|.+\|sudo usermod -aG oprofile "\$USER"' found
	fi
	kill $daemon
	wait $daemon || true
	daemon=
	[ "$(daemon_check)" = 'ok|oprofiled does not run|None' ]
}

@test "doctor has status 2 for wrong calls" {
	run -2 doctor --no-such-option
	run -2 doctor a b
	run -2 --separate-stderr doctor ./nothing
	[[ $stderr == *"cannot check './nothing': No such file"* ]]
	printf 'text' >text
	run -2 --separate-stderr doctor ./text
	[[ $stderr == *"neither an ELF file nor a script"* ]]
}
