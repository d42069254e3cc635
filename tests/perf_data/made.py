# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes small perf.data files for tests of contents that are rare in real recordings.

Source of the formats: perf_event_open(2), <linux/perf_event.h>, and
tools/perf/Documentation/perf.data-file-format.txt.
"""
import struct

IP, TID, TIME, CALLCHAIN, CPU, PERIOD, RAW, CGROUP, IDENTIFIER = (
    1 << n for n in (0, 1, 2, 5, 7, 8, 10, 21, 16))
SAMPLE_TYPE = IDENTIFIER | IP | TID | TIME | CPU | PERIOD
# attr.mmap, comm, task, sample_id_all, mmap2, comm_exec
FLAGS = 1 << 8 | 1 << 9 | 1 << 13 | 1 << 18 | 1 << 23 | 1 << 24
PRECISE = 2 << 15
KERNEL, USER, GUEST_KERNEL, GUEST_USER, EXACT_IP = 1, 2, 4, 5, 1 << 14
CONTEXT_KERNEL, CONTEXT_USER = (1 << 64) - 128, (1 << 64) - 512
MMAP, COMM, SAMPLE, MMAP2, LOST_SAMPLES = 1, 3, 9, 10, 13
HEADER_ATTR, HEADER_TRACING_DATA, HEADER_FEATURE = 64, 66, 80
TRACING_DATA = 1
HEADER_BYTES, ATTR_BYTES = 104, 128
HOSTNAME, OSRELEASE, VERSION, ARCH, NRCPUS, CPUDESC, EVENT_DESC = 3, 4, 5, 6, 7, 8, 12
PID = 100
TEXT, KERNEL_TEXT = 0x400000, 0xffffffff81000000


def text(value):
    """Encodes a string of a header feature: a length, and the text with padding."""
    data = value.encode() + b"\0"
    data += bytes(-len(data) % 64)
    return struct.pack("<I", len(data)) + data


def name(value):
    data = value.encode() + b"\0"
    return data + bytes(-len(data) % 8)


def chain(*words):
    return struct.pack(f"<Q{len(words)}Q", len(words), *words)


class Event:
    # pylint: disable=too-many-arguments
    def __init__(self, title="cycles", kind=0, config=0, sample_type=SAMPLE_TYPE, number=11,
                 flags=FLAGS):
        self.title, self.kind, self.config = title, kind, config
        self.sample_type, self.number, self.flags = sample_type, number, flags

    def attr(self):
        data = struct.pack("<IIQQQQQ", self.kind, ATTR_BYTES, self.config, 1000,
                           self.sample_type, 0, self.flags)
        return data + bytes(ATTR_BYTES - len(data))


class Made:
    def __init__(self, *events):
        self.events = events or (Event(),)
        self.data = b""
        self.now = 0
        self.attrs_last = False
        self.features = {HOSTNAME: text("host"), OSRELEASE: text("6.19.0"),
                         VERSION: text("7.0"), ARCH: text("x86_64"),
                         NRCPUS: struct.pack("<II", 4, 4), EVENT_DESC: self.descriptions()}

    def descriptions(self):
        data = struct.pack("<II", len(self.events), ATTR_BYTES)
        for e in self.events:
            data += e.attr() + struct.pack("<I", 1) + text(e.title)
            data += struct.pack("<Q", e.number)
        return data

    def record(self, kind, misc, body):
        body += bytes(-len(body) % 8)
        self.data += struct.pack("<IHH", kind, misc, len(body) + 8) + body

    def trailer(self, pid=PID):
        """Returns the sample_id of the first event."""
        self.now += 10
        order = ((TID, struct.pack("<II", pid, pid)), (TIME, struct.pack("<Q", self.now)),
                 (CPU, bytes(8)), (IDENTIFIER, struct.pack("<Q", self.events[0].number)))
        return b"".join(field for bit, field in order if self.events[0].sample_type & bit)

    def kernel(self):
        self.record(MMAP, KERNEL, struct.pack("<IIQQQ", 0xffffffff, 0, KERNEL_TEXT, 1 << 24,
                                              KERNEL_TEXT) +
                    name("[kernel.kallsyms]_text") + self.trailer())

    def process(self, comm, pid=PID):
        self.record(COMM, 0, struct.pack("<II", pid, pid) + name(comm) + self.trailer(pid))

    # pylint: disable=too-many-arguments
    def mapping(self, start, path, size=1 << 16, misc=USER, build_id=None, pid=PID):
        if build_id:
            where = struct.pack("<BBH", len(build_id), 0, 0) + build_id.ljust(20, b"\0")
            misc |= 1 << 14
        else:
            where = struct.pack("<IIQQ", 8, 1, start >> 12, 1)
        self.record(MMAP2, misc, struct.pack("<IIQQQ", pid, pid, start, size, 0) + where +
                    struct.pack("<II", 5, 2) + name(path) + self.trailer(pid))

    def sample(self, ip, misc=USER, rest=b"", event=0, pid=PID):
        e = self.events[event]
        self.now += 10
        order = ((IDENTIFIER, struct.pack("<Q", e.number)), (IP, struct.pack("<Q", ip)),
                 (TID, struct.pack("<II", pid, pid)), (TIME, struct.pack("<Q", self.now)),
                 (CPU, bytes(8)), (PERIOD, struct.pack("<Q", 1000)))
        self.record(SAMPLE, misc, b"".join(f for bit, f in order if e.sample_type & bit) + rest)

    def pipe(self):
        out = b"PERFILE2" + struct.pack("<Q", 16)
        for e in self.events:
            body = e.attr() + struct.pack("<Q", e.number)
            out += struct.pack("<IHH", HEADER_ATTR, 0, len(body) + 8) + body
        for number, body in sorted(self.features.items()):
            body += bytes(-len(body) % 8)
            if number == TRACING_DATA:
                out += struct.pack("<IHHI", HEADER_TRACING_DATA, 0, 12, len(body)) + body
                continue
            out += struct.pack("<IHHQ", HEADER_FEATURE, 0, len(body) + 16, number) + body
        return out + self.data

    def file(self):
        ids = b"".join(struct.pack("<Q", e.number) for e in self.events)
        attrs_size = len(self.events) * (ATTR_BYTES + 16)
        data_at = HEADER_BYTES + (0 if self.attrs_last else len(ids) + attrs_size)
        index_at = data_at + len(self.data)
        bodies_at = index_at + 16 * len(self.features)
        index, bodies = b"", b""
        for _, body in sorted(self.features.items()):
            index += struct.pack("<QQ", bodies_at + len(bodies), len(body))
            bodies += body
        ids_at = bodies_at + len(bodies) if self.attrs_last else HEADER_BYTES
        table = b"".join(e.attr() + struct.pack("<QQ", ids_at + 8 * i, 8)
                         for i, e in enumerate(self.events))
        bits = sum(1 << number for number in self.features)
        out = b"PERFILE2" + struct.pack("<8Q", HEADER_BYTES, ATTR_BYTES + 16, ids_at + len(ids),
                                        len(table), data_at, len(self.data), 0, 0)
        out += bits.to_bytes(32, "little")
        recorded = self.data + index + bodies
        return out + (recorded + ids + table if self.attrs_last else ids + table + recorded)
