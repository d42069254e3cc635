#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# oprofile status: the state of a daemon.

load helpers

setup()
{
	export OPROFILE_RUN_DIR=$BATS_TEST_TMPDIR/run
	need python3
	daemon=
}

teardown()
{
	[ -z "$daemon" ] || kill -KILL "$daemon" 2>/dev/null || true
	wait
}

stand_in()
{
	asked=$BATS_TEST_TMPDIR/asked
	: >"$asked"
	python3 "$SOURCE_ROOT/tests/cmd/stand_in_daemon.py" "$OPROFILE_RUN_DIR" "$asked" "$@" 3>&- &
	daemon=$!
	wait_for "$asked" '^listening'
}

@test "status prints one line per value" {
	stand_in "status=state running|pid 17|session_dir /some/where|event.0 TIMER:0:0:1:1|event.1 page-faults:100:0:1:1|rate 99|samples 199|lost 1|cost_cpu 0.00123|cost_kernel 0.00375|cpu_seconds 12.34|tables_refused 3|metrics 127.0.0.1:9100|memory 23456789|disk 5000000|oldest $(($(date +%s) - 7205))|governor 50 Hz since 08:00|ok"
	TZ=UTC run "$OPROFILE" status
	[ "$status" -eq 0 ]
	diff <(echo "$output" | sed 's/[-0-9]* [:0-9]* (/DATE (/') - <<-END
		Daemon      running, pid 17
		Session     /some/where
		Event       TIMER:0:0:1:1
		Event       page-faults:100:0:1:1
		Rate        99 samples per second and CPU
		Samples     199, 1 lost (0.50 %) since the daemon started
		CPU         0.12 % of one CPU, 12.3 s in total
		Kernel      about 0.38 % of one CPU, to take the samples
		Tables      3 not made: their owners' CPU time for them was used up
		Memory      23.5 MB
		Disk        5.0 MB
		Oldest data DATE (2 hours ago)
		Governor    50 Hz since 08:00
		Metrics     http://127.0.0.1:9100/metrics
	END
}

@test "status leaves out unknown values" {
	stand_in 'status=state paused|pid 17|session_dir /some/where|rate 99|samples 0|lost 0|oldest 0|ok'
	run "$OPROFILE" status
	[ "$status" -eq 0 ]
	diff <(echo "$output") - <<-END
		Daemon      paused, pid 17
		Session     /some/where
		Rate        99 samples per second and CPU
		Samples     0, 0 lost (0.00 %) since the daemon started
		Oldest data none
	END
}

@test "--json prints all values" {
	stand_in 'status=state running|pid 17|session_dir /a "b"|event.0 TIMER:0:0:1:1|rate 99|samples 199|lost 1|cost_cpu 0.25|cost_kernel 0.5|cpu_seconds 1.250|tables_cpu_seconds 0.75|tables_refused 0|metrics 127.0.0.1:9|memory 2|disk 3|oldest 4|callgraph whole|ok'
	"$OPROFILE" status --json >"$BATS_TEST_TMPDIR/status.json"
	python3 - "$BATS_TEST_TMPDIR/status.json" <<-'END'
		import json, sys
		got = json.load(open(sys.argv[1]))
		want = {"schema": "oprofile-status/1", "events": ["TIMER:0:0:1:1"], "state": "running",
		    "pid": 17, "session_dir": '/a "b"', "rate": 99, "samples": 199, "lost": 1,
		    "cost_cpu": 0.25, "cost_kernel": 0.5, "cpu_seconds": 1.25,
		    "tables_cpu_seconds": 0.75, "tables_refused": 0,
		    "metrics": "127.0.0.1:9", "memory": 2, "disk": 3, "oldest": 4, "callgraph": "whole"}
		assert got == want, got
	END
}

@test "status without a daemon fails with the path of the socket" {
	run "$OPROFILE" status
	[ "$status" -eq 1 ]
	[ "$output" = "oprofile status: no daemon is listening at $OPROFILE_RUN_DIR/control" ]
}
