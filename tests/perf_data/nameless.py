#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""nameless.py FILE: writes a perf.data with threads that have no name, or get one only after some
of their samples.

FILE.counts contains the expected name of each sample, as perf report counts them, in lines "name
samples": the first name of a thread also applies to its earlier samples.
"""
import struct
import sys
from collections import Counter

from plain_file import COMM, FINISHED_ROUND, SAMPLE, SAMPLE_ID_ALL, record, write

FORK = 7
MANY = 140000  # more than are counted at once, and than are kept before a write

records, counts = [], Counter()
time = 1000


def trailer(pid, tid):
    global time
    time += 1
    return struct.pack("<IIQ", pid, tid, time)


def rounds():
    """Ends a round, so that readers process the data so far."""
    records.extend([record(FINISHED_ROUND, b"")] * 3)


def sample(pid, tid, name, nr=1):
    for _ in range(nr):
        records.append(record(SAMPLE, struct.pack("<Q", 0x1000) + trailer(pid, tid)
                              + struct.pack("<Q", 0)))
        counts[name] += 1


def comm(pid, tid, name):
    records.append(record(COMM, struct.pack("<II16s", pid, tid, name.encode()) + trailer(pid, tid)))


def fork(pid, ppid, tid, ptid):
    records.append(record(FORK, struct.pack("<IIIIQ", pid, ppid, tid, ptid, time + 1)
                          + trailer(pid, tid)))


def main():
    # Process 10 and its children are never named, although their ids appear as names.
    sample(10, 10, ":10", 3)
    fork(11, 10, 11, 10)
    sample(11, 11, ":11", 2)
    fork(11, 11, 12, 11)
    sample(11, 12, ":12", 4)
    # Named after its first samples, then again; one child forked before, and one in between.
    sample(20, 20, "first", 5)
    fork(21, 20, 21, 20)
    rounds()
    comm(20, 20, "first")
    sample(20, 20, "first", 6)
    fork(22, 20, 22, 20)
    sample(22, 22, "first", 7)
    comm(20, 20, "second")
    sample(20, 20, "second", 8)
    sample(21, 21, "third", 9)
    comm(21, 21, "third")
    sample(30, 30, "fourth", 12)
    for _ in range(10):
        sample(10, 10, ":10", MANY // 10)
        rounds()
    comm(30, 30, "fourth")
    sample(30, 30, "fourth", 13)
    write(sys.argv[1], 0, SAMPLE_ID_ALL, records)
    with open(sys.argv[1] + ".counts", "w", encoding="utf-8") as out:
        out.writelines(f"{name} {nr}\n" for name, nr in sorted(counts.items()))


main()
