#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Hostile names, which any user can choose, in every text output: see hostile_text.py.
load helpers

bats_require_minimum_version 1.5.0

# Runs one part of the tests; bats can run the parts in parallel.
hostile_text() # PART
{
	need gcc
	need readelf
	run timeout -k 5 250 python3 "$SOURCE_ROOT/tests/cmd/hostile_text.py" \
		"$BATS_TEST_TMPDIR" "$1"
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "reports with hostile names are valid text, CSV, JSON and XML" {
	hostile_text reports
}

@test "annotated sources, disassembly and pages escape hostile names" {
	hostile_text annotations
}

@test "exported formats stay valid with hostile names" {
	hostile_text exports
}

@test "messages, lists and recordings escape hostile names" {
	hostile_text files
}

@test "addr2line, caches and archives escape hostile names" {
	hostile_text binary
}
