#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""deferred.py FILE PROGRAM BYTE_ORDER: writes a perf.data with deferred user chains, as kernels
from Linux 6.19 on write them for attr.defer_callchain.

A sample's chain ends with a cookie; the user part is in a record that the thread writes when it
returns to user space. FILE.folded contains the expected stacks. PROGRAM is tests/workloads/deep.
Source of the formats: <linux/perf_event.h>, PERF_RECORD_CALLCHAIN_DEFERRED.
"""
import sys

from lbr import (CALLCHAIN, CONTEXT_KERNEL, CONTEXT_USER, IP, KERNEL_START, MISC_KERNEL, MISC_USER,
                 PERIOD, PID, TID, TIME, File, addresses_of, begin)

CONTEXT_USER_DEFERRED = (1 << 64) - 640
FINISHED_ROUND, CALLCHAIN_DEFERRED = 68, 22
OTHER = PID + 1


class Deferred(File):
    sample_type = IP | TID | TIME | CALLCHAIN | PERIOD

    def rounds(self):
        """Ends a round, so that readers process the data so far."""
        for _ in range(3):
            self.record(FINISHED_ROUND, 0, b"")

    def chain(self, cookie, tid, addresses):
        words = [CONTEXT_USER] + addresses
        self.record(CALLCHAIN_DEFERRED, MISC_USER,
                    self.pack(f"QQ{len(words)}Q", cookie, len(words), *words) + self.trailer(tid))


def main():
    path, program, order = sys.argv[1:4]
    f = Deferred(order == "big", addresses_of(program))
    begin(f, program)
    f.record(3, 0, f.pack("II", PID, OTHER) + f.text("program") + f.trailer(OTHER))
    kernel, skip, bottom = KERNEL_START + 0x100, f.at(("work_skip", 5)), f.at(("bottom", 7))
    outer = [f.at(("main", 9)), f.at(("_start", 20))]
    in_kernel = [CONTEXT_KERNEL, kernel, CONTEXT_USER_DEFERRED]
    skips = ["_start", "main", "work_skip", "[no-vmlinux]"]
    bottoms = ["_start", "main", "descend", "bottom"]
    # Samples of two threads stay in the kernel; another thread uses the same cookie.
    f.sample(MISC_KERNEL, kernel, in_kernel + [5], [], 3, skips)
    f.sample(MISC_KERNEL, kernel, in_kernel + [5], [], 2,
             ["_start", "main", "bottom", "[no-vmlinux]"], OTHER)
    f.chain(5, PID, [skip] + outer)
    f.chain(5, OTHER, [bottom] + outer)
    # A long time in the kernel: the record follows after the samples were processed.
    f.sample(MISC_USER, bottom, [CONTEXT_USER_DEFERRED, 6], [], 2, bottoms)
    f.sample(MISC_KERNEL, kernel, in_kernel + [7], [], 1, skips)
    f.rounds()
    f.sample(MISC_USER, bottom, [CONTEXT_USER, bottom, f.at(("descend", 20))] + outer, [], 4, bottoms)
    f.rounds()
    f.chain(6, PID, [bottom, f.at(("descend", 20))] + outer)
    f.rounds()
    f.chain(7, PID, [skip] + outer)
    # The record is lost, or not yet written at the end.
    f.sample(MISC_KERNEL, kernel, in_kernel + [8], [], 5, ["[truncated]", "[no-vmlinux]"])
    f.sample(MISC_USER, skip, [CONTEXT_USER_DEFERRED, 8], [], 6, ["[truncated]", "work_skip"])
    f.chain(8, OTHER, [bottom] + outer)
    f.write(path)


main()
