#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures recording: operf compared with perf record, alternately, without call chains, with frame
pointers, and with copies of stacks (operf unwinds them while it records, perf stores them).

The figure is the CPU time of the recorder without that of the target: the time of the recorder and
the processes it waited for, less the time that the target reports for itself. A short and a long
run give the slope (the cost of a second of recording) and separate it from the cost of start and
end. Figures are medians of the runs.
"""
import argparse
import os
import re
import shutil
import sys
import tempfile

from common import median, ratio, run, table

CHAINS = {
    "flat": {"perf": [], "operf": []},
    "fp": {"perf": ["-g"], "operf": ["--callgraph=fp"]},
    "dwarf": {"perf": ["--call-graph", "dwarf"], "operf": ["--callgraph"]},
}


def lost_of_perf(data):
    """Samples; a LOST_SAMPLES record contains the sum of the LOST records."""
    out = run(["perf", "script", "-i", data, "--show-lost-events", "-F", "event"]).out
    lost = {kind: sum(map(int, re.findall(kind + r" +(?:lost )?(\d+)", out)))
            for kind in ("PERF_RECORD_LOST", "PERF_RECORD_LOST_SAMPLES")}
    return max(lost.values())


def record(tool, programs, target, directory, options, chains):
    """Makes one run. Returns {cpu_s, samples, lost, bytes} or None."""
    seconds, rate = target[1], options.rate
    used = os.path.join(directory, "target-cpu")
    session = os.path.join(directory, "session")
    data = os.path.join(directory, "perf.data")
    if tool == "perf":
        command = ["perf", "record", "-o", data, "-e", "cpu-clock", "-F", str(rate)]
    else:
        shutil.rmtree(session, ignore_errors=True)
        os.mkdir(session)
        command = [programs["oprofile"], "record", "--session-dir", session,
                   "--frequency", str(rate)]
    done = run(command + CHAINS[chains][tool] +
               [target[0], str(seconds), used, str(options.threads)])
    if done.status:
        print(f"{tool}: status {done.status}: {done.err.strip()}", file=sys.stderr)
        return None
    with open(used, encoding="ascii") as text:
        target_s = int(text.read()) / 1e6
    samples = re.search(r"(\d+) samples[,)]", done.err)
    result = {"cpu_s": done.cpu_s - target_s, "rss_mb": done.rss_mb,
              "samples": int(samples.group(1)) if samples else 0}
    if tool == "perf":
        result["lost"] = lost_of_perf(data)
        result["bytes"] = os.path.getsize(data)
    else:
        lost = re.search(r"(\d+) lost", done.err)
        result["lost"] = int(lost.group(1)) if lost else 0
        current = os.path.join(session, "samples", "current")
        result["bytes"] = sum(os.path.getsize(os.path.join(current, name))
                              for name in os.listdir(current)
                              if name.startswith("segment-"))
    return result


def measure(programs, options, chains):
    results = {}
    with tempfile.TemporaryDirectory(prefix="bench-", dir=options.directory) as directory:
        for number in range(options.runs):
            for seconds in (options.short, options.long):
                tools = ["perf", "operf"]
                for tool in tools if number % 2 == 0 else tools[::-1]:
                    result = record(tool, programs, (programs["target"], seconds), directory,
                                    options, chains)
                    if result is None:
                        return None
                    results.setdefault((tool, seconds), []).append(result)
    return results


def show(results, options, chains):
    rows, slopes, per_sample, totals = [], {}, {}, {}
    for tool in ("perf", "operf"):
        figures = {seconds: {key: median([r[key] for r in results[(tool, seconds)]])
                             for key in results[(tool, seconds)][0]}
                   for seconds in (options.short, options.long)}
        short, long_ = figures[options.short], figures[options.long]
        slopes[tool] = 1000 * (long_["cpu_s"] - short["cpu_s"]) / \
            (options.long - options.short)
        per_sample[tool] = 1e6 * (long_["cpu_s"] - short["cpu_s"]) / \
            max(1, long_["samples"] - short["samples"])
        totals[tool] = long_
        rows.append([tool, 1000 * short["cpu_s"], 1000 * long_["cpu_s"], slopes[tool],
                     per_sample[tool],
                     f"{long_['samples']:.0f}", f"{long_['lost']:.0f}",
                     f"{long_['bytes'] / max(1, long_['samples']):.1f}",
                     f"{long_['rss_mb']:.0f}"])
    perf, operf = totals["perf"], totals["operf"]
    rows.append(["ratio", "", ratio(operf["cpu_s"], perf["cpu_s"]),
                 ratio(slopes["operf"], slopes["perf"]),
                 ratio(per_sample["operf"], per_sample["perf"]),
                 ratio(operf["samples"], perf["samples"]), "", "", ""])
    table(f"Recorder's own CPU time at {options.rate} Hz, "
          f"{chains}, "
          f"median of {options.runs} runs",
          ["", f"{options.short} s run [ms]", f"{options.long} s run [ms]",
           "slope [ms/s]", "[us/sample]", "samples", "lost", "B/sample", "peak [MB]"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="the build folder")
    parser.add_argument("--short", type=float, default=10)
    parser.add_argument("--long", type=float, default=60)
    parser.add_argument("--rate", type=int, default=4999)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--chains", default="flat,fp,dwarf", help="which of them")
    parser.add_argument("--quick", action="store_true", help="5 s and 20 s, one run")
    parser.add_argument("--directory", default="/tmp", help="where the recordings go")
    options = parser.parse_args()
    if options.quick:
        options.short, options.long, options.runs = 5, 20, 1
    build = os.path.abspath(options.build)
    programs = {"oprofile": os.path.join(build, "src", "tools", "oprofile"),
                "target": os.path.join(build, "bench", "spin_target")}
    status = 0
    for chains in options.chains.split(","):
        results = measure(programs, options, chains)
        if results is None:
            status = 1
        else:
            show(results, options, chains)
    return status


if __name__ == "__main__":
    sys.exit(main())
