# ophelp and op-check-perfevents: they need no rights, no data and no hardware counters.
load helpers
bats_require_minimum_version 1.5.0

ophelp()
{
	timeout -k 5 60 "$OPROFILE_LINKS/ophelp" "$@"
}

@test "ophelp lists the events of any CPU, with counters, least counts and masks" {
	ophelp --cpu-type i386/graniterapids >"$BATS_TEST_TMPDIR/list"
	head -n 1 "$BATS_TEST_TMPDIR/list"
	[ "$(head -n 1 "$BATS_TEST_TMPDIR/list")" = 'oprofile: available events for CPU type "Intel Granite Rapids"' ]
	grep -A6 '^LONGEST_LAT_CACHE: (counter: 0, 1, 2, 3, 4, 5, 6, 7)$' "$BATS_TEST_TMPDIR/list" |
		grep '	0x41: (name=MISS) '
	grep '^LLC_MISSES: LONGEST_LAT_CACHE, unit mask 0x41$' "$BATS_TEST_TMPDIR/list"
	grep '^page-faults: ' "$BATS_TEST_TMPDIR/list"
}

@test "by number or by name; a type that does not exist is refused" {
	[ "$(ophelp --cpu-type 85 PM_CYC)" = 30 ]
	[ "$(ophelp --cpu-type ppc64/power9 PM_CYC)" = 30 ]
	run -1 ophelp --cpu-type i386/skylak
	[[ $output == *"cpu_type 'i386/skylak' is not valid"* ]]
	ophelp --cpu-types | grep -q '^s390/z15  *IBM z15$'
	ophelp --cpu-type timer | grep -q 'timer'
}

@test "--xml and --json are well-formed and hold the same events" {
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

@test "--search finds words in names, texts and masks, and says when there is none" {
	ophelp --cpu-type i386/sierraforest --search LLC_MISS >"$BATS_TEST_TMPDIR/found"
	grep '^[A-Z_0-9]*: (counter' "$BATS_TEST_TMPDIR/found"
	! grep '^BACLEARS' "$BATS_TEST_TMPDIR/found"
	run -1 ophelp --cpu-type i386/sierraforest --search zebrafish
	[[ $output == *'no event has "zebrafish"'* ]]
}

@test "--search shows no event twice" {
	ophelp --cpu-type i386/skylake --search retired --json |
		python3 -c 'import json, sys; names = [e["name"] for e in json.load(sys.stdin)["events"]]; twice = sorted(n for n in names if names.count(n) > 1); print(len(names), twice); sys.exit(bool(twice) or not names)'
	ophelp --cpu-type i386/skylake --search retired >"$BATS_TEST_TMPDIR/found"
	[ -z "$(grep -o '^[A-Z0-9_.]*: (counter' "$BATS_TEST_TMPDIR/found" | sort | uniq -d)" ]
}

@test "--check-events takes OProfile's and perf's forms, and names what is wrong" {
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
	[[ $output == *'No event named MEM_LOAD_RETIRD is available. (Did you mean MEM_LOAD_RETIRED?)'* ]]
	run -1 ophelp --cpu-type i386/graniterapids -e MEM_LOAD_RETIRED:10000:L9_HIT
	[[ $output == *'Cannot find unit mask L9_HIT for MEM_LOAD_RETIRED'* ]]
	run -0 ophelp -e page-faults TIMER:250
	[[ $output == *'N/A N/A '* ]]
}

@test "--unit-mask, --extra-mask, --get-cpu-type, --get-default-event" {
	[ "$(ophelp -c i386/graniterapids -u MEM_LOAD_RETIRED:10000:L3_MISS)" = 32 ]
	[ "$(ophelp -c i386/graniterapids -i -u MEM_LOAD_RETIRED:L3_MISS)" = 32 ]
	[ "$(ophelp -c i386/graniterapids -E CYCLE_ACTIVITY:10000:CYCLES_L1D_MISS)" = $((8 << 24)) ]
	[ "$(ophelp -c i386/graniterapids -d)" = CPU_CLK_UNHALTED:100000:0:1:1 ]
	[ "$(ophelp -c arm/armv8-neoverse-n1 -d)" = CPU_CYCLES:100000:0:1:1 ]
	[ "$(ophelp -c arm/armv8-neoverse-n1 -r)" = arm/armv8-neoverse-n1 ]
}

@test "op-check-perfevents: its status is the errno of perf_event_open" {
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
