# SPDX-License-Identifier: GPL-2.0-or-later
"""map_files.py NUMBER FILES: in the current directory, makes a directory whose path is about 3000
bytes long, and starts NUMBER processes. Each maps FILES separate files in it as code, prints a
line, and waits until its input ends."""
import mmap
import os
import sys
import time

PATH_BYTES = 3000


def go_deep():
    while len(os.getcwd()) < PATH_BYTES:
        name = "d" * 200
        os.makedirs(name, exist_ok=True)
        os.chdir(name)


def map_files(number, files):
    parent = os.getppid()
    mapped = []
    for i in range(files):
        name = f"{number}.{i}"
        with open(name, "wb") as file:
            file.write(b"x" * 4096)
        with open(name, "rb") as file:
            mapped.append(mmap.mmap(file.fileno(), 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC,
                                    flags=mmap.MAP_PRIVATE))
    print("mapped", flush=True)
    end = time.monotonic() + 60
    while time.monotonic() < end and os.getppid() == parent:
        sum(range(10000))  # to be sampled


def main():
    go_deep()
    for number in range(int(sys.argv[1])):
        if os.fork() == 0:
            map_files(number, int(sys.argv[2]))
            return
    sys.stdin.read()


main()
