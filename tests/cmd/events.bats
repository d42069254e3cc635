# SPDX-License-Identifier: GPL-2.0-or-later
# ophelp and op-check-perfevents: they need no privileges, no recording and no hardware counters.
load helpers
bats_require_minimum_version 1.5.0

ophelp()
{
	timeout -k 5 60 "$OPROFILE_LINKS/ophelp" "$@"
}

@test "ophelp lists the events of any CPU, with counters, minimum counts and masks" {
	ophelp --cpu-type i386/graniterapids >"$BATS_TEST_TMPDIR/list"
	head -n 1 "$BATS_TEST_TMPDIR/list"
	[ "$(head -n 1 "$BATS_TEST_TMPDIR/list")" = 'oprofile: available events for CPU type "Intel Granite Rapids"' ]
	grep -A6 '^LONGEST_LAT_CACHE: (counter: 0, 1, 2, 3, 4, 5, 6, 7)$' "$BATS_TEST_TMPDIR/list" |
		grep '	0x41: (name=MISS) '
	grep '^LLC_MISSES: LONGEST_LAT_CACHE, unit mask 0x41$' "$BATS_TEST_TMPDIR/list"
	grep '^page-faults: ' "$BATS_TEST_TMPDIR/list"
}

@test "events have descriptions in complete sentences, also without the vendor's text" {
	for type in i386/alderlake i386/alderlake-e; do
		ophelp --cpu-type $type >"$BATS_TEST_TMPDIR/list"
		[ "$(grep -c 'see its unit masks' "$BATS_TEST_TMPDIR/list")" -eq 0 ]
	done
	grep -A1 '^OCR: ' "$BATS_TEST_TMPDIR/list" | grep -q 'answers to requests that leave the core'
	ophelp --cpu-type ppc64/power9 >"$BATS_TEST_TMPDIR/list"
	[ "$(grep -c '\.\.\. (min count' "$BATS_TEST_TMPDIR/list")" -eq 0 ]
	grep -A1 '^PM_DATA_FROM_RMEM: ' "$BATS_TEST_TMPDIR/list" | grep -q 'from the memory of another chip of the node'
	for type in ppc64/power8 ppc64/power10; do
		ophelp --cpu-type $type >"$BATS_TEST_TMPDIR/list"
		grep -A1 '^PM_MRK_DATA_FROM_MEMORY: ' "$BATS_TEST_TMPDIR/list" |
			grep -q 'Data cache reloads by marked loads from memory, near or far (min'
	done
}

@test "ophelp accepts CPU types by number or name and rejects unknown ones" {
	[ "$(ophelp --cpu-type 85 PM_CYC)" = 30 ]
	[ "$(ophelp --cpu-type ppc64/power9 PM_CYC)" = 30 ]
	run -0 ophelp --cpu-type ppc64/power8 -e PM_MRK_ST_NEST:100
	run -1 ophelp --cpu-type ppc64/power8 -e PM_MRK_ST_NEST:99
	[[ $output == *'Count 99 for event PM_MRK_ST_NEST is below the minimum 100'* ]]
	run -1 ophelp --cpu-type i386/skylak
	[[ $output == *"cpu_type 'i386/skylak' is not valid"* ]]
	ophelp --cpu-types | grep -q '^s390/z15  *IBM z15$'
	ophelp --cpu-type timer | grep -q 'timer'
}

@test "--xml and --json are valid and contain the same events" {
	ophelp --cpu-type x86-64/zen5 --xml >"$BATS_TEST_TMPDIR/list.xml"
	ophelp --cpu-type x86-64/zen5 --json >"$BATS_TEST_TMPDIR/list.json"
	python3 - "$BATS_TEST_TMPDIR" <<-'END'
	import json, sys, xml.etree.ElementTree as tree
	xml = tree.parse(sys.argv[1] + "/list.xml").getroot()
	data = json.load(open(sys.argv[1] + "/list.json"))
	assert xml.tag == "help_events" and xml.get("schemaversion") == "2.0"
	names = [e.get("event_name") for e in xml.iter("event")]
	assert names and names == [e["name"] for e in data["events"]]
	assert all(e.get("counter_mask") == "63" for e in xml.iter("event"))
	event = {e["name"]: e for e in data["events"]}["EX_RET_INSTR"]
	assert event["config"] == 0xC0, event
	END
}

@test "--search finds words in names, texts and masks, and reports if there are none" {
	ophelp --cpu-type i386/sierraforest --search LLC_MISS >"$BATS_TEST_TMPDIR/found"
	grep '^[A-Z_0-9]*: (counter' "$BATS_TEST_TMPDIR/found"
	! grep '^BACLEARS' "$BATS_TEST_TMPDIR/found"
	run -1 ophelp --cpu-type i386/sierraforest --search zebrafish
	[[ $output == *"no event contains 'zebrafish'"* ]]
}

