#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""rounds_heads.py FILE NAMES: writes a perf.data of short rounds. It has more samples than are
counted at once when only their heads are kept, from a thread that changes its name every NAMED
samples. The record of a name is at the end of its round, after samples with later times."""
import struct
import sys

from plain_file import COMM, FINISHED_ROUND, SAMPLE_ID_ALL, record, sample, write

STACK_BYTES = 1024
ROUND, NAMED = 500, 5000


def comm(name, time):
    return record(COMM, struct.pack("<II8sIIQ", 7, 7, name.encode(), 7, 7, time))


def records(names):
    for first in range(0, names * NAMED, ROUND):
        for i in range(first, first + ROUND):
            yield sample(0x400000 + i, 1000 + 2 * i, STACK_BYTES)
        if first % NAMED == 0:
            yield comm(f"name{first // NAMED}", 999 + 2 * first)
        yield record(FINISHED_ROUND, b"")


write(sys.argv[1], STACK_BYTES, SAMPLE_ID_ALL, records(int(sys.argv[2])))
