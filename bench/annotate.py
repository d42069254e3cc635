#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures annotated listings of some 50 000 samples.

Runs `opannotate --assembly` for the hottest function, then `--source`, `--assembly`, `--html` and
`--json` for all, without an index file ("cold") and with one ("warm"). Compares them with `perf
annotate --stdio` of the same functions and `objdump -d` of the program. All files are in the page
cache.

Goals (speedup in wall time): hottest function cold 1, warm 5; --source of all, cold, 20; --assembly
of all 10 times faster than OProfile, which needs 1.5 s for redis.

Without --recording it records this program. To measure another program, give a recording whose
debug information and sources are on this machine, such as one of redis-server."""
import argparse
import csv
import os
import shutil
import sys
import tempfile

from common import run, table
from source_lines import checked, record


def hottest(ours, path):
    """Returns image and name of the function with the most samples, and the number of such
    functions."""
    text = checked([ours, "report", "--no-pager", "--csv", "--by", "image,symbol", path]).out
    rows = list(csv.DictReader(text.splitlines()))
    first = max(rows, key=lambda row: int(row["samples"]))
    return first["image"], first["symbol"], sum(int(row["samples"]) for row in rows)


class Timed:
    """Runs the commands alternately. Each figure is the minimum of its runs, because other
    processes use the machine also."""

    def __init__(self, times, cache, pages):
        self.times = times
        self.cache = cache
        self.pages = pages
        self.env = dict(os.environ, XDG_CACHE_HOME=cache, DEBUGINFOD_URLS="")

    def once(self, argv, cold):
        shutil.rmtree(self.pages, ignore_errors=True)
        if cold:
            shutil.rmtree(self.cache, ignore_errors=True)
        done = run(argv, self.env, keep_output=False)
        if done.status:
            sys.exit(f"{' '.join(argv)}: status {done.status}: {done.err}")
        return done

    def rows(self, commands, warm):
        """Maps [(name, argv, cold, times)] to [(name, (CPU seconds, wall seconds, megabytes))];
        `warm` makes an index."""
        best = {}
        for turn in range(self.times):
            for name, argv, cold, times in commands:
                if turn >= times:
                    continue
                if not cold and name.endswith("warm"):
                    self.once(warm, False)
                done = self.once(argv, cold)
                before = best.get(name, (9e9, 9e9, 0))
                best[name] = (min(before[0], done.cpu_s), min(before[1], done.wall_s),
                              max(before[2], done.rss_mb))
        return [(name, best[name]) for name, *_ in commands]


def show(title, rows, base):
    """Prints a table; `base` is the row with which the others are compared."""
    table(title, ["", "CPU [s]", "wall [s]", "peak [MB]", "times as quick, CPU", "wall"],
          [[name, cpu, wall, f"{mb:.0f}", f"{rows[base][1][0] / max(cpu, 1e-4):.1f}",
            f"{rows[base][1][1] / max(wall, 1e-4):.1f}"] for name, (cpu, wall, mb) in rows])


def compare(ours, path, timed, perf_times):
    image, symbol, samples = hottest(ours, path)
    annotate = [ours, "annotate", "--no-pager"]
    html = [*annotate, "--html", timed.pages, path]
    top = [*annotate, "--assembly", "--top", "1", path]
    whole = [*annotate, "--assembly", path]
    source = [*annotate, "--source", path]
    perf = ["perf", "annotate", "-i", path, "--stdio"]
    often = timed.times

    show(f"The hottest function of {samples} samples", timed.rows([
        ("opannotate --assembly --top 1, cold", top, True, often),
        ("opannotate --assembly --top 1, warm", top, False, often),
        (f"perf annotate -s {symbol[:24]}", [*perf, "-s", symbol], False, often)], source), 2)
    show("All of it", timed.rows([
        ("opannotate --source, cold", source, True, often),
        ("opannotate --source, warm", source, False, often),
        ("opannotate --html, cold", html, True, often),
        ("opannotate --html, warm", html, False, often),
        ("opannotate --json, warm", [*annotate, "--json", path], False, often),
        ("perf annotate, all", perf, False, perf_times)], source), 5)
    rows = [("opannotate --assembly, cold", whole, True, often),
            ("opannotate --assembly, warm", whole, False, often)]
    if os.path.exists(image) and shutil.which("objdump"):
        rows.append((f"objdump -d {os.path.basename(image)}", ["objdump", "-d", image], False,
                     often))
    made = timed.rows(rows, source)
    show("All code", made, len(made) - 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="the build folder")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--recording", help="a perf.data")
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    ours = os.path.join(build, "src", "tools", "oprofile")
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        path = options.recording or record(build, scratch, ours)[0]
        timed = Timed(3 if options.quick else 7, os.path.join(scratch, "cache"),
                      os.path.join(scratch, "pages"))
        compare(ours, path, timed, 1 if options.quick else 2)


if __name__ == "__main__":
    main()
