#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""lbr.py FILE PROGRAM BYTE_ORDER [empty]: writes a perf.data like `perf record --call-graph lbr`.

User callers are in branch stacks of call-stack mode, as CPUs store them; the chains are wrong after
the first address, as without frame pointers. PROGRAM is tests/workloads/deep; BYTE_ORDER is little
or big. With `empty` there are also samples whose branch stack is empty (perf reads beyond the end
of these). FILE.folded contains the expected stacks in the format of `oprofile export folded`.
Source of the formats: perf_event_open(2), <linux/perf_event.h>.
"""
import struct
import subprocess
import sys

KERNEL_START = 0xffffffff81000000
BASE, TEXT = 0x555500000000, 0x1000
PID = 77
MISC_KERNEL, MISC_USER = 1, 2
CONTEXT_KERNEL, CONTEXT_USER = (1 << 64) - 128, (1 << 64) - 512
IP, TID, TIME, CALLCHAIN, PERIOD, BRANCH_STACK = 1, 2, 4, 1 << 5, 1 << 8, 1 << 11
BRANCH_USER, BRANCH_CALL_STACK, BRANCH_HW_INDEX = 1, 1 << 11, 1 << 17
MMAP, COMM, SAMPLE_ID_ALL, MMAP2 = 1 << 8, 1 << 9, 1 << 18, 1 << 23
MISC_BUILD_ID = 1 << 14


class File:
    sample_type = IP | TID | TIME | CALLCHAIN | PERIOD | BRANCH_STACK

    def __init__(self, big, addresses):
        self.order = ">" if big else "<"
        self.big = big
        self.addresses = addresses
        self.now = 1000
        self.data = b""
        self.stacks = {}

    def pack(self, form, *values):
        return struct.pack(self.order + form, *values)

    def record(self, kind, misc, body):
        self.data += self.pack("IHH", kind, misc, 8 + len(body)) + body

    def trailer(self, tid=PID):
        self.now += 1000
        return self.pack("IIQ", PID, tid, self.now)

    def text(self, name):
        return name.encode() + bytes(8 - len(name) % 8)

    def mapping(self, misc, pid, start, size, offset, name):
        self.record(1, misc, self.pack("iIQQQ", pid, max(pid, 0), start, size, offset) +
                    self.text(name) + self.trailer())

    def program(self, start, size, offset, path):
        """Include the build-id: with the other byte order, a name alone does not identify a
        file."""
        with open(path, "rb") as image:
            bytes_ = image.read(4096)
        note = bytes_.index(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0") + 16
        body = self.pack("iIQQQBBH", PID, PID, start, size, offset, 20, 0, 0)
        body += bytes_[note:note + 20] + self.pack("II", 5, 2)
        self.record(10, MISC_USER | MISC_BUILD_ID, body + self.text(path) + self.trailer())

    def at(self, place):
        name, offset = place
        return BASE + self.addresses[name] + offset

    def flags(self):
        """Returns the flags of a predicted branch: the second bit field, which is at the other end
        of the word on big-endian machines."""
        return 1 << 62 if self.big else 2

    def sample(self, misc, ip, chain, branches, times, stack, tid=PID):
        for _ in range(times):
            self.now += 1000
            body = self.pack("QIIQQ", ip, PID, tid, self.now, 1)
            body += self.pack(f"Q{len(chain)}Q", len(chain), *chain)
            if self.sample_type & BRANCH_STACK:
                body += self.pack("QQ", len(branches), 0)
            for origin, target in branches:
                body += self.pack("QQQ", self.at(origin), self.at(target), self.flags())
            self.record(9, misc, body)
        self.stacks[";".join(stack)] = self.stacks.get(";".join(stack), 0) + times

    def write(self, path):
        flags = MMAP | COMM | SAMPLE_ID_ALL | MMAP2
        if self.big: # bit fields start at the other end
            flags = int(f"{flags:064b}"[::-1], 2)
        attr = self.pack("IIQQQQQ", 0, 128, 0, 1, self.sample_type, 0, flags)
        attr += self.pack("IIQQQ", 0, 0, 0, 0, BRANCH_USER | BRANCH_CALL_STACK | BRANCH_HW_INDEX)
        attr += bytes(128 - len(attr)) + self.pack("QQ", 0, 0)
        head = b"2ELIFREP" if self.big else b"PERFILE2"
        head += self.pack("8Q", 104, 144, 104, len(attr), 104 + len(attr), len(self.data), 0, 0)
        with open(path, "wb") as out:
            out.write(head + bytes(32) + attr + self.data)
        with open(path + ".folded", "w", encoding="ascii") as out:
            for stack, times in sorted(self.stacks.items()):
                out.write(f"program;{stack} {times}\n")


def addresses_of(program):
    lines = subprocess.run(["nm", program], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {words[2]: int(words[0], 16) for words in map(str.split, lines.splitlines())
            if len(words) == 3}


def begin(f, program):
    """Writes records of the kernel, a process, and its program."""
    f.mapping(MISC_KERNEL, -1, KERNEL_START, 0x1000000, KERNEL_START, "[kernel.kallsyms]_text")
    f.record(3, 0, f.pack("II", PID, PID) + f.text("program") + f.trailer())
    f.program(BASE + TEXT, 0x1000, TEXT, program)


def main():
    path, program, order = sys.argv[1:4]
    f = File(order == "big", addresses_of(program))
    begin(f, program)
    kernel, junk = KERNEL_START + 0x100, f.at(("work_die", 4))
    bottom, skip = f.at(("bottom", 7)), f.at(("work_skip", 5))
    # The call can be the first instruction of its function.
    outer = [(("descend", 0), ("descend", 0)), (("main", 9), ("descend", 0)),
             (("_start", 20), ("main", 0))]
    f.sample(MISC_USER, bottom, [CONTEXT_USER, bottom, junk],
             [(("descend", 64), ("bottom", 0))] + outer, 5,
             ["_start", "main", "descend", "descend", "bottom"])
    f.sample(MISC_KERNEL, kernel, [CONTEXT_KERNEL, kernel, CONTEXT_USER, skip, junk],
             [(("main", 12), ("work_skip", 0))] + outer[2:], 3,
             ["_start", "main", "work_skip", "[no-vmlinux]"])
    # All entries of this CPU are in use, so the caller of the first one is unknown.
    f.sample(MISC_USER, bottom, [CONTEXT_USER, bottom],
             [(("descend", 64), ("bottom", 0))] + 15 * [(("descend", 64), ("descend", 0))], 2,
             ["[truncated]"] + 16 * ["descend"] + ["bottom"])
    # The branch stack of a kernel thread belongs to another thread.
    f.sample(MISC_KERNEL, kernel, [CONTEXT_KERNEL, kernel], outer, 4, ["[no-vmlinux]"])
    if "empty" in sys.argv[4:]:
        f.sample(MISC_USER, bottom, [CONTEXT_USER, bottom, f.at(("main", 9))], [], 6,
                 ["main", "bottom"])
    f.write(path)


if __name__ == "__main__":
    main()
