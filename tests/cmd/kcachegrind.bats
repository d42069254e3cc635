#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# oprofile export callgrind: KCachegrind displays the file with its call graph.

bats_require_minimum_version 1.5.0
load helpers

@test "KCachegrind draws the call graph, with the sums of the profile" {
	local tool
	for tool in kcachegrind dot xvfb-run xdotool import dbus-run-session; do
		command -v "$tool" >/dev/null || skip "needs $tool (scripts/deps.sh screen): NOT TESTED"
	done
	cd "$BATS_TEST_TMPDIR"
	export HOME=$PWD XDG_RUNTIME_DIR=$PWD/run XDG_CACHE_HOME=$PWD/cache
	mkdir -m 700 run
	"$OPROFILE" export callgrind "$SOURCE_ROOT/tests/data/foreign/go-cpu.pb.gz" -o go.out
	grep -qx 'summary: 59' go.out
	timeout -k 5 150 dbus-run-session -- xvfb-run -a -s "-screen 0 1280x800x24" \
		bash "$SOURCE_ROOT/tests/cmd/kcachegrind.sh" go.out shown.png asked >log 2>&1 || {
		tail -n 20 log
		false
	}
	# The inclusive counts that `go tool pprof -top` prints for the file, of 59 samples.
	head -n 20 asked
	for function in "runtime.main 52" "main.main 52" "main.spin 29" "main.join 23" "strings.Repeat 23"; do
		grep -qF "** ${function% *} **\n**\n${function#* }\"" asked
	done
	# The calls: runtime.main calls main.main, which calls the other two.
	python3 - <<-'END'
		import re
		text = open("asked").read()
		names = dict(re.findall(r'(F\w+) \[.*?\*\* (.*?) \*\*', text))
		calls = {(names[a], names[b]): int(n)
		         for a, b, n in re.findall(r'(F\w+) -> (F\w+) \[.*?label="(\d+)', text)}
		print(calls)
		assert calls[("runtime.main", "main.main")] == 52
		assert calls[("main.main", "main.spin")] == 29 and calls[("main.main", "main.join")] == 23
	END
	# The picture has the size of the screen and many colours.
	[ "$(identify -format '%wx%h' shown.png)" = 1280x800 ]
	[ "$(identify -format '%k' shown.png)" -gt 100 ]
}