@test "--search shows no event twice" {
	ophelp --cpu-type i386/skylake --search retired --json |
		python3 -c 'import json, sys; names = [e["name"] for e in json.load(sys.stdin)["events"]]; twice = sorted(n for n in names if names.count(n) > 1); print(len(names), twice); sys.exit(bool(twice) or not names)'
	ophelp --cpu-type i386/skylake --search retired >"$BATS_TEST_TMPDIR/found"
	[ -z "$(grep -o '^[A-Z0-9_.]*: (counter' "$BATS_TEST_TMPDIR/found" | sort | uniq -d)" ]
}

@test "--check-events accepts OProfile's and perf's syntax and reports errors" {
	run -0 ophelp --cpu-type i386/graniterapids -e LLC_MISSES:100000 \
		MEM_LOAD_RETIRED:10000:L3_MISS:0:1 mem_load_retired.l1_hit:5000:u
	[ "$output" = '0 1 2 ' ]
	run -1 ophelp --cpu-type i386/graniterapids -e CPU_CLK_UNHALTED:5999:THREAD
	[[ $output == *'Count 5999 for event CPU_CLK_UNHALTED is below the minimum 6000'* ]]
	run -1 ophelp --cpu-type i386/graniterapids --callgraph=2 -e CPU_CLK_UNHALTED:89999:THREAD
	[[ $output == *'Count 89999 for event CPU_CLK_UNHALTED is below the minimum 90000'* ]]
	run -0 ophelp --cpu-type i386/graniterapids --callgraph=2 -e CPU_CLK_UNHALTED:90000:THREAD
	run -0 ophelp --cpu-type i386/graniterapids --callgraph=0 -e CPU_CLK_UNHALTED:6000:THREAD
	run -1 ophelp --cpu-type i386/graniterapids -e MEM_LOAD_RETIRD:10000
	[[ $output == *'No event named MEM_LOAD_RETIRD is available. (Did you mean MEM_LOAD_RETIRED or '* ]]
	run -1 ophelp --cpu-type i386/skylake -e inst_retird:10000
	[[ $output == *'(Did you mean INST_RETIRED or BR_INST_RETIRED?)'* ]]
	run -1 ophelp --cpu-type x86-64/zen3 -e llc_mises:10000
	[[ $output == *'(Did you mean LLC_MISSES?)'* ]]
	run -1 ophelp --cpu-type i386/graniterapids -e MEM_LOAD_RETIRED:10000:L9_HIT
	[[ $output == *'Cannot find unit mask L9_HIT for MEM_LOAD_RETIRED (Did you mean L1_HIT, L2_HIT'*'Its unit masks: 0x40 FB_HIT, 0x01 L1_HIT, '* ]]
	run -0 ophelp -e page-faults TIMER:250
	[[ $output == *'N/A N/A '* ]]
}

@test "--check-events accepts the kernel's events on every CPU, as operf does" {
	run -0 ophelp --cpu-type i386/skylake -e cycles:ppp TIMER page-faults:100 cache-misses:10000:u \
		L1-dcache-load-misses:1000
	[ "$output" = '0 N/A N/A 1 2 ' ]
	run -0 ophelp --cpu-type arm/armv8-neoverse-n1 -e cycles:k TIMER:250
	[ "$(ophelp --cpu-type ppc64/power9 branch-misses)" = 5 ]
}

@test "a missing unit mask and an ambiguous default mask are explained" {
	ophelp --cpu-type i386/graniterapids >"$BATS_TEST_TMPDIR/list"
	grep -A2 '^ITLB_MISSES: ' "$BATS_TEST_TMPDIR/list" | grep -qx '	Unit masks (no default, one must be given)'
	grep -A2 '^INST_RETIRED: ' "$BATS_TEST_TMPDIR/list" | grep -q '	Unit masks (default 0x'
	ophelp --cpu-type i386/graniterapids --xml >"$BATS_TEST_TMPDIR/list.xml"
	grep -q '^<help_events  schemaversion="2.0">$' "$BATS_TEST_TMPDIR/list.xml"
	grep -q '^ <header  title="Intel Granite Rapids" doc="See Intel Architecture Developer.*Appendix A and Intel Architecture Opt.*"/>$' "$BATS_TEST_TMPDIR/list.xml"
	grep -A1 '^ <event  event_name="ITLB_MISSES"' "$BATS_TEST_TMPDIR/list.xml" | grep -qx '  <unit_masks  default="0" category="bitmask">'
	grep -q '^   <unit_mask  name="' "$BATS_TEST_TMPDIR/list.xml"
}

@test "--unit-mask, --extra-mask, --get-cpu-type, --get-default-event" {
	[ "$(ophelp -c i386/graniterapids -u MEM_LOAD_RETIRED:10000:L3_MISS)" = 32 ]
	[ "$(ophelp -c i386/graniterapids -i -u MEM_LOAD_RETIRED:L3_MISS)" = 32 ]
	[ "$(ophelp -c i386/graniterapids -E CYCLE_ACTIVITY:10000:CYCLES_L1D_MISS)" = $((8 << 24)) ]
	[ "$(ophelp -c i386/graniterapids -d)" = CPU_CLK_UNHALTED:100000:0:1:1 ]
	[ "$(ophelp -c arm/armv8-neoverse-n1 -d)" = CPU_CYCLES:100000:0:1:1 ]
	[ "$(ophelp -c arm/armv8-neoverse-n1 -r)" = arm/armv8-neoverse-n1 ]
}

