#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures reading a perf.data file.

Compares `opreport --by comm,dso,symbol` with the same report of perf and with a thread that adds up
the words of the file; `oprofile script` with `perf script`; trees of call chains with perf's. Then
measures how time and memory grow with the number of samples, and `oprofile diff` of two files
against the report of a single file.

Every file is generated for this run, and is not cached when it is first read. Figures that are not
marked "from disk" are with the file in the page cache; ours and perf's runs alternate in random
order. All figures are medians of several runs, except perf's from disk if those take long: free
pages that can be filled quickly are not always available to the kernel."""
import argparse
import os
import random
import sys
import tempfile

from common import median, ratio, run, table
from report import make_libraries

LIBRARIES = 60
RUNS = 5
DISK_RUNS = 9
QUICK_S = 3 # perf's report is run this often
# Name, megabytes, kind, and whether to compare perf script.
FILES = [
    ("100 MB flat", 100, "flat", True),
    ("100 MB call chains", 100, "chains", True),
    ("600 MB flat", 600, "flat", False),
    ("1 GB call chains", 1000, "chains", False),
    ("1 GB user stacks", 1000, "stacks", False),
]
DIFF_MB = 1000 # each
TREES_MB = 100 # perf needs 10 GB of memory for 100 MB of such chains
BYTES_A_SAMPLE = 52 # of a flat file, with its side band
GROWTH = [1, 2, 5, 10, 20, 50] # million samples


def forget(path):
    """Makes the kernel drop the file from the page cache."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(fd)


def checked(argv, forget_path=None):
    if forget_path:
        forget(forget_path)
    done = run(argv, keep_output=False)
    if done.status:
        sys.exit(f"{' '.join(argv)}: status {done.status}: {done.err}")
    return done


def make(build, path, megabytes, kind, libraries):
    made = run([os.path.join(build, "bench", "make_perf_data"), path, str(megabytes), kind]
               + libraries)
    if made.status:
        sys.exit(made.err)


def row(name, done, base=None):
    return [name, done.cpu_s, done.wall_s, f"{done.rss_mb:.0f}",
            "" if base is None else ratio(done.cpu_s, base.cpu_s),
            "" if base is None else ratio(done.wall_s, base.wall_s)]


def in_turn(commands, runs=RUNS, forget_path=None):
    """Runs all commands this many times, each round in random order: a command that runs after one
    that freed a gigabyte gets other pages than one after a command that allocated it. Returns
    the medians of each command's runs."""
    done = [[] for _ in commands]
    for _ in range(runs):
        for i in random.sample(range(len(commands)), len(commands)):
            done[i].append(checked(commands[i], forget_path))
    return [Median(runs) for runs in done]


class Median:
    def __init__(self, runs):
        self.cpu_s = median([done.cpu_s for done in runs])
        self.wall_s = median([done.wall_s for done in runs])
        self.rss_mb = max(done.rss_mb for done in runs)


def measure_file(build, path, name, script):
    ours = os.path.join(build, "src", "tools", "oprofile")
    report = [ours, "report", "--no-pager", "--by", "comm,dso,symbol", path]
    words = [os.path.join(build, "bench", "sum_words"), path]
    perf = ["perf", "report", "-i", path, "--stdio", "-g", "none", "--no-children",
            "--sort", "comm,dso,symbol"]
    cold_perf = checked(perf, path)
    if cold_perf.wall_s < QUICK_S:
        cold, cold_words, cold_perf = in_turn([report, words, perf], DISK_RUNS, path)
    else:
        cold, cold_words = in_turn([report, words], DISK_RUNS, path)
    checked(words) # data that we read from disk is not cached
    warm, warm_words, touch, warm_perf = in_turn(
        [report, words, [os.path.join(build, "bench", "touch_records"), path], perf])
    rows = [row("oprofile report, from disk", cold),
            row("sum of words, from disk", cold_words, cold),
            row("perf report, from disk", cold_perf, cold),
            row("oprofile report", warm),
            row("sum of words", warm_words, warm),
            row("touching each record", touch, warm),
            row("perf report", warm_perf, warm)]
    if script:
        mine, perfs = in_turn([[ours, "script", path], ["perf", "script", "-i", path]])
        rows += [row("oprofile script", mine), row("perf script", perfs, mine)]
    table(f"{name}: {os.path.getsize(path) / 1e6:.0f} MB",
          ["", "CPU [s]", "wall [s]", "peak [MB]", "CPU / ours", "wall / ours"], rows)


