#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""rounds_end.py FILE SAMPLES: writes a perf.data with stacks whose rounds end after some samples.
More samples follow than can wait for a round."""
import sys

from plain_file import FINISHED_ROUND, record, sample, write

STACK_BYTES = 8192
ROUNDS_AT = (40, 60)


def records(samples):
    for i in range(samples):
        yield sample(0x400000 + i, 1000 + i, STACK_BYTES)
        if i in ROUNDS_AT:
            yield record(FINISHED_ROUND, b"")


write(sys.argv[1], STACK_BYTES, 0, records(int(sys.argv[2])))
