#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""make_pe.py FILE [stripped]: writes a PE library for x86-64 with two functions that count down.

They begin at the file offsets 0x1010 (spin, exported) and 0x1040 (idle; not in a stripped file)
and take the number of rounds. As in libraries of Wine, offsets in the file are those in memory.
"""
import struct
import sys

BASE = 0x180000000
ROUND = bytes.fromhex("4889f9" "48ffc9" "75fb" "c3")  # mov rcx, rdi; dec rcx; jne; ret


def section(name, rva, size, flags):
    return struct.pack("<8sIIIIIIHHI", name, size, rva, 0x1000, rva, 0, 0, 0, 0, flags)


def headers(symbols_at, nr_symbols):
    directories = [(0x2000, 0x100)] + [(0, 0)] * 15
    optional = struct.pack("<HBBIIIIIQIIHHHHHHIIIIHHQQQQII", 0x20B, 2, 0, 0x1000, 0x1000, 0, 0,
                           0x1000, BASE, 0x1000, 0x1000, 4, 0, 0, 0, 4, 0, 0, 0x3000, 0x1000, 0,
                           3, 0, 1 << 20, 1 << 12, 1 << 20, 1 << 12, 0, 16)
    optional += b"".join(struct.pack("<II", *d) for d in directories)
    out = b"MZ".ljust(0x3C, b"\0") + struct.pack("<I", 0x80)
    out = out.ljust(0x80, b"\0") + b"PE\0\0"
    out += struct.pack("<HHIIIHH", 0x8664, 2, 0, symbols_at, nr_symbols, len(optional), 0x2022)
    out += optional + section(b".text", 0x1000, 0x60, 0x60000020)
    return out + section(b".edata", 0x2000, 0x100, 0x40000040)


def exports():
    out = struct.pack("<IIHHIIIIIII", 0, 0, 0, 0, 0x2060, 1, 1, 1, 0x2028, 0x202C, 0x2030)
    out += struct.pack("<IIH", 0x1010, 0x2040, 0)
    return (out.ljust(0x40, b"\0") + b"spin").ljust(0x60, b"\0") + b"test.dll\0"


def symbols():
    rows = [(b"spin", 0x10, 2), (b"idle", 0x40, 3)]
    out = b"".join(struct.pack("<8sIhHBB", n, value, 1, 0x20, kind, 0) for n, value, kind in rows)
    return out + struct.pack("<I", 4), len(rows)


def main():
    stripped = len(sys.argv) > 2
    table, nr = symbols()
    image = headers(0 if stripped else 0x3000, 0 if stripped else nr).ljust(0x1000, b"\0")
    image += (b"\xCC" * 0x10 + ROUND).ljust(0x40, b"\xCC") + ROUND
    image = image.ljust(0x2000, b"\0") + exports()
    image = image.ljust(0x3000, b"\0") + (b"" if stripped else table)
    with open(sys.argv[1], "wb") as out:
        out.write(image)


main()
