# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a perf.data with a single software event, for the programs here that write records with
stacks."""
import struct

IP, TID, TIME, STACK_USER = 1, 2, 4, 1 << 13
SAMPLE_ID_ALL = 1 << 18
HEADER_BYTES, ATTR_BYTES = 104, 128
COMM, SAMPLE, FINISHED_ROUND = 3, 9, 68


def record(kind, body):
    return struct.pack("<IHH", kind, 0, 8 + len(body)) + body


def sample(ip, time, stack_bytes):
    return record(SAMPLE, struct.pack("<QIIQQ", ip, 7, 7, time, stack_bytes)
                  + bytes(stack_bytes) + struct.pack("<Q", stack_bytes))


def attr(stack_bytes, flags):
    out = bytearray(ATTR_BYTES)
    struct.pack_into("<IIQQQQQ", out, 0, 1, ATTR_BYTES, 0, 1000, IP | TID | TIME | STACK_USER, 0,
                     flags)
    struct.pack_into("<I", out, 88, stack_bytes)
    return bytes(out) + struct.pack("<QQ", 0, 0)


def write(path, stack_bytes, flags, records):
    data = b"".join(records)
    begin = HEADER_BYTES + ATTR_BYTES + 16
    with open(path, "wb") as out:
        out.write(b"PERFILE2" + struct.pack("<QQQQQQ", HEADER_BYTES, ATTR_BYTES + 16,
                                            HEADER_BYTES, ATTR_BYTES + 16, begin, len(data))
                  + bytes(HEADER_BYTES - 56) + attr(stack_bytes, flags) + data)
