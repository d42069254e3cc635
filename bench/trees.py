#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures trees of call stacks, compared with perf. Runs alternate; figures are minimums.

The recordings are a compile job with complete call chains and with stack dumps, and stack dumps of
a program with debug information, whose inlined functions are shown. "cold" means that no table or
index is cached.

Then computes the unwinding time per frame: the time of a report with callers, less that without,
divided by the number of frames that `oprofile script` and `perf script` print.

`--inlined` with a compile job's stack dumps (60 MB are some 7000) shows that perf needs minutes for
programs without debug information.

perf needs some 50 times the file's size in memory for the first report. --chains, --stacks and
--inlined name other files; NONE omits one.
"""
import argparse
import ctypes
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

from common import run, table

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = {"chains": 45, "stacks": 20}
SECONDS_QUICK = {"chains": 8, "stacks": 5}
CHAINS_HZ = 9973
STACKS_HZ = 2500
INLINED_HZ = 2500
INLINED_RUNS = 6 # some 60 MB
NONE = "NONE"
PR_SET_CHILD_SUBREAPER = 36


def checked(argv):
    done = run(argv)
    if done.status:
        sys.exit(f"{' '.join(argv)}: status {done.status}: {done.err}")


def measured(argv, env):
    """Returns CPU seconds, wall seconds and megabytes of a command and all processes it started.
    perf leaves its addr2line running when it exits."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    pid = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, env=env).pid
    _, status, usage = os.wait4(pid, 0)
    wall_s = time.monotonic() - begin
    if status:
        sys.exit(f"{' '.join(argv)}: status {os.waitstatus_to_exitcode(status)}")
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return cpu_s, wall_s, usage.ru_maxrss / 1024


class Turns:
    """Runs the commands alternately. Returns the minimum CPU and wall time and the maximum memory
    of each."""

    def __init__(self, cache, times):
        self.cache = cache
        self.times = times
        self.env = dict(os.environ, XDG_CACHE_HOME=cache, DEBUGINFOD_URLS="")

    def rows(self, commands):
        """Maps [(name, argv, cold, times)] to [[name, CPU, wall, MB]]."""
        best = {name: [9e9, 9e9, 0] for name, *_ in commands}
        for turn in range(self.times):
            for name, argv, cold, times in commands:
                if turn >= times:
                    continue
                if cold:
                    shutil.rmtree(self.cache, ignore_errors=True)
                cpu_s, wall_s, rss_mb = measured(argv, self.env)
                old = best[name]
                best[name] = [min(old[0], cpu_s), min(old[1], wall_s), max(old[2], rss_mb)]
        return [[name, *best[name]] for name, *_ in commands]


def show(title, path, rows):
    """Adds the CPU time relative to perf's, which is the last row."""
    theirs = rows[-1][1]
    table(f"{title}: {os.path.getsize(path) / 1e6:.0f} MB",
          ["", "CPU [s]", "wall [s]", "peak [MB]", "perf's CPU / its"],
          [[name, cpu, wall, f"{mb:.0f}", f"{theirs / max(cpu, 1e-3):.1f}"]
           for name, cpu, wall, mb in rows])
    return rows


def perf_report(path, *words):
    return ["perf", "report", "-i", path, "--stdio", *words]


def chains(turns, ours, path):
    report = [ours, "report", "--no-pager"]
    show("Call chains", path, turns.rows([
        ("opreport --tree", [*report, "--tree", path], False, turns.times),
        ("opreport --tree --threads 1", [*report, "--threads", "1", "--tree", path], False,
         turns.times),
        ("opreport --callgraph", [*report, "--callgraph", path], False, turns.times),
        ("perf report", perf_report(path), False, 1)]))


def printed_frames(argv, env):
    """Returns the number of lines with addresses that a script prints."""
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env,
                          text=True, errors="replace") as made:
        return sum(line[:1] in "\t " and line.strip() != "" for line in made.stdout)


