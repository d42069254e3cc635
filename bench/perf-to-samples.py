#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Converts a perf recording to the input of session_size.

    perf record -a -g -F 999 -e cpu-clock -o x.data -- make
    perf script -i x.data --ns --show-mmap-events --show-task-events \\
        -F comm,pid,tid,cpu,time,ip,dso,period | bench/perf-to-samples.py > samples.txt

Mappings are followed through mmap, fork and exec records in the order of the text, which is
near enough for a measurement. A chain ends at its first user frame outside all mappings."""
import re
import sys

KERNEL_START = 1 << 63
KERNEL_TEXT = 0xffffffff81000000

HEAD = re.compile(r'^\s*(.+?)\s+(-?\d+)/(-?\d+)\s+\[(\d+)\]\s+(\d+)\.(\d+):\s+(.*)$')
MMAP = re.compile(r'PERF_RECORD_MMAP2? (-?\d+)/-?\d+: \[0x([0-9a-f]+)\(0x([0-9a-f]+)\) '
                  r'@ (0x[0-9a-f]+|0)[^\]]*\]: (\S+) (.*)$')
FORK = re.compile(r'PERF_RECORD_FORK\((\d+):\d+\):\((\d+):\d+\)')

mappings = {}  # pid -> [(start, end, offset in the file, image)]
images = {}


def image_of(name):
    return images.setdefault(name, len(images))


def look_up(pid, ip):
    """Returns (image, offset), and whether the address is in a mapping."""
    if ip >= KERNEL_START:
        return image_of('[kernel]'), max(ip - KERNEL_TEXT, 0), True
    for start, end, offset, image in reversed(mappings.get(pid, [])):
        if start <= ip < end:
            return image, ip - start + offset, True
    return image_of('[unmapped %d]' % pid), ip, False


def side_band(pid, text):
    mmap = MMAP.match(text)
    fork = FORK.match(text)
    if mmap and 'x' in mmap[5]:
        owner, start, size = int(mmap[1]), int(mmap[2], 16), int(mmap[3], 16)
        name = mmap[6]
        if name.startswith(('//anon', '[')):
            name += mmap[1]
        mappings.setdefault(owner, []).append(
            (start, start + size, int(mmap[4], 16), image_of(name)))
    elif fork and fork[1] != fork[2]:
        mappings[int(fork[1])] = list(mappings.get(int(fork[2]), []))
    elif 'COMM exec' in text:
        mappings[pid] = []


def put(sample, chain):
    """Prints a sample as one line; prints nothing if no sample was read."""
    if not sample:
        return
    frames = []
    truncated = 0
    for ip in chain:
        image, offset, mapped = look_up(int(sample[1]), ip)
        if frames and not mapped:
            truncated = 1
            break
        frames += [image, offset]
    print(*sample, truncated, len(frames) // 2, *frames)


def main():
    sample, chain = None, []
    for line in sys.stdin:
        head = HEAD.match(line)
        if not head:
            words = line.split()
            if words and sample:
                chain.append(int(words[0], 16))
            continue
        put(sample, chain)
        sample, chain = None, []
        comm, pid, tid, cpu, seconds, ns, rest = head.groups()
        if rest.startswith('PERF_RECORD'):
            side_band(int(pid), rest)
            continue
        words = rest.split()
        sample = [int(cpu), pid, tid, words[0].rstrip(':'), int(seconds) * 10**9 + int(ns),
                  comm.replace(' ', '_')]
        if len(words) > 1:
            chain.append(int(words[1], 16))
    put(sample, chain)


main()
