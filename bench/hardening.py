#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures the cost of the hardening flags: the same reports and recordings with two builds,
interleaved.

    meson setup plain -Dwhole_program=true -Dhardening=false && ninja -C plain
    bench/hardening.py build plain

The figures are the median and the minimum of the CPU time in user space, where compiled code
differs.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

from common import median, ratio, table
from views import real_libraries

LIBRARIES = 40


def user_s(argv, directory):
    """Returns the seconds that the command and its children spent in user space."""
    with open(os.devnull, "wb") as null:
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=null, stderr=null,
                                 cwd=directory)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = 0  # a zombie: waited for below
    # 3: input was incomplete, which generated files can cause
    if os.waitstatus_to_exitcode(status) not in (0, 3):
        sys.exit(f"{' '.join(argv)}: status {status}")
    return usage.ru_utime


def program(build):
    return os.path.join(build, "src", "tools", "oprofile")


def report(build, directory, kind, option):
    return user_s([program(build), "report", option, "--threads=1", kind + ".data"], directory)


def import_data(build, directory, kind):
    """Does the work of a recorder: decodes, resolves and unwinds samples, and writes a session."""
    session = os.path.join(directory, "session")
    shutil.rmtree(session, ignore_errors=True)
    os.mkdir(session)
    return user_s([program(build), "import", "--session-dir", session, kind + ".data"],
                  directory)


CASES = {
    "opreport --symbols, flat": lambda b, d: report(b, d, "flat", "--symbols"),
    "opreport --callgraph, chains": lambda b, d: report(b, d, "chains", "--callgraph"),
    "opreport --callgraph, stacks unwound": lambda b, d: report(b, d, "stacks", "--callgraph"),
    "opimport, flat": lambda b, d: import_data(b, d, "flat"),
    "opimport, stacks unwound": lambda b, d: import_data(b, d, "stacks"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", nargs=2, help="the build folders: with the flags, without")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--directory", default="/tmp", help="where the files go")
    options = parser.parse_args()
    builds = [os.path.abspath(build) for build in options.builds]
    rows = []
    with tempfile.TemporaryDirectory(prefix="bench-", dir=options.directory) as directory:
        # Files with stacks are large and have few samples.
        for kind, scale in (("flat", 1), ("chains", 1), ("stacks", 4)):
            subprocess.run([os.path.join(builds[0], "bench", "make_perf_data"),
                            os.path.join(directory, kind + ".data"),
                            str(options.megabytes * scale), kind, *real_libraries(LIBRARIES)], check=True)
        for name, measure in CASES.items():
            results = [[], []]
            for number in range(options.runs + 1):
                for i in (0, 1) if number % 2 else (1, 0):
                    seconds = measure(builds[i], directory)
                    # The first run fills the caches.
                    if number:
                        results[i].append(seconds)
            rows.append([name, median(results[0]), median(results[1]),
                         ratio(median(results[0]), median(results[1])), min(results[0]),
                         min(results[1]), f"{min(results[0]) / min(results[1]):.3f}"])
    table(f"CPU time in user space [s], {options.runs} runs of each",
          ["", "with, median", "without", "ratio", "with, least", "without", "ratio"], rows)


if __name__ == "__main__":
    main()
