#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the sample counts of perf and of opreport by event, command and object.

usage: [PERF=PROGRAM] agree.py [--without-modifiers] OPROFILE FILE...
--without-modifiers compares names of events up to their modifiers (cycles:H): perf 7 derives them
from the attributes if a file has no names. Prints one line per file, and below it the rows that differ. Status 1 if any does. perf prints only
the last component of an object's path, so paths are compared by that.
"""
import csv
import io
import os
import re
import subprocess
import sys
from collections import Counter


def last_part(image):
    return image.rsplit("/", 1)[-1] if image.startswith("/") else image


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=dict(os.environ, LC_ALL="C"), check=False)
    return done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"), done.returncode


def perf_counts(path):
    """Returns {(event, comm, object): samples} of perf report, or None if it cannot read the file."""
    out, _, status = run([os.environ.get("PERF", "perf"), "report", "-f", "-i", path, "--stdio", "-n", "--no-children",
                          "--no-group", "--no-branch-stack", "--no-itrace", "-g", "none", "--sort", "comm,dso", "-w", "10,12,64,250", "-t", "\x01"])
    counts = Counter()
    event = ""
    for line in out.splitlines():
        found = re.match(r"# Samples: \S+\s+of events? '(.*)'", line)
        if found:
            event = found.group(1)
        fields = line.split("\x01")
        if line.startswith("#") or len(fields) < 4:
            continue
        counts[event, fields[2].strip(), fields[3].strip()] += int(fields[1])
    return counts if counts or not status else None


def without_modifiers(counts):
    merged = Counter()
    for (event, *rest), samples in counts.items():
        merged[(re.sub(r"(?<=\w):[a-zA-Z]+$", "", event), *rest)] += samples
    return merged


def our_counts(oprofile, path):
    out, log, status = run([oprofile, "report", "--by", "event,comm,image", "--csv", path])
    counts = Counter()
    for row in csv.DictReader(io.StringIO(out)):
        counts[row["event"], row["comm"], last_part(row["image"])] += int(row["samples"])
    return counts, log, status


def compare(oprofile, path, modifiers):
    theirs = perf_counts(path)
    ours, log, status = our_counts(oprofile, path)
    if not modifiers:
        theirs = without_modifiers(theirs) if theirs is not None else None
        ours = without_modifiers(ours)
    if theirs is None:
        print(f"{path}: perf cannot read it; we count {sum(ours.values())} samples, status {status}")
        return True
    differ = sorted(k for k in set(ours) | set(theirs) if ours[k] != theirs[k])
    print(f"{path}: {sum(theirs.values())} samples, {len(theirs)} rows, {len(differ)} differ, "
          f"status {status}")
    for key in differ[:12]:
        print(f"    {key}: perf {theirs[key]}, we {ours[key]}")
    if differ and log:
        print("    " + log.strip().replace("\n", "\n    "))
    return not differ


if __name__ == "__main__":
    with_modifiers = sys.argv[1] != "--without-modifiers"
    oprofile, *paths = sys.argv[1 if with_modifiers else 2:]
    agreed = [compare(oprofile, path, with_modifiers) for path in paths]
    sys.exit(0 if all(agreed) else 1)
