#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures the lookup of functions, lines and inlined calls of addresses: oprofile addr2line
compared with llvm-symbolizer, binutils' addr2line and eu-addr2line. All of them get the same
addresses, alternately.

no cache   without an index file
cold       without one; writes an index
other      addresses that were not in the cold run, with the index that it wrote
completed  the same, after the background job of the cold run has ended

Goals (docs/performance.md): cold 3 times as fast as the fastest of them, with an index 10 times, on
a kernel with debug information 50 times; at most half of llvm-symbolizer's memory.

A program that uses more than --limit CPU seconds is stopped; its row shows its progress, and it is
not the fastest. With fewer --addresses all of them finish.

Without --binary it measures the program itself. Use a large one, such as redis-server or a vmlinux
with debug information.
"""
import argparse
import os
import random
import re
import shutil
import subprocess
import tempfile

from common import median, run, table


def addresses_of(binary, nr, seed):
    text = subprocess.run(["readelf", "-SW", binary], capture_output=True, text=True,
                          check=True).stdout
    start, size = re.search(r" \.text\s+\w+\s+([0-9a-f]+)\s+[0-9a-f]+\s+([0-9a-f]+)",
                            text).groups()
    rng = random.Random(seed)
    return [int(start, 16) + rng.randrange(int(size, 16)) for _ in range(nr)]


def words_file(folder, name, addresses):
    """@FILE: all of these programs read arguments from a file."""
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as out:
        out.writelines(f"{a:#x}\n" for a in addresses)
    return path


def input_of(argv, path, cpu_s="unlimited"):
    return ["sh", "-c", f'ulimit -t {cpu_s}; exec "$@" <"$0"', path, *argv]


class Program:
    """A row of the table: a command, its addresses, and the preparation of each run."""

    def __init__(self, name, argv, path, before=lambda: None, ours=False):
        self.name = name
        self.argv = argv
        self.path = path
        self.before = before
        self.ours = ours
        self.done = []
        self.stopped = False

    def run(self, limit):
        if self.stopped:
            return
        self.before()
        self.done.append(run(input_of(self.argv, self.path, limit), keep_output=False))
        self.stopped = self.done[-1].status < 0

    def cpu(self):
        return median([d.cpu_s for d in self.done])

    def memory(self):
        return max(d.rss_mb for d in self.done)

    def row(self, best, llvm):
        more = ">" if self.stopped else ""
        wall = median([d.wall_s for d in self.done])
        return (self.name, f"{more}{self.cpu():.3f}", f"{more}{wall:.3f}", f"{self.memory():.0f}",
                "-" if self.stopped else f"{best / max(self.cpu(), 1e-3):.1f}",
                f"{self.memory() / llvm:.2f}")


def compare(oprofile, binary, nr, options, folder):
    first = words_file(folder, "first", addresses_of(binary, nr, 1))
    second = words_file(folder, "second", addresses_of(binary, nr, 2))
    cache = os.path.join(folder, "cache")
    os.environ["XDG_CACHE_HOME"] = cache
    os.environ["OPROFILE_CACHE_FILL"] = "no"  # complete() does what the background job would do
    flags = ["-f", "-i", "-C", "-e", binary]
    ours = [oprofile, "addr2line", *flags]

    def forget():
        shutil.rmtree(cache, ignore_errors=True)

    def begin_again():
        forget()
        run(input_of(ours, first), keep_output=False)

    def complete():
        begin_again()
        run([oprofile, "cache", "--build", "--background", binary], keep_output=False)

    run(input_of(ours, first), keep_output=False)  # the binary is in the page cache
    programs = [Program("oprofile, no cache", [*ours, "--no-cache"], second, ours=True),
                Program("oprofile, cold", ours, second, forget, ours=True),
                Program("oprofile, again", ours, second, begin_again, ours=True),
                Program("oprofile, completed", ours, second, complete, ours=True)]
    programs += [Program(argv[0], [*argv, *flags], second)
                 for argv in (["llvm-symbolizer", "--output-style=GNU"], ["addr2line"],
                              ["eu-addr2line"]) if shutil.which(argv[0])]
    for _ in range(3 if options.quick else 5):
        for program in programs:
            program.run(options.limit)
    nan = float("nan")
    best = min((p.cpu() for p in programs if not p.ours and not p.stopped), default=nan)
    llvm = next((p.memory() for p in programs if p.name == "llvm-symbolizer"), nan)
    table(f"{os.path.basename(binary)}, {nr} addresses; ratios to the quickest peer's CPU time and "
          "to llvm-symbolizer's memory",
          ["", "CPU s", "wall s", "MB", "times as quick", "of the memory"],
          [p.row(best, llvm) for p in programs])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--binary", action="append", default=[])
    parser.add_argument("--addresses", type=int, action="append", default=[])
    parser.add_argument("--limit", type=int, default=60, help="seconds of CPU for each run")
    options = parser.parse_args()
    oprofile = os.path.join(os.path.abspath(options.build), "src", "tools", "oprofile")
    with tempfile.TemporaryDirectory() as folder:
        for binary in options.binary or [oprofile]:
            for nr in options.addresses or ([10000] if options.quick else [1000, 100000]):
                compare(oprofile, os.path.abspath(binary), nr, options, folder)


if __name__ == "__main__":
    main()
