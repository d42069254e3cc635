#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures each format of `oprofile export`, compared with `perf script`, which prints the same
samples, and, if FlameGraph's scripts are installed, with `perf script | stackcollapse-perf.pl |
flamegraph.pl`.

The inputs are a job that perf records at 20 kHz with frame pointers, repeated up to 10 million
samples, and a generated file.

CPU time is the minimum of alternating runs. All write to /dev/null, except formats that choose
their file names. A first run measures the sizes of the files."""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

from common import ratio, run, table
from repeat_perf_data import count_samples, repeat
from report import make_libraries

FORMATS = ("folded", "flamegraph", "heatmap", "pprof", "speedscope", "chrome", "firefox", "gmon",
           "callgrind", "perf-script")
NAMES_ITS_FILES = ("callgrind", "gmon")
NR_SAMPLES = 10000000
GOALS = {"perf-script": 5}
GOAL = 10
PIPE = "perf script -i {} | stackcollapse-perf.pl | flamegraph.pl"


def record(path, seconds):
    job = os.path.join(os.path.dirname(os.path.abspath(__file__)), "compile_job")
    subprocess.run(["perf", "record", "-q", "-g", "-F", "20000", "-e", "cpu-clock", "-o", path,
                    job, str(seconds), "2"], check=True, stderr=subprocess.DEVNULL)


def make(build, path, megabytes, scratch):
    folder = os.path.join(scratch, "libraries")
    os.makedirs(folder)
    made = run([os.path.join(build, "bench", "make_perf_data"), path, str(megabytes), "chains"] +
               make_libraries(folder, 60))
    if made.status:
        sys.exit(made.err)


def take_away(out):
    """Returns the sizes of the files whose names begin with this text."""
    folder, begin = os.path.split(out)
    made = [os.path.join(folder, name) for name in os.listdir(folder) if name.startswith(begin)]
    size = sum(os.path.getsize(name) for name in made)
    for name in made:
        os.unlink(name)
    return size


def size_of(out, command):
    run(command, keep_output=False)
    return take_away(out)


def measure(build, path, what, runs):
    oprofile = os.path.join(build, "src", "tools", "oprofile")
    out = path + ".made"
    commands = {"perf script": ["perf", "script", "-i", path]}
    for name in FORMATS:
        to = out if name in NAMES_ITS_FILES else "/dev/null"
        commands[name] = [oprofile, "export", name, path, "-o", to]
    if shutil.which("stackcollapse-perf.pl") and shutil.which("flamegraph.pl"):
        commands["flamegraph.pl"] = ["sh", "-c", PIPE.format(path)]
    least, peak = {}, {}
    sizes = {name: size_of(out, [oprofile, "export", name, path, "-o", out]) for name in FORMATS}
    for number in range(runs):
        for name, argv in commands.items():
            if number and name == "flamegraph.pl":
                continue
            done = run(argv, keep_output=False)
            if done.status:
                continue  # gmon describes a single binary
            least[name] = min(least.get(name, done.cpu_s), done.cpu_s)
            peak[name] = done.rss_mb
            take_away(out)
    rows = [[name, least[name], ratio(least["perf script"], least[name]),
             str(GOALS.get(name, GOAL)) if name in FORMATS else "", f"{peak[name]:.0f}",
             f"{sizes[name] / 1e6:.1f}" if name in sizes else ""] for name in commands if name in least]
    table(f"{what}: {os.path.getsize(path) / 1e6:.0f} MB, least of {runs} runs",
          ["", "CPU [s]", "times less than perf script", "goal", "peak [MB]", "file [MB]"], rows)
    if "flamegraph.pl" in least:
        print(f"  flamegraph.pl takes {ratio(least['flamegraph.pl'], least['flamegraph'])} times as "
              "long as our flame graph")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="the build folder")
    parser.add_argument("--quick", action="store_true", help="small files, one run")
    parser.add_argument("--recording", help="a perf.data to use in place of the job's")
    parser.add_argument("--directory", default="/tmp", help="needs 3 GB")
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    runs = 1 if options.quick else 3
    with tempfile.TemporaryDirectory(prefix="bench-", dir=options.directory) as scratch:
        path = os.path.join(scratch, "perf.data")
        if options.recording:
            os.symlink(os.path.abspath(options.recording), path)
        elif options.quick:
            record(path, 10)
        else:
            record(path + ".once", 60)
            repeat(path + ".once", path, -(-NR_SAMPLES // count_samples(path + ".once")))
            os.unlink(path + ".once")
        measure(build, path, "A compile job", runs)
        os.unlink(path)
        make(build, path, 50 if options.quick else 600, scratch)
        measure(build, path, "Made-up call chains", runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
