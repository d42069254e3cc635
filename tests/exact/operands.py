#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""operands.py DECODE_TEXT [--long] [FILE...]: compares the text of each x86 instruction in the
executable sections of binaries with objdump -d, without symbols.

Without FILEs it uses the C library and DECODE_TEXT's own program; with --long also other libraries
and programs of this machine.  Only instructions at addresses where both have one are compared,
because objdump starts again at each symbol.  Permitted differences are listed in
docs/disassembly.md.  The exit status is 1 if there is any other, and 77 if nothing can be compared.
"""
import glob
import itertools
import os
import re
import shutil
import subprocess
import sys

LINE = re.compile(r"^ *([0-9a-f]+):\t(.*)")
SYMBOL = re.compile(r" <[^>]*>")
SHOWN = 5
LIBRARIES = "/usr/lib/x86_64-linux-gnu"
USUAL = (f"{LIBRARIES}/libc.so.6",)
LONG = (f"{LIBRARIES}/libcrypto.so.3", f"{LIBRARIES}/libstdc++.so.6", f"{LIBRARIES}/libm.so.6",
        "/usr/bin/bash", "/usr/bin/perf*", f"{LIBRARIES}/libpython3*.so.*", "/usr/bin/python3.*",
        f"{LIBRARIES}/libgmp.so.10")


def normal(text):
    """Removes symbols, and blanks that only align."""
    return " ".join(SYMBOL.sub("", text).split())


def theirs(path):
    argv = ["objdump", "-d", "-z", "-w", "--no-show-raw-insn", path]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, errors="replace") as done:
        for line in done.stdout:
            match = LINE.match(line)
            if match:
                yield int(match[1], 16), normal(match[2])
    if done.returncode:
        sys.exit(f"objdump failed on {path}")


def ours(decode_text, path):
    argv = [decode_text, "--text", path]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, errors="replace") as done:
        for line in done.stdout:
            address, _, text = line.split(" ", 2)
            yield int(address, 16), normal(text)
    if done.returncode:
        sys.exit(f"{decode_text} failed on {path}")


def is_permitted(here, there):
    """A byte that is not an instruction is shown by its value."""
    return here.startswith(".byte ") and there.startswith("(bad)")


def compare(decode_text, path):
    there = dict(theirs(path))
    both = permitted = 0
    different = []
    for address, text in ours(decode_text, path):
        if address not in there:
            continue
        both += 1
        if text == there[address]:
            continue
        if is_permitted(text, there[address]):
            permitted += 1
        else:
            different.append((address, text, there[address]))
    print(f"{os.path.basename(path)}: {both} of {len(there)} instructions compared, "
          f"{permitted} permitted differences, {len(different)} others", flush=True)
    for address, here, text in different[:SHOWN]:
        print(f"  {address:x}: '{here}', objdump '{text}'")
    return not different and both


def main():
    words = [word for word in sys.argv[1:] if word != "--long"]
    decode_text, paths = words[0], words[1:]
    engine = subprocess.run([decode_text, "--engine"], capture_output=True, text=True,
                            check=False).stdout.strip()
    if not shutil.which("objdump") or engine != "libopcodes":
        print(f"skipped: objdump or libopcodes is missing (x86 is decoded by {engine or 'nothing'})")
        return 77
    if not paths:
        wanted = USUAL + (LONG if "--long" in sys.argv else ())
        paths = [decode_text] + list(itertools.chain.from_iterable(map(glob.glob, wanted)))
    paths = sorted({os.path.realpath(path) for path in paths})
    return int(not all([compare(decode_text, path) for path in paths if is_elf(path)]))


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


if __name__ == "__main__":
    sys.exit(main())
