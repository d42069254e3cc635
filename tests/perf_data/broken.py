# SPDX-License-Identifier: GPL-2.0-or-later
"""broken.py OPROFILE FILE...: checks that if the size of one sample is invalid, all other samples
of the file are read, from the file and through a pipe, and the status is 3."""
import os
import struct
import subprocess
import sys
import tempfile


def samples(program, path, data):
    """Returns the number of samples, and the status."""
    run = subprocess.run([program, "report", "--by", "event", "--csv", path], input=data,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    rows = run.stdout.decode().splitlines()
    column = rows[0].split(",").index("samples")
    return sum(int(row.rsplit(",", len(rows[0].split(",")) - column)[1])
               for row in rows[1:]), run.returncode


def size_places(data):
    """Returns the offsets of the samples' sizes, and their byte order."""
    order = "<" if data.startswith(b"PERFILE2") else ">"
    at, size = struct.unpack_from(order + "QQ", data, 40)
    end = at + size
    while at < end:
        kind, _, size = struct.unpack_from(order + "IHH", data, at)
        if kind == 9:
            yield at + 6, order
        at += size


def check(program, path):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    places = list(size_places(data))
    whole, _ = samples(program, path, None)
    place, order = places[len(places) // 2]
    struct.pack_into(order + "H", data, place, 0)
    with tempfile.NamedTemporaryFile() as broken:
        broken.write(data)
        broken.flush()
        got = samples(program, broken.name, None), samples(program, "-", bytes(data))
    if got != ((whole - 1, 3),) * 2:
        print(f"{os.path.basename(path)}: {got}, there are {whole}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(any([check(sys.argv[1], path) for path in sys.argv[2:]]))
