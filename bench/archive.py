#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures archives: operf and perf record a compile job system-wide at the same time, then
oparchive --no-debug-files and perf archive each archive their own recording.

Our archive has the parts of each binary that reports read; a second row shows --whole-binaries,
like perf's archive. A third row includes separate debug files, because perf adds them to its cache.

The size is that of our one file, compared with perf's two: another machine needs both perf.data and
perf.data.tar.bz2. Filling perf's cache, which happens during the recording, is not counted.
"""
import argparse
import os
import re
import shutil
import sys
import tempfile
import time

from common import ratio, run, table


# After the job, perf continues for seconds: it reads its file again for build-ids. Programs that
# run meanwhile do not belong to the job.
SCRIPT = """
    pid=$1 seconds=$2 jobs=$3 job=$4
    shift 4
    "$@" & echo $! >"$pid"
    "$job" "$seconds" "$jobs"
    kill -INT "$(cat "$pid")"
"""


FORMS = (("oparchive --no-debug-files", ["--no-debug-files"]),
         ("oparchive --no-debug-files --whole-binaries",
          ["--no-debug-files", "--whole-binaries"]),
         ("oparchive", []))


def wait_for(pid):
    while os.path.exists(f"/proc/{pid}"):
        time.sleep(0.2)


def record(programs, directory, env, options, chains):
    """Makes both recordings at once, so that they see the same job."""
    perf_pid = os.path.join(directory, "perf-pid")
    session = os.path.join(directory, "session")
    data = os.path.join(directory, "perf.data")
    shutil.rmtree(session, ignore_errors=True)
    os.mkdir(session)
    command = [programs["oprofile"], "record", "--session-dir", session, "--system-wide",
               "--frequency", str(options.rate)] + (["--callgraph=fp"] if chains else [])
    command += ["sh", "-c", SCRIPT, "sh", perf_pid, str(options.seconds), str(options.jobs),
                programs["job"], "perf", "record", "-q", "-a", "-o", data, "-e",
                "cpu-clock", "-F", str(options.rate)] + (["-g"] if chains else [])
    done = run(command, env)
    with open(perf_pid, encoding="ascii") as text:
        wait_for(int(text.read()))
    if done.status or not os.path.exists(data):
        print(f"recording: status {done.status}: {done.err.strip()}", file=sys.stderr)
        return None
    samples = re.search(r"(\d+) samples[,)]", done.err)
    return {"session": session, "data": data,
            "samples": int(samples.group(1)) if samples else 0}


def folder_bytes(folder):
    return sum(os.path.getsize(os.path.join(at, name))
               for at, _, names in os.walk(folder) for name in names)


def archive(command, env, runs):
    """Returns the minimum CPU time of several runs."""
    best = None
    for _ in range(runs):
        done = run(command, env)
        if done.status not in (0, 3):
            print(f"{command[0]}: status {done.status}: {done.err.strip()}",
                  file=sys.stderr)
            return None
        if best is None or done.cpu_s < best.cpu_s:
            best = done
    return best


def measure(programs, options, directory, chains):
    env = dict(os.environ, HOME=directory)
    env.pop("PERF_BUILDID_DIR", None)
    made = record(programs, directory, env, options, chains)
    if not made:
        return 1
    data, megabyte = made["data"], 1e6
    theirs = archive(["perf", "archive", data], env, options.runs)
    rows, figures = [], {}
    if not theirs:
        return 1
    packed = os.path.getsize(data + ".tar.bz2")
    figures["perf"] = (theirs.cpu_s, os.path.getsize(data) + packed)
    rows.append(["perf archive", theirs.cpu_s, theirs.wall_s,
                 os.path.getsize(data) / megabyte, packed / megabyte,
                 figures["perf"][1] / megabyte])
    for name, more in FORMS:
        out = os.path.join(directory, "out.oparchive")
        ours = archive([programs["oprofile"], "archive", "--session-dir", made["session"],
                        "--output", out] + more, env, options.runs)
        if not ours:
            return 1
        figures[name] = (ours.cpu_s, os.path.getsize(out))
        rows.append([name, ours.cpu_s, ours.wall_s,
                     folder_bytes(os.path.join(made["session"], "samples", "current")) /
                     megabyte, os.path.getsize(out) / megabyte, figures[name][1] / megabyte])
    for name, _ in FORMS:
        rows.append([f"ratio {name}", ratio(figures[name][0], figures["perf"][0]), "", "", "",
                     ratio(figures[name][1], figures["perf"][1])])
    table(f"A compile job of {options.seconds} s, system-wide at {options.rate} Hz, "
          f"{'frame-pointer chains' if chains else 'flat'}, {made['samples']} samples, "
          f"least CPU time of {options.runs} runs",
          ["", "CPU [s]", "wall [s]", "recording [MB]", "archive [MB]", "together [MB]"], rows)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="the build folder")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--rate", type=int, default=997)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="10 s, flat, one run")
    parser.add_argument("--directory", default="/tmp", help="where the recordings go")
    options = parser.parse_args()
    if options.quick:
        options.seconds, options.runs = 10, 1
    build = os.path.abspath(options.build)
    here = os.path.dirname(os.path.abspath(__file__))
    programs = {"oprofile": os.path.join(build, "src", "tools", "oprofile"),
                "job": os.path.join(here, "compile_job")}
    status = 0
    for chains in (False,) if options.quick else (False, True):
        with tempfile.TemporaryDirectory(prefix="bench-", dir=options.directory) as directory:
            status |= measure(programs, options, directory, chains)
    return status


if __name__ == "__main__":
    sys.exit(main())
