#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures every view of a large session: 5 events, 8 CPUs, 300 threads of 40 programs, and 400
libraries (those of this machine, and generated ones if there are fewer).

Compares each view of opreport with perf's report of a perf.data of the same samples, by the same
keys or the closest that perf has: perf cannot report by address (by srcline it needs minutes). The
goal is a tenth of perf's CPU time for each view; the worst are printed last.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

from common import median, run, table
from report import make_libraries

IMAGES = 400
MIN_FUNCTIONS = 20
MAX_BYTES = 8 << 20  # make_session maps a library every 16 MB

EVENTS = ["TIMER", "instructions", "cache-references", "cache-misses", "branch-misses"]
ONE = "event:TIMER"
MERGE_CPU_TID = "--merge=cpu,tid,tgid"

VIEWS = [
    "",
    "--merge=lib",
    "--merge=all",
    "--long-filenames",
    "--exclude-dependent",
    "--global-percent",
    "--threshold=1",
    "--sort=image",
    "--sort=app-name --reverse-sort",
    "--quality",
    "--csv",
    "--json",
    "--csv --merge=lib",
    "event:instructions,cache-misses",
    "image:lib*",
    "lib-image:*.so.1",
    "lib-image-exclude:*.so.1",
    "comm:program-0*",
    "--comms=program-01,program-02",
    "tgid:1000,1001,1002",
    "tid:1000,10041",
    "cpu:0,1",
    f"--separate-cpu {ONE}",
    f"--separate-thread --merge=tid {ONE}",
    f"--separate-thread {ONE} tgid:1000",
    "--symbols",
    "--symbols --merge=lib",
    "--symbols --merge=all",
    "--symbols --accumulated",
    "--symbols --show-address",
    "--symbols --demangle=none",
    "--symbols --long-filenames",
    "--symbols --exclude-dependent",
    "--symbols --threshold=0.1",
    "--symbols --sort=symbol",
    "--symbols --sort=image,vma",
    "--symbols --sort=app-name,symbol,sample --reverse-sort",
    "--symbols --include-symbols=main,free,malloc",
    "--symbols --exclude-symbols=main,free,malloc",
    "--symbols --quality",
    "--symbols --csv",
    "--symbols --json",
    f"--symbols {ONE}",
    "--symbols image:lib*",
    "--symbols lib-image:*.so.1",
    f"--symbols --separate-cpu {ONE}",
    f"--symbols --separate-thread --merge=tid {ONE}",
    f"--symbols --separate-thread {ONE} tgid:1000",
    "--details",
    "--details --merge=lib",
    "--details --accumulated",
    "--details --global-percent",
    "--details --sort=vma",
    "--details --exclude-dependent",
    f"--details {ONE}",
    f"--details --separate-cpu {ONE}",
    f"--details --separate-thread --merge=tid {ONE}",
    "--details --csv",
    "--details --json",
    "--by event",
    "--by comm",
    "--by pid",
    "--by tid",
    "--by cpu",
    "--by image",
    "--by app",
    "--by app,image",
    "--by symbol",
    "--by image,symbol",
    "--by comm,image,symbol",
    "--by comm,image,symbol --csv",
    "--by comm,image,symbol --json",
    "--by event,comm,image,symbol --csv",
    "--by cpu,image,symbol --csv",
    "--by tid,image --csv",
    "--by tid,image,symbol --csv",
    "--by app,image,symbol --csv",
    "--by image,symbol,address --csv",
    "--by comm,tid,cpu,image,symbol,address --csv",
    "--by session,host,event",
    "--by cgroup,event",
    "--by time:1s",
    "--by time:10ms",
    "--by time:10ms,cpu --csv",
    "--by time:10ms,comm,image,symbol --csv",
    "--by event,cpu,time:100ms --json",
]

PLAIN = "comm,dso,symbol"

# perf's report for a view: the first row whose pattern matches it.
PEERS = [
    (r"time:10ms,comm,image,symbol", "time,comm,dso,symbol"),
    (r"tid,cpu,image,symbol", "pid,cpu,dso,symbol"),
    (r"tid,image,symbol", "pid,dso,symbol"),
    (r"cpu,image,symbol|--(symbols|details) --separate-cpu", "cpu,comm,dso,symbol"),
    (r"", PLAIN),
]

FUNCTION = re.compile(r" [1-9]\d* FUNC +\w+ +\w+ +\d+ ")


