#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts samples by command, object and symbol and compares them with what perf printed on
the machine of the recording.

usage: native.py OPROFILE DIRECTORY...   (each with debug-cache/ and FILE, FILE.native)
       native.py OPROFILE --archive ARCHIVE FILE   (an archive of FILE, next to FILE.native)
       native.py OPROFILE --debuginfod SERVER DIRECTORY...   (binaries from that server alone:
           tests/cmd/debuginfod_server.py)
Prints one line per file, and below it at most 20 rows that differ. Status 1 if more samples
differ than permitted: perf guesses the names of PLT slots. Files without build-ids (pipes, and
compressed files of this perf) cannot be symbolized on another machine and are left out.
"""
import csv
import glob
import io
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter

ALLOWED = 0.005
NO_BUILD_IDS = ("perf.pipe.data", "perf.z.data")


def key(comm, image, symbol):
    """Normalizes both sides: perf cuts commands off at its column width, and on arm64 it counts
    some functions of modules as the kernel's. All samples without a function are equal, whatever
    they are called: an address, the binary, a section."""
    image = image.strip()
    if re.match(r"^\[[a-z0-9_.]+\]$", image) and image not in ("[unknown]", "[vdso]"):
        image = "kernel"
    else:
        image = image.rsplit("/", 1)[-1]
    symbol = re.sub(r"^\[.\] ", "", symbol.strip())
    if re.match(r"^(0x|\[unknown\]|/|\(no symbols\)|anonymous symbol|_init$|$)", symbol):
        symbol = "-"
    return comm.strip()[:7], image, symbol


def theirs(path):
    counts = Counter()
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            samples, comm, dso, symbol = line.rstrip("\n").split("\t")
            counts[key(comm, dso, symbol)] += int(samples)
    return counts


def ours(oprofile, path, home, server=None):
    command = [oprofile, "report", "--by", "comm,image,symbol", "--csv", path]
    env = dict(os.environ, HOME=home)
    if server:
        env.update(DEBUGINFOD_URLS=server, no_proxy="*")
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=env, check=False)
    counts = Counter()
    for row in csv.DictReader(io.StringIO(done.stdout.decode(errors="replace"))):
        counts[key(row["comm"], row["image"], row["symbol"])] += int(row["samples"])
    return counts


def compare(oprofile, path, home, word=None, server=None):
    want = theirs(path + ".native")
    got = ours(oprofile, word or path, home, server)
    differ = sorted((k for k in set(want) | set(got) if want[k] != got[k]),
                    key=lambda k: -abs(want[k] - got[k]))
    wrong = sum(abs(want[k] - got[k]) for k in differ) / 2
    print(f"{path}: {sum(want.values())} samples, {sum(got.values())} ours, {len(want)} rows, "
          f"{len(differ)} differ, {wrong:.0f} samples elsewhere")
    for key in differ[:20]:
        print(f"  {key}: ours {got[key]}, the machine's own {want[key]}")
    return wrong <= ALLOWED * sum(want.values())


def files_of(directory):
    """Returns the recordings that have build-ids."""
    for native in sorted(glob.glob(os.path.join(directory, "*.native"))):
        if os.path.basename(native).removesuffix(".native") not in NO_BUILD_IDS:
            yield native.removesuffix(".native")


def serve(cache, served):
    """Returns the files with a build-id in perf's cache, for a server."""
    for kind, name in (("elf", "executable"), ("vdso", "executable"), ("debug", "debuginfo")):
        for path in glob.glob(os.path.join(glob.escape(cache), "**", kind), recursive=True):
            folder = os.path.join(served, os.path.basename(os.path.dirname(path)))
            os.makedirs(folder, exist_ok=True)
            os.symlink(path, os.path.join(folder, name))


def compare_served(oprofile, program, directory):
    """Leaves only the kernel's symbols here, which no server has."""
    cache = os.path.realpath(os.path.join(directory, "debug-cache"))
    good = True
    with tempfile.TemporaryDirectory() as home:
        os.makedirs(os.path.join(home, ".debug"))
        for name in ("[kernel.kallsyms]", "[kernel.kcore]"):
            if os.path.exists(os.path.join(cache, name)):
                os.symlink(os.path.join(cache, name), os.path.join(home, ".debug", name))
        serve(cache, os.path.join(home, "served"))
        with subprocess.Popen([sys.executable, program, "files", os.path.join(home, "served")],
                              stdout=subprocess.PIPE) as server:
            url = "http://127.0.0.1:" + server.stdout.readline().decode().strip()
            for path in files_of(directory):
                good &= compare(oprofile, path, home, server=url)
            server.kill()
            asked = server.stdout.read().decode().split()
            print(f"{directory}: {len(asked)} files were asked for")
            good &= bool(asked) and len(asked) == len(set(asked))
    return good


def main():
    oprofile, directories = sys.argv[1], sys.argv[2:]
    good = True
    if directories[0] == "--archive":
        with tempfile.TemporaryDirectory() as home:
            good = compare(oprofile, directories[2], home, "archive:" + directories[1])
        return 0 if good else 1
    if directories[0] == "--debuginfod":
        for directory in directories[2:]:
            good &= compare_served(oprofile, directories[1], directory)
        return 0 if good else 1
    for directory in directories:
        with tempfile.TemporaryDirectory() as home:
            os.symlink(os.path.realpath(os.path.join(directory, "debug-cache")),
                       os.path.join(home, ".debug"))
            for path in files_of(directory):
                good &= compare(oprofile, path, home)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
