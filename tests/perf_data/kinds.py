#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kinds.py DIRECTORY: writes a small recording for each rare kind of record or header."""
import os
import struct
import sys

import made
from made import (CALLCHAIN, CONTEXT_KERNEL, CONTEXT_USER, GUEST_KERNEL, GUEST_USER, KERNEL,
                  KERNEL_TEXT, LOST_SAMPLES, PID, TEXT, USER)

LOST_BY_FILTER = 1 << 15
BPF_OUTPUT = {"kind": 1, "config": 10}
E_MACHINE, CLN_SIZE = 33, 34
AARCH64 = 183
ID_INDEX, TRACING_DATA = 69, 1
LIBRARY = 0x500000
BUILD_ID = bytes(range(1, 21))


def begin(*events):
    f = made.Made(*events)
    f.kernel()
    f.process("prog")
    f.mapping(TEXT, "/opt/prog", build_id=BUILD_ID)
    return f


def filtered():
    f = begin()
    f.sample(TEXT + 0x100)
    f.record(LOST_SAMPLES, LOST_BY_FILTER, struct.pack("<Q", 700) + f.trailer())
    f.sample(TEXT + 0x100)
    return f


def filtered_and_lost():
    f = filtered()
    f.record(LOST_SAMPLES, 0, struct.pack("<Q", 2) + f.trailer())
    return f


def unknown_id():
    f = begin(made.Event(), made.Event("instructions", config=1, number=12))
    f.sample(TEXT + 0x100)
    f.sample(TEXT + 0x100, event=1)
    f.events[1].number = 77
    f.sample(TEXT + 0x100, event=1)
    f.events[1].number = 12
    return f


def empty_features():
    f = begin()
    f.sample(TEXT + 0x100)
    for number in (made.CPUDESC, 9, 10, 11, 13, 16, 22, 26):
        f.features[number] = b""
    return f


def machine_only():
    f = begin()
    f.sample(TEXT + 0x100)
    del f.features[made.ARCH]
    f.features[E_MACHINE] = struct.pack("<II", AARCH64, 0)
    f.features[CLN_SIZE] = struct.pack("<I", 64)
    return f


def off_cpu(chained, words):
    """perf record --off-cpu of Linux 6.15: the fields outside of RAW are those of the next
    thread."""
    types = made.SAMPLE_TYPE | made.RAW | made.CGROUP | (CALLCHAIN if chained else 0)
    f = begin(made.Event(sample_type=made.SAMPLE_TYPE | CALLCHAIN),
              made.Event("offcpu-time", sample_type=types, number=22, **BPF_OUTPUT))
    f.sample(TEXT + 0x100, rest=made.chain(CONTEXT_USER, TEXT + 0x100))
    raw = struct.pack("<IIQ", PID, PID, 7_000_000) + made.chain(*words) + struct.pack("<Q", 1)
    rest = made.chain(CONTEXT_KERNEL, KERNEL_TEXT + 0x10) if chained else b""
    rest += struct.pack("<I", len(raw) + 4) + raw + bytes(4) + struct.pack("<Q", 0)
    f.sample(KERNEL_TEXT + 0x10, KERNEL, rest, event=1, pid=0)
    return f


def off_cpu_cut():
    f = off_cpu(False, (CONTEXT_USER, TEXT + 0x500))
    raw = struct.pack("<IIQQ", PID, PID, 7_000_000, 1 << 40)
    f.sample(KERNEL_TEXT + 0x10, KERNEL, struct.pack("<I", len(raw) + 4) + raw + bytes(4) +
             struct.pack("<Q", 0), event=1, pid=0)
    return f


def mapping_without_protection(path):
    """Writes MMAP2 records of the kernels 3.10 to 3.15."""
    f = begin()
    body = struct.pack("<IIQQQ", PID, PID, LIBRARY, 1 << 16, 0)
    f.record(made.MMAP2, USER, body + struct.pack("<IIQQ", 8, 1, 77, 1) + made.name(path) +
             f.trailer())
    f.sample(LIBRARY + 0x100)
    return f


def host_as_guest():
    """Writes a wrong cpu mode, like perf inject --mmap2-buildids of perf 7."""
    f = begin()
    f.mapping(LIBRARY, "/opt/lib.so", misc=GUEST_USER, build_id=BUILD_ID)
    f.sample(LIBRARY + 0x100)
    return f


def guest():
    """perf inject --guest-data: ids of a virtual machine, with its mappings."""
    f = made.Made()
    f.record(ID_INDEX, 0, struct.pack("<7Q", 1, 11, 0, 0, PID, 4711, 0))
    f.kernel()
    f.process("prog")
    f.mapping(LIBRARY, "/opt/lib.so", misc=GUEST_USER, build_id=BUILD_ID)
    f.sample(LIBRARY + 0x100)
    f.sample(LIBRARY + 0x100, GUEST_USER)
    f.sample(KERNEL_TEXT + 0x100, GUEST_KERNEL)
    return f


