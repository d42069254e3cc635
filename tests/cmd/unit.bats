#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The systemd unit: how much access to the machine it leaves to oprofiled.

bats_require_minimum_version 1.5.0
load helpers

setup() {
	need systemd-analyze
	unit=$BUILD_ROOT/systemd/oprofile.service
	# --offline came with systemd 250.
	systemd-analyze --help | grep -q -e '--offline' || skip "this systemd-analyze reads no files: NOT TESTED"
	# ExecStart= names a program that is not installed yet, which costs a warning only.
	cd "$BATS_TEST_TMPDIR"
}

@test "the exposure of the service is at most 3.0" {
	run -0 systemd-analyze security --no-pager --offline=true --threshold=30 "$unit"
	[[ "${lines[-1]}" == *"Overall exposure level for oprofile.service: "* ]]
	# The check fails without the filter.
	sed '/^SystemCallFilter=/d' "$unit" >oprofile.service
	run ! systemd-analyze security --no-pager --offline=true --threshold=30 ./oprofile.service
}

@test "the unit explains each exposure that remains, and no others" {
	need python3
	systemd-analyze security --no-pager --json=short --offline=true "$unit" >exposures
	python3 - exposures "$unit" <<-'END'
		import json, re, sys
		remain = {row["name"] for row in json.load(open(sys.argv[1])) if row["exposure"]}
		explained = set(re.findall(r"^# ([A-Z][A-Za-z]+=\S*): \S", open(sys.argv[2]).read(), re.M))
		print("without an explanation:", sorted(remain - explained))
		print("explained, but closed:", sorted(explained - remain))
		sys.exit(not remain or remain != explained)
	END
}
