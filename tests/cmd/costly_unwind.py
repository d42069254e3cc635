#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""costly_unwind.py ELF OUT STEPS: copies an x86_64 program with one function, and gives that
function STEPS steps of call frame information, so that its unwind table is slow to build but
small."""
import struct
import sys

CIE = struct.pack("<II", 20, 0) + b"\x01zR\0\x01\x78\x10\x01\x1b\x0c\x07\x08\x90\x01\0\0"
STEP = b"\x0a\x0b"  # DW_CFA_remember_state, DW_CFA_restore_state
PT_GNU_EH_FRAME = 0x6474E550


def main():
    data = bytearray(open(sys.argv[1], "rb").read())
    table, = struct.unpack_from("<Q", data, 40)
    number, names = struct.unpack_from("<HH", data, 60)
    texts, = struct.unpack_from("<Q", data, table + 64 * names + 24)
    for i in range(number):
        name, = struct.unpack_from("<I", data, table + 64 * i)
        if data[texts + name:].startswith(b".eh_frame\0"):
            entry = table + 64 * i
    address, = struct.unpack_from("<Q", data, entry + 16)
    steps = STEP * int(sys.argv[3])
    length = 13 + len(steps)
    length += -length % 4
    fde = struct.pack("<IIiI", length, len(CIE) + 4, 0x1000 - (address + len(CIE) + 8), 0x7FFFFFFF)
    frames = CIE + (fde + b"\0" + steps).ljust(length + 4, b"\0") + bytes(4)
    data += bytes(-len(data) % 4096)
    struct.pack_into("<QQ", data, entry + 24, len(data), len(frames))
    data += frames
    # Without the program header, the section is found by its name.
    headers, = struct.unpack_from("<Q", data, 32)
    number, = struct.unpack_from("<H", data, 56)
    for i in range(number):
        if struct.unpack_from("<I", data, headers + 56 * i)[0] == PT_GNU_EH_FRAME:
            struct.pack_into("<I", data, headers + 56 * i, 0)
    open(sys.argv[2], "wb").write(data)


main()
