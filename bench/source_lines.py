#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures reports with source lines: `opreport -g` and `--by line` of some 50 000 samples of this
program, without and with an index, compared with `perf report --sort srcline`.

Also compares the counts of each line."""
import argparse
import collections
import csv
import os
import re
import sys
import tempfile

from common import ratio, run, table

RATE_HZ = 20000
SAMPLES = 50000
# In libraries, perf resolves inlined functions differently. It names PLT entries, which have no
# line here.
SAME_SHARE = 0.99


def checked(argv, env=None):
    done = run(argv, env)
    if done.status:
        sys.exit(f"{' '.join(argv)}: status {done.status}: {done.err}")
    return done


def record(build, scratch, ours):
    """Records this program while it reports a perf.data. Returns the recording and the program."""
    made = os.path.join(scratch, "made.data")
    checked([os.path.join(build, "bench", "make_perf_data"), made, "100", "chains", ours])
    path = os.path.join(scratch, "perf.data")
    runs = 1
    while True:
        work = f"for i in $(seq {runs}); do {ours} report --no-pager --csv --threads 1 " \
               f"--by comm,dso,symbol,address {made} >{scratch}/out; done"
        checked(["perf", "record", "-q", "-e", "cpu-clock:u", "-F", str(RATE_HZ), "-o", path,
                 "--", "sh", "-c", work])
        done = checked([ours, "report", "--no-pager", "--csv", "--by", "event", path])
        samples = sum(int(row["samples"]) for row in csv.DictReader(done.out.splitlines()))
        if samples >= SAMPLES:
            return path, samples
        runs = runs * SAMPLES // max(samples, 1) + 1


def ours_by_line(text):
    lines = collections.Counter()
    for row in csv.DictReader(text.splitlines()):
        lines[row["line"].rsplit("/", 1)[-1]] += int(row["samples"])
    return lines


def perf_by_line(text):
    lines = collections.Counter()
    for line in text.splitlines():
        found = re.match(r"\s+[\d.]+%\s+(\d+)\s+(\S.*?)\s*$", line)
        if found:
            name = "(no location information)" if found[2] == "??:0" else found[2]
            lines[name.rsplit("/", 1)[-1]] += int(found[1])
    return lines


def row(name, done, base=None):
    return [name, done.cpu_s, done.wall_s, f"{done.rss_mb:.0f}",
            "" if base is None else ratio(done.cpu_s, base.cpu_s)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="the build folder")
    parser.add_argument("--quick", action="store_true", help="the same")
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    ours = os.path.join(build, "src", "tools", "oprofile")
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        path, samples = record(build, scratch, ours)
        env = dict(os.environ, XDG_CACHE_HOME=os.path.join(scratch, "cache"), DEBUGINFOD_URLS="")
        functions = [ours, "report", "--no-pager", "-l", "-g", path]
        lines = [ours, "report", "--no-pager", "--csv", "--by", "line", path]
        cold = checked(functions, env)
        warm = checked(functions, env)
        by_line = checked(lines, env)
        perf = checked(["perf", "report", "-i", path, "--stdio", "-n", "-g", "none",
                        "--no-children", "--sort", "srcline"], env)
        mine, theirs = ours_by_line(by_line.out), perf_by_line(perf.out)
        same = sum(min(mine[line], theirs[line]) for line in mine)
        table(f"Source lines of {samples} samples", ["", "CPU [s]", "wall [s]", "peak [MB]",
              "CPU / first"],
              [row("opreport -l -g, no index", cold), row("opreport -l -g", warm, cold),
               row("opreport --by line", by_line, cold),
               row("perf report --sort srcline", perf, cold)])
        print(f"  {same / samples:.2%} of the samples have the same line as in perf's report",
              flush=True)
        return 0 if same >= SAME_SHARE * samples else 1


if __name__ == "__main__":
    sys.exit(main())
