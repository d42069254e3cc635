#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures lists of events: `ophelp` for this machine, and for Intel's Skylake as text, XML and
JSON, compared with `perf list`. Runs alternate. Also measures the start of a program, as a lower
bound.

Goal: a tenth of the time of `perf list`."""
import argparse
import os
import shutil
import sys

from common import median, ratio, run, table


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="the build folder")
    parser.add_argument("--times", type=int, default=101, help="how often each is run")
    parser.add_argument("--quick", action="store_true", help="21 times")
    options = parser.parse_args()
    if options.quick:
        options.times = 21
    links = os.path.join(os.path.abspath(options.build), "links")
    ophelp = os.path.join(links, "ophelp")
    commands = {
        "/bin/true": ["/bin/true"],
        "oprofile --version": [os.path.join(links, "oprofile"), "--version"],
        "ophelp": [ophelp],
        "ophelp, Skylake": [ophelp, "--cpu-type", "i386/skylake"],
        "ophelp --xml, Skylake": [ophelp, "--cpu-type", "i386/skylake", "--xml"],
        "ophelp --json, Skylake": [ophelp, "--cpu-type", "i386/skylake", "--json"],
    }
    perf = shutil.which("perf")
    if perf:
        commands["perf list"] = [perf, "list"]
    took = {name: [] for name in commands}
    for _ in range(options.times):
        for name, argv in commands.items():
            done = run(argv, keep_output=False)
            if done.status and name == "ophelp":
                continue # an unknown CPU type
            if done.status:
                sys.exit(f"{' '.join(argv)}: status {done.status}: {done.err}")
            took[name].append(done)
    base = median([done.cpu_s for done in took.get("perf list", [])])
    base_wall = median([done.wall_s for done in took.get("perf list", [])])
    rows = []
    for name, all_of_it in took.items():
        cpu = median([done.cpu_s for done in all_of_it])
        wall = median([done.wall_s for done in all_of_it])
        rows.append([name, f"{cpu * 1e3:.2f}", f"{wall * 1e3:.2f}",
                     ratio(cpu, base) if perf else "-", ratio(wall, base_wall) if perf else "-"])
    table(f"A list of events, medians of {options.times}",
          ["", "CPU [ms]", "wall [ms]", "of perf list", "wall, of perf list"], rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
