#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""step_branches.py OUT PROGRAM [ARG...]: writes a perf.data file with branch stacks of a program.

Runs the program instruction by instruction from main() on, and writes exactly what a processor
with LBR would have recorded.  Every EVERY-th taken branch is a sample with the last DEPTH branches.
Only for x86-64; the program can be linked at any address (PIE or not).  objdump shows where its
instructions end."""
import ctypes
import os
import signal
import struct
import subprocess
import sys

EVERY, DEPTH = 97, 32
PTRACE_TRACEME, PTRACE_PEEKDATA, PTRACE_PEEKUSER, PTRACE_POKEDATA, PTRACE_POKEUSER = 0, 1, 3, 4, 6
PTRACE_CONT, PTRACE_SINGLESTEP = 7, 9
RIP = 16 * 8
ADDR_NO_RANDOMIZE = 0x40000

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


def ptrace(request, pid, addr=0, data=0):
    ctypes.set_errno(0)
    result = libc.ptrace(request, pid, addr, data)
    if ctypes.get_errno():
        raise OSError(ctypes.get_errno(), "ptrace")
    return result & (1 << 64) - 1


def wait(pid):
    """Returns whether the process still runs."""
    _, status = os.waitpid(pid, 0)
    return os.WIFSTOPPED(status)


def start(argv):
    pid = os.fork()
    if not pid:
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 1)
        libc.personality(ADDR_NO_RANDOMIZE)
        ptrace(PTRACE_TRACEME, 0)
        os.execv(argv[0], argv)
    assert wait(pid)
    return pid


def mappings(pid, path):
    """Returns the program's mappings: [(start, end, file offset, rwx, device, inode)]."""
    found = []
    with open(f"/proc/{pid}/maps") as maps:
        for line in maps:
            words = line.split()
            if words[-1] == path:
                low, high = (int(x, 16) for x in words[0].split("-"))
                major, minor = (int(x, 16) for x in words[3].split(":"))
                found.append((low, high, int(words[2], 16), words[1], (major, minor), int(words[4])))
    return found


def instructions(path, shift):
    """Returns {address: length} of all instructions, and the address of main()."""
    lengths, main = {}, 0
    text = subprocess.run(["objdump", "-d", "-w", path], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        words = line.split("\t")
        if line.endswith("<main>:"):
            main = int(line.split()[0], 16) + shift
        elif len(words) >= 2 and words[0].endswith(":"):
            lengths[int(words[0].strip(" :"), 16) + shift] = len(words[1].split())
    return lengths, main


def load_address(path):
    """Returns the link-time address of the first byte of the file."""
    out = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        words = line.split()
        if words and words[0] == "LOAD":
            return int(words[2], 16) - int(words[1], 16)
    raise SystemExit("no segment")


def run_to(pid, address):
    ptrace(PTRACE_CONT, pid)
    assert wait(pid)
    assert ptrace(PTRACE_PEEKUSER, pid, RIP) == address + 1


def step_all(pid, lengths, main):
    """Returns [(ip, [(from, to)...] newest first)]."""
    word = ptrace(PTRACE_PEEKDATA, pid, main)
    ptrace(PTRACE_POKEDATA, pid, main, word & ~0xFF | 0xCC)
    run_to(pid, main)
    ptrace(PTRACE_POKEDATA, pid, main, word)
    ptrace(PTRACE_POKEUSER, pid, RIP, main)
    samples, branches, taken, pc = [], [], 0, main
    while True:
        ptrace(PTRACE_SINGLESTEP, pid)
        if not wait(pid):
            return samples
        to = ptrace(PTRACE_PEEKUSER, pid, RIP)
        length = lengths.get(pc)
        if to != pc + (length or 0) and (length or to in lengths) and to != pc:
            branches = [(pc, to)] + branches[: DEPTH - 1]
            taken += 1
            if taken % EVERY == 0:
                samples.append((to, branches))
        pc = to


def build_id(path):
    out = subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=True).stdout
    return next((bytes.fromhex(l.split()[-1]) for l in out.splitlines() if "Build ID" in l), b"")


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def padded(text):
    raw = os.fsencode(text) + b"\0"
    return raw + bytes(-len(raw) % 8)


def write(out, path, pid, maps, samples):
    sample_type = 1 | 2 | 4 | 0x100 | 0x800  # IP TID TIME PERIOD BRANCH_STACK
    # exclude_kernel, exclude_hv, mmap, comm, sample_id_all, mmap2
    flags = 1 << 5 | 1 << 6 | 1 << 8 | 1 << 9 | 1 << 18 | 1 << 23
    attr = struct.pack("<IIQQQQQIIQQQ", 0, 112, 0, EVERY, sample_type, 0, flags, 0, 0, 0, 0, 1 | 8)
    attr = attr.ljust(112, b"\0")
    ident = struct.pack("<IIQ", pid, pid, 1000)
    data = record(3, 1 << 13, struct.pack("<II", pid, pid) + padded(os.path.basename(path)[:15]) + ident)
    got = build_id(path)
    for low, high, offset, rights, device, inode in maps:
        if "x" not in rights:
            continue
        if got:
            who, misc = struct.pack("<B3x20s", len(got), got), 2 | 1 << 14
        else:
            who, misc = struct.pack("<IIQQ", *device, inode, 0), 2
        body = struct.pack("<IIQQQ", pid, pid, low, high - low, offset) + who
        data += record(10, misc, body + struct.pack("<II", 5, 2) + padded(path) + ident)
    for i, (ip, branches) in enumerate(samples):
        body = struct.pack("<QIIQQQ", ip, pid, pid, 2000 + i * 1000, EVERY, len(branches))
        body += b"".join(struct.pack("<QQQ", a, b, 2) for a, b in branches)  # predicted
        data += record(9, 2, body)
    header = b"PERFILE2" + struct.pack("<QQ", 104, 128) + struct.pack("<QQ", 104, 128)
    header += struct.pack("<QQ", 232, len(data)) + bytes(16) + bytes(32)
    with open(out, "wb") as file:
        file.write(header + attr + bytes(16) + data)


def main():
    out, argv = sys.argv[1], sys.argv[2:]
    argv[0] = os.path.realpath(argv[0])
    pid = start(argv)
    maps = mappings(pid, argv[0])
    lengths, where = instructions(argv[0], maps[0][0] - maps[0][2] - load_address(argv[0]))
    samples = step_all(pid, lengths, where)
    write(out, argv[0], pid, maps, samples)
    print(len(samples), "samples")


signal.alarm(200)
main()