def usable(path):
    """Returns whether make_session can place samples in the library."""
    try:
        with open(path, "rb") as file:
            if file.read(4) != b"\x7fELF" or os.path.getsize(path) > MAX_BYTES:
                return False
    except OSError:
        return False
    out = subprocess.run(["readelf", "-W", "-n", "--syms", "--dyn-syms", path],
                         capture_output=True, check=False).stdout.decode(errors="replace")
    return "Build ID" in out and len(FUNCTION.findall(out)) >= MIN_FUNCTIONS


def real_libraries(nr):
    paths = []
    for directory, folders, names in os.walk("/usr/lib"):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(directory, name)
            if ".so" in name and not os.path.islink(path) and usable(path):
                paths.append(path)
                if len(paths) == nr:
                    return paths
    return paths


def make_session(build, session, data, libraries, samples):
    current = os.path.join(session, "samples", "current")
    os.makedirs(current)
    made = run([os.path.join(build, "bench", "make_session"), "-t", "300", "-e",
                str(len(EVENTS)), "-c", "8", "-s", "4", str(samples), "40",
                os.path.join(current, "segment-000001"), data] + libraries)
    if made.status:
        sys.exit(made.err)


def peer(view):
    """Returns the keys of the perf report with which a view is compared."""
    return next(sort for pattern, sort in PEERS if re.search(pattern, view))


def measure(commands, runs):
    """Returns {name: (CPU seconds, peak MB)}: medians of alternating runs."""
    figures = {name: [] for name in commands}
    for number in range(runs + 1):
        for name, command in commands.items():
            if number == 0 and name.startswith("perf") and runs > 1:
                continue  # the files are still cached from being written
            done = run(command, keep_output=False)
            if done.status:
                sys.exit(f"{' '.join(command)}: status {done.status}: {done.err}")
            if number:
                figures[name].append(done)
    return {name: (median([d.cpu_s for d in dones]), median([d.rss_mb for d in dones]))
            for name, dones in figures.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="the build folder")
    parser.add_argument("--samples", type=int, default=2_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="500 000 samples, 1 run")
    parser.add_argument("--only", default="", help="views that contain this text")
    parser.add_argument("--keep", help="make the files in this folder and leave them")
    parser.add_argument("--directory", default="/tmp", help="needs 60 bytes a sample")
    options = parser.parse_args()
    if options.quick:
        options.samples, options.runs = 500_000, 1
    build = os.path.abspath(options.build)
    with tempfile.TemporaryDirectory(prefix="bench-", dir=options.directory) as scratch:
        directory = options.keep or scratch
        session = os.path.join(directory, "session")
        data = os.path.join(directory, "perf.data")
        if not os.path.exists(data):
            libraries = real_libraries(IMAGES)
            nr_real = len(libraries)
            libraries += make_libraries(directory, IMAGES - nr_real)
            print(f"  {nr_real} libraries of this machine, {IMAGES - nr_real} generated")
            make_session(build, session, data, libraries, options.samples)
        ours = [os.path.join(build, "src", "tools", "oprofile"), "report",
                "--session-dir", session]
        views = [view for view in VIEWS if options.only in view]
        commands = {"perf --sort " + sort: ["perf", "report", "-i", data, "--stdio", "-g",
                                            "none", "--no-children", "--time-quantum",
                                            "10ms", "--sort", sort]
                    for sort in dict.fromkeys([PLAIN] + [peer(view) for view in views])}
        commands.update({"opreport " + view: ours + view.split() for view in views})
        figures = measure(commands, options.runs)

    def times(name, sort=None):
        """Returns how many times the view's CPU time perf needs, by default for the closest report."""
        if name.startswith("perf"):
            return 1
        sort = sort or peer(name.removeprefix("opreport "))
        return figures["perf --sort " + sort][0] / figures[name][0]

    order = sorted(figures, key=lambda name: (not name.startswith("perf"), -times(name)))
    rows = [[name, figures[name][0], f"{times(name):.1f}",
             "" if name.startswith("perf") else f"{times(name, PLAIN):.1f}",
             f"{figures[name][1]:.0f}"] for name in order]
    table(f"Views of {options.samples} samples: {len(EVENTS)} events, 8 CPUs, 300 threads, "
          f"{IMAGES} libraries; median of {options.runs} runs",
          ["", "CPU [s]", "perf's / it", f"perf's {PLAIN} / it", "peak [MB]"], rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
