#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# positions.py samply|pprof BINARY [PATH [BUILD-ID]]: writes a profile that has only addresses, of
# three samples in leaf() and one in mid(), which main() called. samply writes addresses relative to
# the first segment; pprof has run-time addresses and mappings. PATH: the recorded one.
import json, subprocess, sys


def output(*words):
    return [line.split() for line in
            subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()]


def last_byte(name):
    for w in output("nm", "-S", binary):
        if w[-1] == name and len(w) == 4:
            return int(w[0], 16) + int(w[1], 16) - 1


kind, binary = sys.argv[1:3]
path = sys.argv[3] if len(sys.argv) > 3 else binary
loads = [[int(n, 16) for n in w[1:6]] + w[6:-1] for w in output("readelf", "-lW", binary)
         if w and w[0] == "LOAD"]
build_id = sys.argv[4] if len(sys.argv) > 4 else next(
    w[-1] for w in output("readelf", "-n", binary) if w[:1] == ["Build"])
leaf, mid, main = (last_byte(name) for name in ("leaf", "mid", "main"))


def samply():
    address = [a - loads[0][1] for a in (leaf, mid, main)]
    none = [None] * 3
    return json.dumps({
        "meta": {"version": 24, "preprocessedProfileVersion": 46, "interval": 1.0,
                 "startTime": 1700000000000.0, "processType": 0, "product": "prog", "stackwalk": 1,
                 "symbolicated": False, "categories": [], "markerSchema": []},
        "libs": [{"name": "prog", "path": path, "debugName": "prog", "debugPath": path,
                  "breakpadId": "0" * 33, "codeId": build_id, "arch": None}],
        "threads": [{
            "name": "prog", "pid": "7", "tid": "7", "processName": "prog", "processType": "default",
            "frameTable": {"length": 3, "address": address, "inlineDepth": [0] * 3,
                           "category": [0] * 3, "func": [0, 1, 2], "nativeSymbol": none,
                           "line": none, "column": none},
            "funcTable": {"length": 3, "name": [0, 1, 2], "isJS": [False] * 3,
                          "relevantForJS": [False] * 3, "resource": [0] * 3, "fileName": none,
                          "lineNumber": none, "columnNumber": none},
            "resourceTable": {"length": 1, "lib": [0], "name": [3], "host": [None], "type": [1]},
            "nativeSymbols": {"length": 0, "address": [], "functionSize": [], "libIndex": [],
                              "name": []},
            "stackTable": {"length": 3, "prefix": [None, 0, 1], "frame": [2, 1, 0],
                           "category": [0] * 3},
            "samples": {"length": 4, "stack": [2, 2, 2, 1], "time": [1.0, 2.0, 3.0, 4.0],
                        "weight": [1] * 4, "weightType": "samples"},
            "stringArray": ["0x%x" % a for a in address] + ["prog"]}]}).encode()


def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def pprof():
    code = next(l for l in loads if "E" in l[5:])
    start = 0x7f0000000000 + (code[1] & ~4095)
    first = code[0] & ~4095
    texts = ["", "samples", "count", path, build_id]
    out = field(1, field(1, 1) + field(2, 2))
    for locations, value in ([1, 2, 3], 3), ([2, 3], 1):
        out += field(2, b"".join(field(1, l) for l in locations) + field(2, value))
    out += field(3, field(1, 1) + field(2, start) + field(3, start + code[4] + 4096) +
                 field(4, first) + field(5, 3) + field(6, 4))
    for i, address in enumerate((leaf, mid, main)):
        out += field(4, field(1, i + 1) + field(2, 1) + field(3, 0x7f0000000000 + address))
    return out + b"".join(field(6, t.encode()) for t in texts)


sys.stdout.buffer.write(samply() if kind == "samply" else pprof())
