# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the samples of oprofiled in the format of /dev/oprofile/buffer.

read_stream.py follow SOCKET FILE: prints "reading", then copies the stream to FILE until it ends.
read_stream.py summarize FILE: summarizes it by the rules of Linux 4 (drivers/oprofile/buffer_sync.c),
in lines "samples N", "lost N", "callers N", "kernel N", "counter C N", "cookie COOKIE N" and
"app COOKIE N", the last two for sampled addresses.
"""
import collections, socket, struct, sys

ESCAPE = 2 ** (8 * struct.calcsize("L")) - 1
FOLLOW = {1: 2, 2: 1, 3: 1, 4: 0, 5: 0, 7: 1, 8: 0, 15: 1}


def follow(path, out):
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(path)
    peer.sendall(b"stream\n")
    with open(out, "wb", buffering=0) as file:
        if peer.recv(3) != b"ok\n":
            sys.exit("refused")
        print("reading", flush=True)
        while got := peer.recv(65536):
            file.write(got)


def summarize(path):
    with open(path, "rb") as file:
        data = file.read()
    size = struct.calcsize("L")
    words = iter(struct.unpack(f"{len(data) // size}L", data[: len(data) // size * size]))
    count = collections.Counter()
    kernel = traced = pending = False
    cookie = app = None
    for word in words:
        if word != ESCAPE:
            counter = next(words, None)
            if counter is None:
                break
            if traced and not pending:
                count["callers"] += 1
                continue
            pending = False
            count["samples"] += 1
            count[f"counter {counter}"] += 1
            count["kernel" if kernel else f"cookie {cookie}"] += 1
            count[f"app {app}"] += 1
            continue
        code = next(words, None)
        if code is None:
            break
        args = [next(words, None) for _ in range(FOLLOW[code])]
        if code == 1:
            app = args[1]
        if code == 2:
            cookie = app = None
        if code == 3:
            cookie = args[0]
        if code in (4, 5):
            kernel = code == 4
        if code == 8:
            traced = pending = True
        if code == 15:
            count["lost"] += args[0]
    for what, number in count.items():
        print(what, number)


if sys.argv[1] == "follow":
    follow(*sys.argv[2:])
else:
    summarize(sys.argv[2])
