#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""compare.py FOLDER OPROFILE: compares our stacks of FOLDER/perf.data with gdb's (gdb_bt.py).

Prints each stack that differs, and the numbers.  Fails if one does.
"""
import os
import subprocess
import sys


def ours(folder, oprofile):
    env = dict(os.environ, PERF_BUILDID_DIR=os.path.join(folder, "cache"))
    text = subprocess.run([oprofile, "script", "-F", "ip", "--max-stack", "1000",
                           os.path.join(folder, "perf.data")],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=env,
                          check=True, timeout=120, text=True).stdout
    return [stack.split() for stack in text.split("\n\n") if stack.strip()]


def main():
    folder, oprofile = sys.argv[1:3]
    with open(os.path.join(folder, "stacks"), encoding="ascii") as lines:
        want = [line.split() for line in lines]
    have = ours(folder, oprofile)
    if len(want) != len(have):
        sys.exit(f"{len(want)} stacks of gdb, {len(have)} of ours")
    bad = 0
    for i, (w, h) in enumerate(zip(want, have)):
        if w != h:
            bad += 1
            print(f"stop {i}:\n  gdb:  {' '.join(w)}\n  ours: {' '.join(h)}")
    frames = sum(len(w) for w in want)
    print(f"{len(want)} stacks, {frames} frames, {bad} stacks differ")
    sys.exit(1 if bad else 0)


main()
