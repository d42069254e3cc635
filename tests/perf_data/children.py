#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares self and total shares of functions between perf report --children and opreport.

usage: children.py OPROFILE FILE [WORD...]
WORDs are passed to opreport, for example an event. Prints one line with the sums, and the functions
that differ: perf's shares have two decimals. Leaves out functions that perf cannot name, and their
callers: perf continues a stack that leads outside of all code, and we do not. Status 1 if any
function differs or none can be compared.
"""
import csv
import io
import subprocess
import sys

UNIT = 0.0101 # of a share with two decimals, rounded twice
# Percentage of samples that can have another name in our report. In chains recorded by frame
# pointers, perf names the function at the return address, we name the caller: if a function ends
# with a call, such as the loader's _start, perf names the function after it. perf also has another
# name for .plt.
OTHER_NAME = 1.0


def bare(name):
    """Removes parameters, which perf omits, and those of templates."""
    return name.split("(")[0].split("<")[0]


def perfs(path):
    """Returns {(comm, dso, symbol): (children, self, precision)} in percent, for named functions."""
    out = subprocess.run(
        ["perf", "report", "-f", "-i", path, "--stdio", "--children", "--no-inline", "-g", "none",
         "--percent-limit", "0", "--max-stack", "10000", "--sort", "comm,dso,sym", "-t", "\t"],
        capture_output=True, text=True, check=False).stdout
    rows = {}
    for line in out.splitlines():
        if not line or line.startswith("#"):
            continue
        fields = [f.strip() for f in line.split("\t")]
        if len(fields) < 5:
            continue
        mark, _, name = fields[4].partition(" ")
        if name.startswith("0x") or name[:8] == "00000000" or "[unknown]" in fields[3]:
            continue
        key = (fields[2], fields[3].split("/")[-1], bare(name.strip()))
        total, own = (float(f.rstrip("%")) for f in fields[:2])
        old = rows.get(key, (0, 0, 0))
        rows[key] = (old[0] + total, old[1] + own, old[2] + UNIT)
    return rows


def ours(oprofile, path, words):
    out = subprocess.run(
        [oprofile, "report", "--by", "comm,dso,symbol", "--children", "--csv", path] + words,
        capture_output=True, text=True, check=True).stdout
    table = list(csv.DictReader(io.StringIO(out)))
    whole = sum(int(row["period"]) for row in table)
    rows = {}
    for row in table:
        key = (row["comm"], row["dso"].split("/")[-1], bare(row["symbol"]))
        old = rows.get(key, (0, 0))
        rows[key] = (old[0] + 100 * int(row["total_period"]) / whole,
                     old[1] + 100 * int(row["period"]) / whole)
    return rows


def main():
    oprofile, path, words = sys.argv[1], sys.argv[2], sys.argv[3:]
    theirs, mine = perfs(path), ours(oprofile, path, words)
    bad = 0
    others = 0
    for key, (total, own, unit) in sorted(theirs.items()):
        at = mine.get(key, (0, 0))
        if abs(at[0] - total) <= unit and abs(at[1] - own) <= unit:
            continue
        others += total if key not in mine else 0
        if key not in mine and others <= OTHER_NAME:
            continue
        bad += 1
        if bad <= 20:
            print(f"{key}: perf {total} {own}, ours {at[0]:.4f} {at[1]:.4f}")
    print(f"{len(theirs)} functions of perf, {len(mine)} of ours, {bad} differ")
    return 1 if bad or not theirs else 0


if __name__ == "__main__":
    sys.exit(main())
