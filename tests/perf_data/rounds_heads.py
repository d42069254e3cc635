#!/usr/bin/env python3
"""Writes a perf.data of short rounds with more samples than are counted at once when only their
beginnings are kept, from one thread that changes its name every NAMED samples; the record of a name
stands at the end of its round, behind samples that are younger: rounds_heads.py FILE NAMES."""
import struct
import sys

IP, TID, TIME, STACK_USER = 1, 2, 4, 1 << 13
SAMPLE_ID_ALL = 1 << 18
STACK_BYTES = 1024
HEADER_BYTES, ATTR_BYTES = 104, 128
COMM, SAMPLE, FINISHED_ROUND = 3, 9, 68
ROUND, NAMED = 500, 5000


def record(kind, body):
    return struct.pack("<IHH", kind, 0, 8 + len(body)) + body


def sample(number):
    return record(SAMPLE, struct.pack("<QIIQQ", 0x400000 + number, 7, 7, 1000 + 2 * number, STACK_BYTES)
                  + bytes(STACK_BYTES) + struct.pack("<Q", STACK_BYTES))


def comm(name, time):
    return record(COMM, struct.pack("<II8sIIQ", 7, 7, name.encode(), 7, 7, time))


def records(names):
    for first in range(0, names * NAMED, ROUND):
        for i in range(first, first + ROUND):
            yield sample(i)
        if first % NAMED == 0:
            yield comm(f"name{first // NAMED}", 999 + 2 * first)
        yield record(FINISHED_ROUND, b"")


def attr():
    out = bytearray(ATTR_BYTES)
    struct.pack_into("<IIQQQQQ", out, 0, 1, ATTR_BYTES, 0, 1000, IP | TID | TIME | STACK_USER, 0,
                     SAMPLE_ID_ALL)
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
