#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures complete stacks without frame pointers: `operf --callgraph`, which unwinds while it
records, compared with `perf record --call-graph dwarf`, which stores copies of stacks.

Measures at a usual and at a high rate: CPU time (as in recorder.py), bytes per sample and lost
samples; then the losses when twice as many programs as CPUs are running; and the time per frame
when `opreport --callgraph` and `perf report -g` unwind the stored copies, each less the time of the
same report without callers."""
import argparse
import os
import subprocess
import sys
import tempfile

import recorder
from common import ratio, run, table

RATES = (997, 9973)
JOB_RATE = 997
BEST_OF = 3


def programs_of(build):
    return {"oprofile": os.path.join(build, "src", "tools", "oprofile"),
            "target": os.path.join(build, "bench", "spin_target")}


def under_load(programs, options):
    """Runs two busy programs per CPU during a measurement."""
    rows = []
    for rate in RATES:
        options.rate = rate
        for tool in ("perf", "operf"):
            others = [subprocess.Popen(["sha256sum", "/dev/zero"], stdout=subprocess.DEVNULL)
                      for _ in range(2 * os.cpu_count())]
            with tempfile.TemporaryDirectory(prefix="bench-", dir=options.directory) as folder:
                result = recorder.record(tool, programs, (programs["target"], options.short),
                                         folder, options, "dwarf")
            for other in others:
                other.kill()
                other.wait()
            if result is None:
                return 1
            rows.append([f"{rate} Hz", tool, f"{result['samples']}", f"{result['lost']}",
                         f"{result['bytes'] / max(1, result['samples']):.1f}"])
    table(f"{2 * os.cpu_count()} other programs compute, {options.short:g} s",
          ["", "", "samples", "lost", "B/sample"], rows)
    return 0


def best(argv):
    done = [run(argv, keep_output=False) for _ in range(BEST_OF)]
    for d in done:
        if d.status:
            sys.exit(f"{' '.join(argv)}: status {d.status}: {d.err.strip()}")
    return min(d.cpu_s for d in done), max(d.rss_mb for d in done)


def frames_of(argv):
    """Returns the number of callers' frames: all but the first of each sample."""
    blocks = run(argv).out.split("\n\n")
    return sum(max(0, len(block.strip().splitlines()) - 1) for block in blocks if block.strip())


def from_file(programs, options):
    with tempfile.TemporaryDirectory(prefix="bench-", dir=options.directory) as folder:
        data = os.path.join(folder, "perf.data")
        job = os.path.join(os.path.dirname(os.path.abspath(__file__)), "compile_job")
        done = run(["perf", "record", "-o", data, "-e", "cpu-clock", "-F", str(JOB_RATE),
                    "--call-graph", "dwarf", job, f"{options.short:g}", str(os.cpu_count())])
        if done.status:
            sys.exit(done.err)
        perf = ["perf", "report", "-i", data, "--stdio", "--no-inline", "--no-children"]
        ours = [programs["oprofile"], "report", "--no-pager"]
        frames = {
            "perf": frames_of(["perf", "script", "-i", data, "--no-inline", "-F", "ip"]),
            "oprofile": frames_of([programs["oprofile"], "script", "-F", "ip", data]),
        }
        rows, costs = [], {}
        for name, plain, stacks in (
                ("perf", perf + ["-g", "none"], perf + ["-g"]),
                ("oprofile", ours + ["--symbols", data], ours + ["--callgraph", data])):
            without, _ = best(plain)
            with_, rss_mb = best(stacks)
            costs[name] = 1e6 * (with_ - without) / max(1, frames[name])
            rows.append([name, without, with_, f"{frames[name]}", costs[name], f"{rss_mb:.0f}"])
        rows.append(["ratio", "", ratio(rows[1][2], rows[0][2]), "",
                     ratio(costs["oprofile"], costs["perf"]), ""])
        table(f"Copies of stacks of a compile job, {os.path.getsize(data) / 1e6:.0f} MB, CPU, "
              f"best of {BEST_OF}",
              ["", "no callers [s]", "callers [s]", "frames", "[us/frame]", "peak [MB]"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="the build folder")
    parser.add_argument("--short", type=float, default=10)
    parser.add_argument("--long", type=float, default=60)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="5 s and 20 s, one run")
    parser.add_argument("--directory", default="/tmp", help="where the recordings go")
    options = parser.parse_args()
    if options.quick:
        options.short, options.long, options.runs = 5, 20, 1
    programs = programs_of(os.path.abspath(options.build))
    from_file(programs, options)
    status = under_load(programs, options)
    for rate in RATES:
        options.rate = rate
        results = recorder.measure(programs, options, "dwarf")
        if results is None:
            return 1
        recorder.show(results, options, "dwarf")
    return status


if __name__ == "__main__":
    sys.exit(main())
