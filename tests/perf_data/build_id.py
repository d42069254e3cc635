#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""build_id.py front|end PATH HEX <PIPE: copies perf's output to a pipe and adds a build-id record,
which gives PATH the id HEX, before or after all other records."""
import struct
import sys

HEADER_BUILD_ID = 67
USER_WITH_SIZE = 2 | 1 << 15  # of the misc field
PIPE_HEADER_BYTES = 16


def main():
    where, path, digits = sys.argv[1:]
    stream = sys.stdin.buffer.read()
    name = path.encode() + bytes(8 - len(path) % 8)
    number = bytes.fromhex(digits)
    body = struct.pack("<i20sB3x", -1, number, len(number)) + name
    record = struct.pack("<IHH", HEADER_BUILD_ID, USER_WITH_SIZE, 8 + len(body)) + body
    at = PIPE_HEADER_BYTES if where == "front" else len(stream)
    sys.stdout.buffer.write(stream[:at] + record + stream[at:])


main()
