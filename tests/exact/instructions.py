#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""instructions.py DECODE_TEXT [NAME=]OBJDUMP:FILE[:DEBUG-FILE]... : compares the start of each
instruction in the executable sections of binaries with objdump for their machine.

Without FILEs it uses the C libraries of this machine and of the installed cross compilers. For
objdump, eu-unstrip combines a stripped binary with its debug file, because objdump cannot detect
Thumb code or data of ARM otherwise; our decoder reads the two files. Bytes that objdump prints as
data (".word", ".long") or does not know are counted separately.

The exit status is 1 if more than 0.1 % of the instructions start elsewhere, or are not decoded."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

SHARE = 0.001
LINE = re.compile(r"^ *([0-9a-f]+):\t *(.*)")
DATA = re.compile(r"\.(word|short|byte|long|quad|hword|inst|insn|4byte|2byte|half|value)\b|"
                  r"\(bad\)|<undefined>|UNDEFINED|undefined")
CROSS = (("aarch64-linux-gnu", "AArch64"), ("s390x-linux-gnu", "s390x"),
         ("powerpc64le-linux-gnu", "ppc64le"), ("riscv64-linux-gnu", "riscv64"))


def lines_of(argv):
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, errors="replace") as done:
        yield from done.stdout
    if done.returncode:
        sys.exit(f"{argv[0]} failed")


def theirs(objdump, path):
    insns, data = set(), set()
    for line in lines_of([objdump, "-d", "-z", "--no-show-raw-insn", "-w", path]):
        match = LINE.match(line)
        if match:
            (data if DATA.match(match[2]) else insns).add(int(match[1], 16))
    return insns, data


def ours(decode_text, path, debug):
    kinds = {"insn": set(), "data": set(), "bad": set()}
    for line in lines_of([decode_text, path] + ([debug] if debug else [])):
        address, _, kind = line.split()
        kinds[kind].add(int(address, 16))
    return kinds


def compare(decode_text, name, objdump, path, debug, folder):
    whole = path
    if debug:
        whole = os.path.join(folder, "whole")
        subprocess.run(["eu-unstrip", "-o", whole, path, debug], check=True)
    insns, data = theirs(objdump, whole)
    kinds = ours(decode_text, path, debug)
    starts = kinds["insn"] | kinds["bad"]
    only_there = insns - starts
    # If objdump prints data, our decoder finds an instruction there only by coincidence.
    only_here = kinds["insn"] - insns - data
    guessed = len((kinds["insn"] & data))
    bad = kinds["bad"] & insns
    good = max(len(only_there), len(only_here), len(bad)) <= SHARE * len(insns)
    print(f"| {name} | {len(insns)} | {len(only_there)} | {len(only_here)} | "
          f"{len(bad)} ({len(bad) / max(len(insns), 1):.3%}) | {len(data)} | {guessed} | "
          f"{'' if good else '**no**'} |", flush=True)
    return len(insns), good


def arm_program(folder):
    """ARM's libraries are stripped, so that their data cannot be distinguished from code; a
    program that is linked from the static library has all mapping symbols."""
    compiler = "arm-linux-gnueabihf-gcc"
    path = os.path.join(folder, "arm")
    if not shutil.which(compiler):
        return []
    done = subprocess.run([compiler, "-static", "-o", path, "-xc", "-"], text=True,
                          input='#include <stdio.h>\nint main(void) { puts(""); }\n')
    return [] if done.returncode else [
        ("ARM, a static program", "arm-linux-gnueabihf-objdump", path, None)]


def usual(folder):
    rows = [("libc.so.6", "objdump", path, None)
            for path in glob.glob(f"/usr/lib/{os.uname().machine}-linux-gnu/libc.so.6")
            if shutil.which("objdump")]
    for triple, name in CROSS:
        objdump = f"{triple}-objdump"
        for path in glob.glob(f"/usr/{triple}/lib/libc.so.6"):
            if shutil.which(objdump):
                rows.append((f"{name} libc.so.6", objdump, path, None))
    return rows + arm_program(folder)


def parse(word):
    name, rest = word.split("=", 1) if "=" in word else (None, word)
    objdump, path, *debug = rest.split(":")
    return name or os.path.basename(path), objdump, path, debug[0] if debug else None


def main():
    decode_text = sys.argv[1]
    status = 0
    print("| binary | instructions | only objdump | only here | undecoded | data there | "
          "decoded here | |\n|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        rows = [parse(w) for w in sys.argv[2:]] or usual(folder)
        for name, objdump, path, debug in rows:
            status |= not compare(decode_text, name, objdump, path, debug, folder)[1]
    sys.exit(status)


if __name__ == "__main__":
    main()
