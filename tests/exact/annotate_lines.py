#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""annotate_lines.py BUILD NAME PROGRAM COMMAND [NAME PROGRAM COMMAND...] - compares lines of
opannotate with those of `llvm-objdump -d -l` and of `perf annotate --stdio -l`, for programs with
debug information.

For all instructions of PROGRAM, it compares the line that opannotate --source --assembly prints
before each with llvm-objdump's.  perf records COMMAND (a shell command); the shares of lines in the
hottest functions of PROGRAM are compared with perf's: the agreement is the sum of the smaller of
the two shares of each line.  Prints a table for docs/disassembly.md."""

import collections
import os
import re
import subprocess
import sys
import tempfile

TOP = 10
# perf calls addr2line for each address; functions for which that takes longer are left out.
PERF_SECONDS = 60
RATE_HZ = 5000
PIECE = 30000  # samples of a session, so that it has few groups


def run(*command, **more):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              check=False, **more)
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout.decode(errors="replace")


# ---- instructions ----

def sections(program):
    for line in run("readelf", "-SW", program).splitlines():
        words = line[6:].split()
        if len(words) >= 7 and words[1] == "PROGBITS" and "X" in words[6]:
            yield int(words[2], 16), int(words[3], 16), int(words[4], 16)


def objdump_lines(program):
    """Returns {address: (file, line)}, with None where nothing was printed. Each function starts
    without a line."""
    places, place = {}, None
    with subprocess.Popen(["llvm-objdump", "-d", "-l", "--no-show-raw-insn", program],
                          stdout=subprocess.PIPE, text=True, errors="replace") as out:
        for line in out.stdout:
            if line[0] == ";":
                found = re.match(r"; (.*):(\d+)$", line)
                if found:
                    place = os.path.normpath(found[1]), int(found[2])
            elif re.match(r"[0-9a-f]+ <.*>:$", line):
                place = None
            else:
                found = re.match(r" +([0-9a-f]+):", line)
                if found:
                    places[int(found[1], 16)] = place
    return places


def our_lines(tools, program, addresses, scratch):
    """Returns the same from opannotate; the sources are missing, so that it prints file and
    number of each line."""
    parts = list(sections(program))
    build_id = re.search(r"Build ID: (\w+)", run("readelf", "-n", program))
    places, part = {}, 0
    lines = []
    for address in addresses:
        while not parts[part][0] <= address < parts[part][0] + parts[part][2]:
            part = (part + 1) % len(parts)
        start, offset, _ = parts[part]
        lines.append(f"sample|0|0|0|2000|1|0+{address - start + offset}|1")
    for at in range(0, len(lines), PIECE):
        session = os.path.join(scratch, f"session-{at}")
        current = os.path.join(session, "samples", "current")
        os.makedirs(current)
        head = ["info|0||another machine|1000000000|0||", "event|TIMER|time|3|0|1000|0",
                f"image|1|{os.path.realpath(program)}|{build_id[1]}", "thread|7|7|p|0|0|/"]
        subprocess.run([tools["write_session"], os.path.join(current, "segment-000001")],
                       input="\n".join(head + lines[at:at + PIECE]) + "\n", text=True, check=True)
        read_listing(run(tools["opannotate"], "--session-dir", session, "-s", "-a"), places)
    return places


def read_listing(text, places):
    """Stores in places, for each instruction with a sample, the last line printed before it."""
    place = None
    for line in text.split("\n"):
        found = re.match(r" {15}:/\* (/.*):(\d+) \*/$", line)
        if found:
            place = os.path.normpath(found[1]), int(found[2])
        elif line == " " * 15 + ":/* no line */" or re.match(r"[0-9a-f]{16} <", line):
            place = None
        else:
            found = re.match(r" *\d+ [ .0-9]{7} : *([0-9a-f]+):\t", line)
            if found:
                places[int(found[1], 16)] = place


def compare_instructions(tools, program, scratch):
    theirs = objdump_lines(program)
    ours = our_lines(tools, program, sorted(theirs), scratch)
    both = [at for at in theirs if theirs[at] and ours.get(at)]
    same = sum(ours[at] == theirs[at] for at in both)
    none = sum(ours.get(at) is None for at in theirs), sum(p is None for p in theirs.values())
    return len(theirs), 100 * same / len(both), none


# ---- samples ----

def base(path):
    return path.rsplit("/", 1)[-1]


def perf_shares(data, symbol, program):
    text = run("perf", "annotate", "--stdio", "-l", "-i", data, "--symbol", symbol, "-d",
               os.path.realpath(program), timeout=PERF_SECONDS)
    shares = {}
    for line in text.split("Percent |")[0].splitlines():
        found = re.match(r" +([\d.]+) (\S.*):(\d+)$", line)
        if found:
            shares[f"{base(found[2])}:{found[3]}"] = float(found[1])
    return shares


def our_shares(tools, data, symbol, program):
    text = run(tools["opannotate"], "-s", "--no-demangle", "-i", symbol, data,
               "image:" + os.path.realpath(program))
    shares, file, number = collections.Counter(), None, None
    for line in text.split("\n"):
        if line.startswith(' * Total samples for file : "'):
            file = base(line.split('"')[1])
        elif line == " */":
            number = -2 if file else None
        elif line == "/* ":
            number = file = None
        elif number is not None:
            number += 1
            missing = re.search(r" :/\* line (\d+) \*/", line)
            number = int(missing[1]) if missing else number
            found = re.match(r"^ *\d+ ([ .0-9]{7}) :", line)
            if found:
                shares[f"{file}:{number}"] += float(found[1])
            found = re.match(r"<credited to line zero> +\d+ ([ .0-9]{7}) :", line)
            if found:
                shares[f"{file}:0"] += float(found[1])
    return shares


def compare_samples(tools, program, command, scratch):
    data = os.path.join(scratch, "perf.data")
    subprocess.run(["perf", "record", "-q", "-e", "cpu-clock:u", "-F", str(RATE_HZ), "-o", data,
                    "--", "sh", "-c", command], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=False)
    report = ["perf", "report", "--stdio", "-n", "-i", data, "-t", "|", "-F", "sample,sym", "--dso",
              base(program)]
    row = re.compile(r"^ *(\d+) *\|\[\.\] (.*?) *$", re.M)
    # perf annotate expects the name in the source, opannotate that in the symbol table.
    shown, raw = row.findall(run(*report)), row.findall(run(*report, "--no-demangle"))
    hottest = [(count, name, symbol) for (count, name), (_, symbol) in zip(shown, raw)
               if [n for n, _ in shown].count(count) == 1 or name == symbol][:TOP]
    agreed = samples = compared = 0
    for count, name, symbol in hottest:
        theirs = perf_shares(data, name, program)
        ours = our_shares(tools, data, symbol, program)
        if not theirs or not ours:
            continue
        # perf's summary omits the smallest lines.
        known = sum(theirs.values())
        common = sum(min(ours.get(p, 0), share) for p, share in theirs.items())
        agreed += int(count) * common / known
        samples += int(count)
        compared += 1
    return compared, samples, 100 * agreed / samples if samples else 0


def main():
    build, rest = os.path.realpath(sys.argv[1]), sys.argv[2:]
    tools = {"opannotate": build + "/links/opannotate",
             "write_session": build + "/tests/cmd/write_session"}
    print("| program | instructions | same line as llvm-objdump | without a line: ours, llvm-objdump | "
          "functions, samples | same share as perf annotate -l |\n|---|---|---|---|---|---|")
    for name, program, command in zip(*[iter(rest)] * 3):
        with tempfile.TemporaryDirectory() as scratch:
            nr, same, none = compare_instructions(tools, program, scratch)
            compared, samples, agreed = compare_samples(tools, program, command, scratch)
        print(f"| {name} | {nr} | {same:.3f} % | {none[0]}, {none[1]} | {compared}, {samples} | "
              f"{agreed:.2f} % |", flush=True)


main()
