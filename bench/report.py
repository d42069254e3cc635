#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures a report: `opreport --symbols` on a generated session of 10 million samples in 100
libraries, compared with `perf report --sort dso,symbol` on a perf.data of the same samples.

CPU time and peak memory are medians of the runs. Both programs run once before, so that all files
are cached. Finally, compares the counts of all symbols.
"""
import argparse
import csv
import io
import os
import re
import subprocess
import sys
import tempfile

from common import median, ratio, run, table

FUNCTIONS_PER_LIBRARY = 200


def library_source(number):
    """Returns the source of C functions of different lengths, which no compiler can merge or
    drop."""
    lines = ["#include <stdint.h>"]
    for i in range(FUNCTIONS_PER_LIBRARY):
        name = f"lib{number:03d}_function_{i:03d}"
        statements = " ".join(
            f"a = a * {2 * (number * 1000 + i * 17 + j) + 3}u ^ (a >> {j % 29 + 1});"
            for j in range(3 + i % 23))
        lines.append(f"uint32_t {name}(uint32_t a); uint32_t {name}(uint32_t a) "
                     f"{{ {statements} return a; }}")
    return "\n".join(lines)


def make_libraries(directory, nr):
    paths = []
    for number in range(nr):
        source = os.path.join(directory, f"lib{number:03d}.c")
        path = source[:-2] + ".so"
        with open(source, "w", encoding="ascii") as out:
            out.write(library_source(number))
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-Wl,--build-id", "-o", path,
                        source], check=True)
        paths.append(path)
    return paths


def counts_of_ours(command):
    """Returns {(library, symbol): samples} of the machine-readable form of the same report."""
    done = run(command)
    counts = {}
    for row in csv.DictReader(io.StringIO(done.out)):
        key = os.path.basename(row["image"]), row["symbol"]
        counts[key] = counts.get(key, 0) + int(row["samples"])
    return counts


def counts_of_perf(data):
    done = run(["perf", "report", "-i", data, "--stdio", "-g", "none", "--no-children", "-n",
                "--sort", "dso,symbol"])
    counts = {}
    for line in done.out.splitlines():
        match = re.match(r"\s*[\d.]+%\s+(\d+)\s+(\S+)\s+\[[.k]\] (\S+)", line)
        if match:
            key = match.group(2), match.group(3)
            counts[key] = counts.get(key, 0) + int(match.group(1))
    return counts


def compare(ours, perfs):
    keys = set(ours) | set(perfs)
    different = [key for key in keys if ours.get(key, 0) != perfs.get(key, 0)]
    print(f"  {len(keys)} symbols; samples: {sum(ours.values())} ours, "
          f"{sum(perfs.values())} perf's; different counts: {len(different)}")
    for key in sorted(different)[:5]:
        print(f"    {key[0]} {key[1]}: {ours.get(key, 0)} ours, {perfs.get(key, 0)} perf's")


def measure(options, build, directory, libraries, processes):
    oprofile = os.path.join(build, "src", "tools", "oprofile")
    session = os.path.join(directory, f"session-{processes}")
    data = os.path.join(directory, f"perf-{processes}.data")
    current = os.path.join(session, "samples", "current")
    os.makedirs(current)
    segment = os.path.join(current, "segment-000001")
    made = run([os.path.join(build, "bench", "make_session"), str(options.samples),
                str(processes), segment, data] + libraries)
    if made.status:
        sys.exit(made.err)
    ours = [oprofile, "report", "--session-dir", session]
    commands = {
        "opreport --symbols": ours + ["--symbols"],
        "perf report": ["perf", "report", "-i", data, "--stdio", "-g", "none",
                        "--no-children", "--sort", "dso,symbol"],
    }
    figures = {name: [] for name in commands}
    for number in range(options.runs + 1):
        for name, command in commands.items():
            done = run(command)
            if done.status:
                sys.exit(f"{name}: status {done.status}: {done.err}")
            if number:
                figures[name].append(done)
    rows = []
    for name, dones in figures.items():
        size = os.path.getsize(segment if name.startswith("op") else data)
        rows.append([name, median([d.cpu_s for d in dones]),
                     median([d.wall_s for d in dones]),
                     f"{median([d.rss_mb for d in dones]):.0f}", f"{size / 1e6:.0f}"])
    rows.append(["perf / ours"] + [ratio(float(rows[1][i]), float(rows[0][i]))
                                   for i in range(1, 5)])
    table(f"Report by symbol: {options.samples} samples, {options.images} libraries, "
          f"programs: {processes}, median of {options.runs} runs",
          ["", "CPU [s]", "wall [s]", "peak [MB]", "file [MB]"], rows)
    compare(counts_of_ours(ours + ["--by", "image,symbol", "--csv"]), counts_of_perf(data))
    os.unlink(data)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="the build folder")
    parser.add_argument("--samples", type=int, default=10_000_000)
    parser.add_argument("--images", type=int, default=100)
    parser.add_argument("--programs", default="1,40",
                        help="one measurement for each of these numbers; with several, "
                        "opreport keeps the functions of each apart and perf does not")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="1 million samples, 3 runs")
    parser.add_argument("--directory", default="/tmp", help="needs 50 bytes a sample")
    options = parser.parse_args()
    if options.quick:
        options.samples, options.runs = 1_000_000, 3
    with tempfile.TemporaryDirectory(prefix="bench-", dir=options.directory) as directory:
        libraries = make_libraries(directory, options.images)
        for processes in options.programs.split(","):
            measure(options, os.path.abspath(options.build), directory, libraries,
                    int(processes))
    return 0


if __name__ == "__main__":
    sys.exit(main())
