# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a perf.data as if its job had been run several times in sequence: each time with new
processes and later times.

The input has one event, recorded by `perf record -g` for a single command."""
import struct

HEADER = struct.Struct("<8sQQ QQ QQ QQ 4Q")  # perf_file_header: sections are offset and size
RECORD = struct.Struct("<IHH")
PIDS_APART = 100000
SAMPLE, MMAP, COMM, EXIT, FORK, MMAP2, FIRST_OF_USER = 9, 1, 3, 4, 7, 10, 64
SAMPLE_TYPE = 1 | 2 | 4 | 32 | 256  # IP, TID, TIME, CALLCHAIN, PERIOD


def data_of(whole):
    head = HEADER.unpack_from(whole)
    return whole[head[5]:head[5] + head[6]]


def count_samples(path):
    with open(path, "rb") as file:
        data = data_of(file.read())
    at = nr = 0
    while at < len(data):
        kind, _, size = RECORD.unpack_from(data, at)
        nr += kind == SAMPLE
        at += size
    return nr


def places(data):
    """Returns the offsets of the 32-bit process ids and 64-bit times of records, and the bytes of
    the repeated records: all but the kernel's mappings."""
    pids, times, keep = [], [], []
    at = 0
    while at < len(data):
        kind, _, size = RECORD.unpack_from(data, at)
        if kind == SAMPLE:
            pids += (at + 16, at + 20)
            times.append(at + 24)
        elif kind < FIRST_OF_USER:
            if kind in (MMAP, MMAP2) and struct.unpack_from("<i", data, at + 8)[0] < 0:
                at += size  # the kernel's
                continue
            if kind in (MMAP, MMAP2, COMM):
                pids += (at + 8, at + 12)
            elif kind in (EXIT, FORK):
                pids += (at + 8, at + 12, at + 16, at + 20)
                times.append(at + 24)
            pids += (at + size - 16, at + size - 12)
            times.append(at + size - 8)
        keep.append((at, at + size))
        at += size
    return pids, times, keep


def shifted(data, pids, times, number, span):
    made = bytearray(data)
    for at in pids:
        pid = struct.unpack_from("<i", data, at)[0]
        if pid > 0:
            struct.pack_into("<i", made, at, pid + number * PIDS_APART)
    for at in times:
        time = struct.unpack_from("<Q", data, at)[0]
        if time:
            struct.pack_into("<Q", made, at, time + number * span)
    return made


def repeat(source, path, times):
    """Writes the contents of `source` to `path` this many times."""
    with open(source, "rb") as file:
        whole = file.read()
    head = list(HEADER.unpack_from(whole))
    magic, attr_at, data_at, data_size = head[0], head[3], head[5], head[6]
    if magic != b"PERFILE2" or struct.unpack_from("<Q", whole, attr_at + 24)[0] != SAMPLE_TYPE:
        raise ValueError(f"{source}: no recording by `perf record -g -e cpu-clock`")
    data = data_of(whole)
    pids, stamps, keep = places(data)
    nr_features = sum(bin(bits).count("1") for bits in head[9:])
    known = [struct.unpack_from("<Q", data, at)[0] for at in stamps]
    span = max(known) - min(t for t in known if t) + 1000000
    with open(path, "wb") as out:
        out.write(whole[:data_at])
        out.write(data)
        for number in range(1, times):
            made = memoryview(shifted(data, pids, stamps, number, span))
            begin = end = 0
            for first, last in keep:
                if first != end:
                    out.write(made[begin:end])
                    begin = first
                end = last
            out.write(made[begin:end])
        more = out.tell() - data_at - data_size
        features = bytearray(whole[data_at + data_size:])
        for i in range(nr_features):
            struct.pack_into("<Q", features, 16 * i,
                             struct.unpack_from("<Q", features, 16 * i)[0] + more)
        out.write(features)
        head[6] += more
        out.seek(0)
        out.write(HEADER.pack(*head))
