#!/usr/bin/env python3
"""Writes a perf.data with stacks whose rounds end after some samples, and more behind them than
may wait for a round: rounds_end.py FILE SAMPLES."""
import struct
import sys

IP, TID, TIME, STACK_USER = 1, 2, 4, 1 << 13
STACK_BYTES = 8192
HEADER_BYTES, ATTR_BYTES = 104, 128
SAMPLE, FINISHED_ROUND = 9, 68
ROUNDS_AT = (40, 60)


def record(kind, body):
    return struct.pack("<IHH", kind, 0, 8 + len(body)) + body


def records(samples):
    for i in range(samples):
        yield record(SAMPLE, struct.pack("<QIIQQ", 0x400000 + i, 7, 7, 1000 + i, STACK_BYTES)
                     + bytes(STACK_BYTES) + struct.pack("<Q", STACK_BYTES))
        if i in ROUNDS_AT:
            yield record(FINISHED_ROUND, b"")


def attr():
    out = bytearray(ATTR_BYTES)
    struct.pack_into("<IIQQQ", out, 0, 1, ATTR_BYTES, 0, 1000, IP | TID | TIME | STACK_USER)
    struct.pack_into("<I", out, 88, STACK_BYTES)
    return bytes(out) + struct.pack("<QQ", 0, 0)


def main():
    data = b"".join(records(int(sys.argv[2])))
    begin = HEADER_BYTES + ATTR_BYTES + 16
    with open(sys.argv[1], "wb") as out:
        out.write(b"PERFILE2" + struct.pack("<QQQQQQ", HEADER_BYTES, ATTR_BYTES + 16,
                                            HEADER_BYTES, ATTR_BYTES + 16, begin, len(data))
                  + bytes(HEADER_BYTES - 56) + attr() + data)


main()