def per_frame(turns, ours, path, with_callers):
    """Returns the nanoseconds per frame, ours and perf's."""
    flat = turns.rows([
        ("ours", [ours, "report", "--no-pager", "--by", "image,symbol", path], False,
         turns.times),
        ("perf", perf_report(path, "--no-inline", "--no-children", "-g", "none"), False, 2)])
    frames = [printed_frames([ours, "script", "--fields", "ip", path], turns.env),
              printed_frames(["perf", "script", "-i", path, "--no-inline", "-F", "ip"], turns.env)]
    callers = [with_callers[0][1], with_callers[-1][1]]
    spent = [callers[i] - flat[i][1] for i in range(2)]
    table("Unwinding", ["", "CPU for callers [s]", "frames", "ns a frame"],
          [[name, spent[i], f"{frames[i]}", f"{1e9 * spent[i] / max(frames[i], 1):.0f}"]
           for i, name in enumerate(["opreport --tree, cold", "perf report -g"])])


def stacks(turns, ours, path):
    tree = [ours, "report", "--no-pager", "--no-inline", "--tree", path]
    rows = show("Stack dumps", path, turns.rows([
        ("opreport --tree --no-inline, cold", tree, True, turns.times),
        ("opreport --tree --no-inline", tree, False, turns.times),
        ("perf report --no-inline --no-children -g",
         perf_report(path, "--no-inline", "--no-children", "-g"), False, 2)]))
    per_frame(turns, ours, path, rows)


def inlined(turns, ours, path):
    tree = [ours, "report", "--no-pager", "--tree", path]
    show("Stack dumps, inlined functions", path, turns.rows([
        ("opreport --tree, cold", tree, True, turns.times),
        ("opreport --tree", tree, False, turns.times),
        ("perf report -g", perf_report(path, "-g"), False, 1)]))


def record_chains(ours, scratch, seconds):
    path = os.path.join(scratch, "chains.data")
    checked([ours, "record", "-F", str(CHAINS_HZ), "--callgraph", "-d", scratch,
             f"--perf-data={path}", os.path.join(HERE, "compile_job"), str(seconds), "2"])
    return path


def record_stacks(_, scratch, seconds):
    path = os.path.join(scratch, "stacks.data")
    checked(["perf", "record", "-q", "-F", str(STACKS_HZ), "--call-graph", "dwarf", "-o", path,
             "--", os.path.join(HERE, "compile_job"), str(seconds), "2"])
    return path


def record_inlined(ours, scratch, chains_path):
    path = os.path.join(scratch, "inlined.data")
    work = f"for i in $(seq {INLINED_RUNS}); do {ours} report --no-pager --tree {chains_path} " \
           f">{scratch}/out; done"
    checked(["perf", "record", "-q", "-F", str(INLINED_HZ), "--call-graph", "dwarf", "-o", path,
             "--", "sh", "-c", work])
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="the build folder")
    parser.add_argument("--quick", action="store_true", help="short recordings")
    parser.add_argument("--directory", default="/tmp", help="needs 1 GB")
    for kind in ("chains", "stacks", "inlined"):
        parser.add_argument(f"--{kind}", metavar="FILE", help="a perf.data, or NONE")
    options = parser.parse_args()
    ours = os.path.join(os.path.abspath(options.build), "src", "tools", "oprofile")
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    seconds = SECONDS_QUICK if options.quick else SECONDS
    with tempfile.TemporaryDirectory(prefix="bench-", dir=options.directory) as scratch:
        turns = Turns(os.path.join(scratch, "cache"), 3 if options.quick else 5)
        path = options.chains or record_chains(ours, scratch, seconds["chains"])
        if path != NONE:
            chains(turns, ours, path)
        dumps = options.stacks or record_stacks(ours, scratch, seconds["stacks"])
        if dumps != NONE:
            stacks(turns, ours, dumps)
        if options.inlined != NONE:
            work = path if path != NONE else dumps
            inlined(turns, ours, options.inlined or record_inlined(ours, scratch, work))
    return 0


if __name__ == "__main__":
    sys.exit(main())
