#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""without_chains.py FROM TO: copies a perf.data of either byte order that has copies of stacks, as
if its event had requested registers and stacks but no chains: clears the bit, and moves the
sample's chain after its last field, where no reader looks."""
import struct
import sys

CALLCHAIN, READ, SAMPLE = 1 << 5, 1 << 4, 9
# IP, TID, TIME, ADDR, ID, CPU, PERIOD, STREAM_ID, IDENTIFIER: 8 bytes each, before the chain
FIXED_BITS = [0, 1, 2, 3, 6, 7, 8, 9, 16]


def main(path, to):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    order = "<" if data[:8] == b"PERFILE2" else ">"
    attr_size, attrs, attrs_bytes, at, data_bytes = struct.unpack_from(order + "5Q", data, 16)
    for attr in range(attrs, attrs + attrs_bytes, attr_size):
        asked, = struct.unpack_from(order + "Q", data, attr + 24)
        assert asked & CALLCHAIN and not asked & READ
        struct.pack_into(order + "Q", data, attr + 24, asked & ~CALLCHAIN)
    chain_at = 8 + 8 * sum(asked >> bit & 1 for bit in FIXED_BITS)
    end = at + data_bytes
    while at < end:
        kind, _, size = struct.unpack_from(order + "IHH", data, at)
        if kind == SAMPLE:
            nr, = struct.unpack_from(order + "Q", data, at + chain_at)
            chain, rest = at + chain_at, at + chain_at + 8 + 8 * nr
            data[chain:at + size] = data[rest:at + size] + data[chain:rest]
        at += size
    with open(to, "wb") as file:
        file.write(data)


main(*sys.argv[1:])
