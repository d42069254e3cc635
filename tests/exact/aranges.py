"""A copy of a binary with .debug_aranges: elfutils finds units by nothing else, and clang, Go and
rustc write none.  What goes in is what llvm-dwarfdump prints of each unit's own ranges."""
import re
import struct
import subprocess
import tempfile


def unit_ranges(text):
    """{offset of a unit: [(first address, address behind the last)]}."""
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
    """DWARF 5, 6.1.2: 32-bit form, addresses of 8 bytes, tuples at multiples of 16."""
    out = b""
    for offset, ranges in sorted(units.items()):
        # Address 0 is what the linker makes of code that it left out.
        pairs = [(a, b - a) for a, b in ranges if a and b > a]
        body = struct.pack("<HIBB4x", 2, offset, 8, 0)
        body += b"".join(struct.pack("<QQ", *p) for p in [*pairs, (0, 0)])
        out += struct.pack("<I", len(body)) + body
    return out


def has_aranges(binary):
    text = subprocess.run(["readelf", "-SW", binary], capture_output=True, text=True,
                          check=True).stdout
    return bool(re.search(r"\.z?debug_aranges", text))


def add_aranges(binary, out):
    text = subprocess.run(["llvm-dwarfdump", "-r", "0", "--debug-info", binary],
                          capture_output=True, text=True, errors="replace", check=True).stdout
    with tempfile.NamedTemporaryFile() as made:
        made.write(section(unit_ranges(text)))
        made.flush()
        subprocess.run(["objcopy", "--add-section", f".debug_aranges={made.name}", binary, out],
                       check=True, stderr=subprocess.DEVNULL)
    return out