def attrs_last():
    """perf inject of a pipe: the attrs follow the features."""
    f = begin()
    f.sample(TEXT + 0x100)
    f.attrs_last = True
    return f


def tracing_data(big=False):
    """TRACING_DATA with the formats of two events; as in tools/perf/util/trace-event-info.c."""
    order = ">" if big else "<"

    def named(value):
        return value.encode() + b"\0"

    def stored(content):
        return struct.pack(order + "Q", len(content)) + content.encode()

    out = b"\x17\x08\x44tracing" + named("0.6") + bytes([big, 8])
    out += struct.pack(order + "I", 4096)
    out += named("header_page") + stored("page") + named("header_event") + stored("event")
    out += struct.pack(order + "I", 1) + stored("name: function\nID: 1\n")
    out += struct.pack(order + "I", 2)
    out += named("block") + struct.pack(order + "I", 1) + stored("name: block_plug\nID: 17\n")
    out += named("sched") + struct.pack(order + "I", 2)
    out += stored("name: sched_switch\nID: 316\nformat:\n") + stored("name: other\nID: 317\n")
    return out + struct.pack(order + "IIQ", 0, 0, 0)


def tracepoint(big=False):
    """Without EVENT_DESC, only TRACING_DATA has the name of the event."""
    f = begin(made.Event("", kind=2, config=316), made.Event("", kind=2, config=999, number=22))
    del f.features[made.EVENT_DESC]
    f.features[TRACING_DATA] = tracing_data(big)
    f.sample(TEXT + 0x100)
    f.sample(TEXT + 0x100, event=1)
    return f


def tracepoint_damaged():
    f = tracepoint()
    f.features[TRACING_DATA] = f.features[TRACING_DATA][:-60]
    return f


def module(f, start, label, build_id):
    f.record(made.MMAP2, KERNEL | 1 << 14,
             struct.pack("<IIQQQ", 0xffffffff, 0, start, 1 << 16, 0) +
             struct.pack("<BBH", 20, 0, 0) + build_id + struct.pack("<II", 5, 2) +
             made.name(f"/lib/modules/6.19.0/kernel/{label}.ko") + f.trailer())


def same_module_ids():
    """perf before 7.0: all records have the build-id of the first module."""
    f = begin()
    base = KERNEL_TEXT + (1 << 28)
    for i, label in enumerate(("first", "second", "third")):
        module(f, base + (i << 16), label, BUILD_ID)
    module(f, base + (3 << 16), "honest", bytes(range(30, 50)))
    for i in range(4):
        f.sample(base + (i << 16) + 0x10, KERNEL)
    return f


def without_times():
    """A thread is renamed, and its first name arrives late."""
    f = made.Made(made.Event(sample_type=made.IDENTIFIER | made.IP | made.TID | made.PERIOD))
    f.kernel()
    f.mapping(TEXT, "/opt/prog", build_id=BUILD_ID)
    f.sample(TEXT + 0x100)
    f.process("first")
    f.sample(TEXT + 0x100)
    f.process("second")
    f.sample(TEXT + 0x100)
    f.sample(TEXT + 0x100)
    return f


FILES = {
    "tracepoint": tracepoint(),
    "tracepoint_big": tracepoint(True),
    "tracepoint_damaged": tracepoint_damaged(),
    "same_module_ids": same_module_ids(),
    "without_times": without_times(),
    "unknown_id": unknown_id(),
    "filtered": filtered(),
    "filtered_and_lost": filtered_and_lost(),
    "empty_features": empty_features(),
    "machine_only": machine_only(),
    "off_cpu": off_cpu(False, (CONTEXT_USER, TEXT + 0x500, TEXT + 0x600)),
    "off_cpu_chained": off_cpu(True, (CONTEXT_USER, TEXT + 0x500, TEXT + 0x600)),
    "off_cpu_in_kernel": off_cpu(True, (CONTEXT_KERNEL, KERNEL_TEXT + 0x20, CONTEXT_USER,
                                        TEXT + 0x600)),
    "off_cpu_nowhere": off_cpu(False, ()),
    "off_cpu_cut": off_cpu_cut(),
    "old_mmap2": mapping_without_protection("/opt/lib.so"),
    "old_mmap2_short": mapping_without_protection("/l"),
    "host_as_guest": host_as_guest(),
    "guest": guest(),
    "attrs_last": attrs_last(),
}

for case, made_file in FILES.items():
    with open(os.path.join(sys.argv[1], case), "wb") as target:
        target.write(made_file.file())
    with open(os.path.join(sys.argv[1], case + ".pipe"), "wb") as target:
        target.write(made_file.pipe())
