# SPDX-License-Identifier: GPL-2.0-or-later
"""Copies a binary and adds .debug_aranges: elfutils finds units only by it, but clang and Go
write none, and rustc not for all units. The ranges come from llvm-dwarfdump."""
import re
import struct
import subprocess
import tempfile


def unit_ranges(text):
    """Returns {offset of a unit: [(first address, address after the last)]}."""
    units = {}
    here, low = None, None
    for line in text.splitlines():
        if m := re.match(r"0x([0-9a-f]+): Compile Unit:", line):
            here, low = units.setdefault(int(m[1], 16), []), None
        elif here is None:
            continue
        elif m := re.search(r"DW_AT_low_pc\t\(0x([0-9a-f]+)\)", line):
            low = int(m[1], 16)
        elif m := re.search(r"DW_AT_high_pc\t\(0x([0-9a-f]+)\)", line):
            here.append((low, int(m[1], 16)))
        elif m := re.search(r"\[0x([0-9a-f]+), 0x([0-9a-f]+)\)", line):
            here.append((int(m[1], 16), int(m[2], 16)))
    return units


def section(units):
    """Returns the bytes of the section (DWARF 5, 6.1.2): 32-bit form, addresses of 8 bytes, tuples
    at multiples of 16."""
    out = b""
    for offset, ranges in sorted(units.items()):
        # The linker sets the address of removed code to 0.
        pairs = [(a, b - a) for a, b in ranges if a and b > a]
        body = struct.pack("<HIBB4x", 2, offset, 8, 0)
        body += b"".join(struct.pack("<QQ", *p) for p in [*pairs, (0, 0)])
        out += struct.pack("<I", len(body)) + body
    return out


def print_of(*command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace",
                          check=True).stdout


def with_aranges(binary, out):
    """Returns the binary itself if its .debug_aranges are complete, else `out`, the copy."""
    units = unit_ranges(print_of("llvm-dwarfdump", "-r", "0", "--debug-info", binary))
    there = {int(o, 16) for o in re.findall(r"Offset into \.debug_info:\s+(?:0x)?([0-9a-f]+)",
                                            print_of("readelf", "-wr", binary))}
    if all(at in there for at, ranges in units.items() if ranges):
        return binary
    with tempfile.NamedTemporaryFile() as made:
        made.write(section(units))
        made.flush()
        subprocess.run(["objcopy", "--remove-section", ".debug_aranges", "--add-section",
                        f".debug_aranges={made.name}", binary, out],
                       check=True, stderr=subprocess.DEVNULL)
    return out
