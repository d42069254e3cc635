#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""annotate_truth.py PROGRAM [OPTION...] - compares opannotate's output with that of LLVM and binutils.

Each instruction of the program has samples.  Checks that lines and functions have the expected
samples, that all lines add up to the printed sum, and that only instructions for which
llvm-symbolizer has no line are without one.  OPTIONs are passed to opannotate.  Prints the share
without a line, of opannotate and of llvm-symbolizer."""

import collections
import os
import re
import subprocess
import sys


def run(*command, text=None):
    return subprocess.run(command, input=text, capture_output=True, check=True).stdout.decode(
        errors="replace" if text is None else "surrogateescape")


def say(*command, text):
    return subprocess.run(command, input=text.encode(), capture_output=True,
                          check=True).stdout.decode()


def sections(program):
    """Yields (address, offset, bytes) for each section with code."""
    for line in run("readelf", "-SW", program).splitlines():
        words = line[6:].split()
        if len(words) >= 7 and words[1] == "PROGBITS" and "X" in words[6]:
            yield int(words[2], 16), int(words[3], 16), int(words[4], 16)


def instructions(program):
    out = run("objdump", "-d", "--no-show-raw-insn", program)
    return [int(at, 16) for at in re.findall(r"^ +([0-9a-f]+):\t", out, re.M)]


def weight(number):
    return 1 + number * 7 % 11


def make_session(program, samples, folder):
    places = list(sections(program))
    build_id = re.search(r"Build ID: (\w+)", run("readelf", "-n", program)).group(1)
    lines = [f"info|0||{os.uname().nodename}|1000000000|0||", "event|TIMER|time|3|0|1000|0",
             f"image|1|{os.path.realpath(program)}|{build_id}", "thread|7|7|p|0|0|/"]
    for address, count in samples.items():
        start, offset = next((s, o) for s, o, n in places if s <= address < s + n)
        lines.append(f"sample|0|0|0|2000|1|0+{address - start + offset}|{count}")
    current = os.path.join(folder, "samples", "current")
    os.makedirs(current, exist_ok=True)
    segment = os.path.join(current, "segment-000001")
    if os.path.exists(segment):
        os.unlink(segment)
    say(os.environ["WRITE_SESSION"], segment, text="\n".join(lines) + "\n")


def symbolizer(program, samples):
    """Returns {(file, line): samples} and the samples without a line. (addr2line of binutils 2.40
    prints wrong files with DWARF 5.)"""
    out = say("llvm-symbolizer", "--obj=" + program, "--no-inlines", "--functions=none",
              text="".join(f"{a:#x}\n" for a in samples))
    places = [line for line in out.splitlines() if line]
    assert len(places) == len(samples), (len(places), len(samples))
    counts, without = collections.Counter(), 0
    for count, place in zip(samples.values(), places):
        path, line, _ = place.rsplit(":", 2)
        if path == "??" or line == "0":
            without += count
        else:
            counts[os.path.normpath(path), int(line)] += count
    return counts, without


def opannotate(folder, *options):
    return run(os.environ["OPROFILE_LINKS"] + "/opannotate", "--session-dir", folder, *options)


MARGIN = re.compile(r"^ *(\d+) [ .0-9]{7} :")


def parse_source(text):
    """Returns the counts of lines, the count of line zero, and the sums."""
    lines, zero, sums, file, number = collections.Counter(), 0, {}, None, None
    for line in text.split("\n"):
        if line.startswith(' * Total samples for file : "'):
            file = os.path.normpath(line.split('"')[1])
            continue
        found = re.match(r" \* +(\d+) [ .0-9]{7} (in|without|  )(.*)", line)
        if found and number is None:
            sums[found.group(2) + found.group(3)] = int(found.group(1))
        if line == " */":
            number = -2 if file else None
        elif line == "/* ":
            number = file = None
        elif number is not None:
            number += 1
            missing = re.search(r" :/\* line (\d+) \*/", line)
            if missing:
                number = int(missing.group(1))
            found = MARGIN.match(line)
            if found and number > 0:
                lines[file, number] += int(found.group(1))
            found = re.match(r"<credited to line zero> +(\d+)", line)
            zero += int(found.group(1)) if found else 0
    return lines, zero, sums


def parse_assembly(text):
    totals = collections.Counter()
    for at, count in re.findall(r"^([0-9a-f]{16}) <.*>: /\* .* total: +(\d+) ", text, re.M):
        totals[int(at, 16)] += int(count)
    shown = sum(int(n) for n in re.findall(r"^ *(\d+) [ .0-9]{7} : *[0-9a-f]+:\t", text, re.M))
    return totals, shown


def symbols(program):
    found = re.findall(r"^([0-9a-f]+) ([0-9a-f]+) [tTwW] ", run("nm", "-S", program), re.M)
    return {int(start, 16): int(size, 16) for start, size in found}


def main():
    program, options = sys.argv[1], sys.argv[2:]
    samples = {at: weight(i) for i, at in enumerate(sorted(set(instructions(program))))}
    everything = sum(samples.values())
    make_session(program, samples, "truth")
    bad = []

    lines, zero, sums = parse_source(opannotate("truth", "--source", *options))
    without = sums.get("without a source line, of which:", 0)
    if sums.get("in all") != everything or sums["in the lines shown"] + without != everything:
        bad.append(f"sums: {sums}, not {everything}")
    if sum(lines.values()) + zero != sums["in the lines shown"]:
        bad.append(f"lines have {sum(lines.values())} + {zero}, not {sums['in the lines shown']}")
    theirs, unknown = symbolizer(program, samples)
    for place in sorted(set(lines) | set(theirs)):
        if lines[place] != theirs[place]:
            bad.append(f"{place}: {lines[place]}, llvm-symbolizer {theirs[place]}")

    totals, shown = parse_assembly(opannotate("truth", "--assembly", *options))
    if shown != everything:
        bad.append(f"instructions have {shown}, not {everything}")
    for start, size in symbols(program).items():
        inside = sum(n for at, n in samples.items() if start <= at < start + size)
        if size and totals[start] != inside:
            bad.append(f"function at {start:#x}: {totals[start]}, not {inside}")

    if without + zero > unknown:
        bad.append(f"without a line: {without} + {zero}, llvm-symbolizer {unknown}")
    print(f"{os.path.basename(program)}: {everything} samples, without a line "
          f"{100 * (without + zero) / everything:.2f} %, llvm-symbolizer {100 * unknown / everything:.2f} %")
    if bad:
        sys.exit("\n".join(bad[:40]))


main()
