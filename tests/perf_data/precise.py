#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""precise.py DIRECTORY: writes recordings whose samples have another address than their chain.

A precise event (PEBS, IBS) reports the instruction that caused it; the chain is that of the
interrupt, which arrived later. Writes one file per combination.
"""
import os
import sys

import made
from made import CONTEXT_KERNEL, CONTEXT_USER, EXACT_IP, KERNEL, KERNEL_TEXT, TEXT, USER

LIBRARY, OTHER = 0x500000, 0x600000


def begin():
    f = made.Made(made.Event("cycles:pp", sample_type=made.SAMPLE_TYPE | made.CALLCHAIN,
                             flags=made.FLAGS | made.PRECISE))
    f.kernel()
    f.process("prog")
    f.mapping(TEXT, "/opt/prog", build_id=bytes(range(1, 21)))
    f.mapping(LIBRARY, "/opt/lib.so", build_id=bytes(range(2, 22)))
    f.mapping(OTHER, "/opt/other.so", build_id=bytes(range(3, 23)))
    return f


# name: (address, mode, words of the chain)
CASES = {
    # The interrupt arrived in the kernel.
    "kernel": (TEXT + 0x100, USER, (CONTEXT_KERNEL, KERNEL_TEXT + 0x100, CONTEXT_USER,
                                    LIBRARY + 0x900, TEXT + 0x800)),
    # The event was in the kernel, and the interrupt arrived when the thread was back in its
    # program.
    "user": (KERNEL_TEXT + 0x500, KERNEL, (CONTEXT_USER, LIBRARY + 0x900, TEXT + 0x800)),
    # Some instructions later.
    "later": (LIBRARY + 0x8f0, USER, (CONTEXT_USER, LIBRARY + 0x900, TEXT + 0x800)),
    # In the function that was called.
    "called": (TEXT + 0x7fb, USER, (CONTEXT_USER, LIBRARY + 0x900, TEXT + 0x800)),
    # In another library.
    "returned": (OTHER + 0x40, USER, (CONTEXT_USER, LIBRARY + 0x900, TEXT + 0x800)),
    # The chain has no marker.
    "bare": (OTHER + 0x40, USER, (LIBRARY + 0x900, TEXT + 0x800)),
    # The chain has no address.
    "empty": (TEXT + 0x100, USER, (CONTEXT_USER,)),
    # The address is in no mapping.
    "nowhere": (0x123456, USER, (CONTEXT_KERNEL, KERNEL_TEXT + 0x100, CONTEXT_USER,
                                 TEXT + 0x800)),
}

for case, (ip, mode, words) in CASES.items():
    out = begin()
    for _ in range(3):
        out.sample(ip, mode | EXACT_IP, made.chain(*words))
    with open(os.path.join(sys.argv[1], case), "wb") as target:
        target.write(out.file())