def measure_trees(build, path, name):
    """Measures self and inclusive counts and the call graph, the default of perf report."""
    ours = os.path.join(build, "src", "tools", "oprofile")
    report = [ours, "report", "--no-pager"]
    tree = checked(report + ["--tree", path])
    rows = [row("opreport --tree", tree),
            row("opreport --callgraph", checked(report + ["--callgraph", path]), tree),
            row("opreport --by comm,dso,symbol --children",
                checked(report + ["--by", "comm,dso,symbol", "--children", path]), tree),
            row("perf report", checked(["perf", "report", "-i", path, "--stdio"]), tree)]
    table(f"Trees: {name}: {os.path.getsize(path) / 1e6:.0f} MB",
          ["", "CPU [s]", "wall [s]", "peak [MB]", "CPU / ours", "wall / ours"], rows)


def measure_growth(build, scratch, libraries, limit):
    rows = []
    for million in GROWTH:
        if million > limit:
            break
        path = os.path.join(scratch, "growth.data")
        make(build, path, million * BYTES_A_SAMPLE, "flat", libraries)
        done = checked([os.path.join(build, "src", "tools", "oprofile"), "report",
                        "--no-pager", "--by", "comm,dso,symbol", path])
        size = os.path.getsize(path)
        rows.append([f"{million}", f"{size / 1e6:.0f}", done.cpu_s,
                     done.cpu_s / (size / 1e9), f"{done.rss_mb:.0f}"])
        os.unlink(path)
    table("Growth: flat, comm,dso,symbol",
          ["samples [million]", "file [MB]", "CPU [s]", "CPU a GB [s]", "peak [MB]"], rows)


def measure_diff(build, scratch, libraries, kind, megabytes):
    paths = [os.path.join(scratch, f"{side}.data") for side in ("base", "new")]
    for number, path in enumerate(paths):
        make(build, path, megabytes + number, kind, libraries)
    ours = os.path.join(build, "src", "tools", "oprofile")
    report = [ours, "report", "--no-pager"]
    images, symbols, diff = in_turn([report + paths[:1], report + ["--symbols"] + paths[:1],
                                     [ours, "diff"] + paths])
    rows = [[name, done.cpu_s, done.wall_s, f"{done.rss_mb:.0f}", ratio(diff.cpu_s, done.cpu_s)]
            for name, done in (("oprofile report", images),
                               ("oprofile report --symbols", symbols),
                               ("oprofile diff", diff))]
    table(f"Comparison: {kind}: 2 files of {megabytes} MB",
          ["", "CPU [s]", "wall [s]", "peak [MB]", "CPU of diff / this"], rows)
    for path in paths:
        os.unlink(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="the build folder")
    parser.add_argument("--quick", action="store_true",
                        help="the small files, and growth to 5 million samples")
    parser.add_argument("--directory", default="/tmp", help="needs 3 GB")
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    with tempfile.TemporaryDirectory(prefix="bench-", dir=options.directory) as scratch:
        libraries = make_libraries(scratch, LIBRARIES)
        for name, megabytes, kind, script in FILES:
            if options.quick and megabytes > 100:
                continue
            path = os.path.join(scratch, "perf.data")
            make(build, path, megabytes, kind, libraries)
            measure_file(build, path, name, script)
            if kind == "chains" and megabytes <= TREES_MB:
                measure_trees(build, path, name)
            os.unlink(path)
        measure_growth(build, scratch, libraries, 5 if options.quick else 50)
        for kind in ("flat", "chains"):
            measure_diff(build, scratch, libraries, kind, 100 if options.quick else DIFF_MB)
    return 0


if __name__ == "__main__":
    sys.exit(main())