@test "op-check-perfevents exits with the errno of perf_event_open" {
	status=0
	timeout 60 "$OPROFILE_LINKS/op-check-perfevents" -v >"$BATS_TEST_TMPDIR/said" || status=$?
	cat "$BATS_TEST_TMPDIR/said"
	if [ "$status" -eq 0 ]; then
		grep -qx 'perf_event_open: success' "$BATS_TEST_TMPDIR/said"
	else
		grep -q "(errno $status)" "$BATS_TEST_TMPDIR/said"
	fi
	[ -z "$(timeout 60 "$OPROFILE_LINKS/op-check-perfevents" || true)" ]
}

# Sets up a libpfm.so.4 that the build did not use and that the loader finds first.
with_other_pfm()
{
	REAL_PFM=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p | awk '/libpfm\.so\.4 / { print $NF; exit }') || true
	[ -f "$OTHER_PFM" ] && [ -n "$REAL_PFM" ] || skip "no libpfm4 in this build or on this machine"
	export REAL_PFM
	unset LD_LIBRARY_PATH
	mkdir -p "$BATS_TEST_TMPDIR/other"
	cp "$OTHER_PFM" "$BATS_TEST_TMPDIR/other/libpfm.so.4"
}

@test "the built-in list of libpfm4's events matches libpfm4 for every CPU" {
	with_other_pfm
	nr=0
	for type in $(ophelp --cpu-types | awk '!/no events known/ { print $1 }'); do
		for form in --color=never --xml --json; do
			ophelp --cpu-type "$type" "$form" >"$BATS_TEST_TMPDIR/noted" 2>&1 || true
			LD_LIBRARY_PATH=$BATS_TEST_TMPDIR/other ophelp --cpu-type "$type" "$form" \
				>"$BATS_TEST_TMPDIR/told" 2>&1 || true
			cmp "$BATS_TEST_TMPDIR/noted" "$BATS_TEST_TMPDIR/told" || { echo "$type $form"; false; }
			nr=$((nr + 1))
		done
	done
	[ "$nr" -gt 100 ]
}

@test "ophelp reads the libpfm4 that is loaded, not the one that was used for the build" {
	with_other_pfm
	! ophelp --cpu-type i386/core_2 | grep -q 'as the other one says'
	OTHER_ABOUT='as the other one says' LD_LIBRARY_PATH=$BATS_TEST_TMPDIR/other ophelp --cpu-type i386/core_2 |
		grep -q '	as the other one says (min count: '
}

@test "ophelp reads another libpfm4 in /usr/local if the loader prefers it" {
	need_root
	with_other_pfm
	unshare --mount mount -t tmpfs none /usr/local/lib || skip "nothing can be mounted here: NOT TESTED"
	OTHER_ABOUT='as the other one says' run -0 unshare --mount bash -c '
		mount -t tmpfs none /usr/local/lib && cp "$1" /usr/local/lib/ &&
			PATH=$PATH:/sbin:/usr/sbin ldconfig -C "$2" && mount --bind "$2" /etc/ld.so.cache &&
			"$3" events --cpu-type i386/core_2' - "$BATS_TEST_TMPDIR/other/libpfm.so.4" \
		"$BATS_TEST_TMPDIR/cache" "$OPROFILE"
	grep -q '	as the other one says (min count: ' <<<"$output"
}

@test "without libpfm4, its events are listed and counted, except with several masks" {
	with_other_pfm
	echo 'no library' >"$BATS_TEST_TMPDIR/other/libpfm.so.4"
	for form in --color=never --xml --json; do
		ophelp --cpu-type i386/core_2 "$form" >"$BATS_TEST_TMPDIR/noted"
		LD_LIBRARY_PATH=$BATS_TEST_TMPDIR/other ophelp --cpu-type i386/core_2 "$form" >"$BATS_TEST_TMPDIR/alone"
		cmp "$BATS_TEST_TMPDIR/noted" "$BATS_TEST_TMPDIR/alone"
	done
	export LD_LIBRARY_PATH=$BATS_TEST_TMPDIR/other
	run -0 ophelp --cpu-type i386/core_2 -u L2_LINES_IN:100000:SELF
	run -1 ophelp --cpu-type i386/core_2 -u L2_LINES_IN:100000:SELF+PREFETCH
	[[ $output == *'install libpfm4'* ]]
}

@test "ophelp --xml is valid by OProfile's schema" {
	[ -d "${OPROFILE_SCHEMAS:-}" ] || skip "OPROFILE_SCHEMAS does not name a directory of OProfile's schemas"
	for cpu in x86-64/generic i386/graniterapids arm/armv8-neoverse-n1; do
		ophelp --cpu-type "$cpu" --xml >"$BATS_TEST_TMPDIR/list.xml"
		xmllint --noout --schema "$OPROFILE_SCHEMAS/ophelp.xsd" "$BATS_TEST_TMPDIR/list.xml"
	done
}
