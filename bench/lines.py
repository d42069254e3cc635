#!/usr/bin/env python3
"""Addresses to functions, lines and inlined calls: oprofile addr2line without a cache, cold (it
writes the index too), and warm (an index made by other addresses), beside llvm-symbolizer,
binutils' addr2line and eu-addr2line.

Goals (docs/performance.md): cold 3 times as quick as the quickest of them, warm 10 times, on a
kernel with debug information 50 times; at most half of llvm-symbolizer's memory.

Without --binary the program itself is asked about: give a big one, such as a redis-server or
a vmlinux with debug information.
"""
import argparse
import os
import random
import re
import shutil
import subprocess
import tempfile

from common import median, run, table

SLOW = 2000  # addresses for eu-addr2line; its figure is for as many


def addresses_of(binary, nr, seed):
    text = subprocess.run(["readelf", "-SW", binary], capture_output=True, text=True,
                          check=True).stdout
    start, size = re.search(r" \.text\s+\w+\s+([0-9a-f]+)\s+[0-9a-f]+\s+([0-9a-f]+)",
                            text).groups()
    rng = random.Random(seed)
    return [int(start, 16) + rng.randrange(int(size, 16)) for _ in range(nr)]


def words_file(folder, name, addresses):
    """@FILE: all of these programs take their words from one."""
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as out:
        out.writelines(f"{a:#x}\n" for a in addresses)
    return path


def input_of(argv, path):
    return ["sh", "-c", 'exec "$@" <"$0"', path, *argv]


def timed(argv, path, times, before=lambda: None):
    done = []
    for _ in range(times):
        before()
        done.append(run(input_of(argv, path), keep_output=False))
    return median([d.cpu_s for d in done]), median([d.wall_s for d in done]), max(
        d.rss_mb for d in done)


def compare(oprofile, binary, nr, times, folder):
    first = words_file(folder, "first", addresses_of(binary, nr, 1))
    second = words_file(folder, "second", addresses_of(binary, nr, 2))
    few = words_file(folder, "few", addresses_of(binary, min(nr, SLOW), 1))
    cache = os.path.join(folder, "cache")
    os.environ["XDG_CACHE_HOME"] = cache
    flags = ["-f", "-i", "-e", binary]
    ours = [oprofile, "addr2line", *flags]

    def forget():
        shutil.rmtree(cache, ignore_errors=True)

    run(input_of(ours, first), keep_output=False)  # the binary is in memory
    rows = [("oprofile, no cache", *timed([*ours, "--no-cache"], first, times)),
            ("oprofile, cold", *timed(ours, first, times, forget)),
            ("oprofile, warm, others", *timed(ours, second, times))]
    peers = [("llvm-symbolizer", ["llvm-symbolizer", "--output-style=GNU", *flags], first),
             ("addr2line", ["addr2line", *flags], first),
             (f"eu-addr2line ({min(nr, SLOW)})", ["eu-addr2line", *flags], few)]
    for name, argv, path in peers:
        if shutil.which(argv[0]):
            rows.append((name, *timed(argv, path, 1 if path == few else times)))
    best = min((r[1] for r in rows[3:] if "eu-" not in r[0]), default=float("nan"))
    llvm = next((r[3] for r in rows if r[0] == "llvm-symbolizer"), float("nan"))
    table(f"{os.path.basename(binary)}, {nr} addresses; ratios to the quickest peer's CPU time and "
          "to llvm-symbolizer's memory",
          ["", "CPU s", "wall s", "MB", "times as quick", "of the memory"],
          [(n, c, w, f"{m:.0f}", f"{best / max(c, 1e-3):.1f}", f"{m / llvm:.2f}")
           for n, c, w, m in rows])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--binary", action="append", default=[])
    parser.add_argument("--addresses", type=int, action="append", default=[])
    options = parser.parse_args()
    oprofile = os.path.join(os.path.abspath(options.build), "src", "tools", "oprofile")
    with tempfile.TemporaryDirectory() as folder:
        for binary in options.binary or [oprofile]:
            for nr in options.addresses or ([10000] if options.quick else [1000, 100000]):
                compare(oprofile, os.path.abspath(binary), nr, 3 if options.quick else 5,
                        folder)


if __name__ == "__main__":
    main()
