#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures the size of a recording: a system-wide recording of a compile job, in bytes per sample,
compared with perf's file of the same samples (--perf-data).

Kernel symbols are shown separately, because they are stored once per boot and shared by all
sessions.
"""
import argparse
import os
import re
import shutil
import sys
import tempfile

from common import run, table


def measure(options, oprofile, directory, chains):
    """Makes a recording. Returns a row of the table, or None."""
    session = os.path.join(directory, "session")
    data = os.path.join(directory, "perf.data")
    shutil.rmtree(session, ignore_errors=True)
    os.mkdir(session)
    job = os.path.join(os.path.dirname(os.path.abspath(__file__)), "compile_job")
    done = run([oprofile, "record", "--session-dir", session, "--system-wide",
                "--frequency", str(options.rate), "--perf-data", data] +
               (["--callgraph=fp"] if chains else []) +
               [job, str(options.seconds), str(options.jobs)])
    if done.status:
        print(f"status {done.status}: {done.err.strip()}", file=sys.stderr)
        return None
    samples = int(re.search(r"(\d+) samples,", done.err).group(1))
    current = os.path.join(session, "samples", "current")
    kernel = other = segments = 0
    for folder, _, names in os.walk(current):
        for name in names:
            size = os.path.getsize(os.path.join(folder, name))
            if name.startswith("kallsyms"):
                kernel += size
            elif name.startswith("segment-"):
                segments += size
            else:
                other += size
    perf = os.path.getsize(data)
    return ["frame pointers" if chains else "flat", str(samples), f"{segments / 1e6:.2f}",
            f"{segments / samples:.2f}", f"{(segments + other) / samples:.2f}",
            f"{kernel / 1e6:.2f}", f"{perf / samples:.1f}",
            f"{perf / (segments + other):.1f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="the build folder")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--rate", type=int, default=999)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--quick", action="store_true", help="15 seconds")
    options = parser.parse_args()
    if options.quick:
        options.seconds = 15
    oprofile = os.path.join(os.path.abspath(options.build), "src", "tools", "oprofile")
    with tempfile.TemporaryDirectory(prefix="bench-") as directory:
        rows = [measure(options, oprofile, directory, chains) for chains in (False, True)]
    if None in rows:
        return 1
    table(f"On disk: {options.seconds} s system-wide at {options.rate} Hz, a compile job",
          ["", "samples", "segments [MB]", "B/sample", "all files", "kernel symbols [MB]",
           "perf B/sample", "perf / all"], rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
