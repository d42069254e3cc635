#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares two outputs of perf script, perf's first: they must be equal except for the differences
listed in docs/perf-script.md.

Permitted: the name of a slot of a .plt section, which perf 6.1 takes from the order of the
relocations; the head of that section, which perf counts as part of _init before it; a name from the
perf map of an earlier process with the same pid; and a call chain that perf drops as a whole
because of a word of garbage in it.
"""
import itertools
import re
import sys

ADDRESS = re.compile(r"\b[0-9a-f]{8,16}\b")


def blocks(path):
    """Yields heading and frames of each sample; a sample without a chain has no frames."""
    with open(path, encoding="utf-8", errors="surrogateescape") as text:
        block = []
        for line in text:
            if line.startswith("\t"):
                block.append(line)
            elif line != "\n":
                if block:
                    yield block
                block = [line]
        if block:
            yield block


def same_line(theirs, ours):
    if " _init+0x" in theirs and " [unknown] " in ours:
        return True
    if "(/tmp/perf-" in theirs:
        return ADDRESS.findall(theirs) == ADDRESS.findall(ours)
    return theirs == ours or "@plt" in theirs or "@plt" in ours


def same(theirs, ours):
    if theirs is None or ours is None or not same_line(theirs[0], ours[0]):
        return False
    if len(theirs) == 1 and len(ours) > 1:
        return True
    return len(theirs) == len(ours) and all(map(same_line, theirs, ours))


def main():
    dropped = nr = 0
    for theirs, ours in itertools.zip_longest(blocks(sys.argv[1]), blocks(sys.argv[2])):
        nr += 1
        if not same(theirs, ours):
            sys.exit(f"sample {nr}\nperf: {''.join(theirs or [])}\nours: {''.join(ours or [])}")
        dropped += len(theirs) == 1 and len(ours) > 1
    if not nr or dropped * 50 > nr:
        sys.exit(f"{nr} samples, perf dropped the chains of {dropped}")


main()
