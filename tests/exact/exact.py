#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""exact.py OPROFILE [options]: compares our answers with those of three other programs.

Builds binaries with the available compilers, queries random addresses of their code and compares
function, file and line of the whole inline chain with llvm-symbolizer, binutils' addr2line and
eu-addr2line.  If any two of the three agree, our answer must be the same; this must be the case for
95 % of all addresses.  docs/lines.md says how answers are compared, and lists the classes of
permitted differences.

  --addresses N   addresses of each binary (default 2000), or all if its code has fewer bytes
  --slow N        addresses for eu-addr2line, which is slow (default 500)
  --seconds N     time limit of eu-addr2line in seconds, approximately (default 60)
  --real          also real programs (redis, sqlite, lapack ...), whose source is fetched
  --only WORD     only binaries whose name contains this
  --binary FILE   also this binary; can be repeated
  --show N        examples of each kind of difference (default 2)
  --classes       count and show addresses at which one of the three differs, or all differ
  --keep DIR      build in DIR and keep it
  --quick         a few small binaries, few addresses: for everyday use
"""
import argparse
import itertools
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter

sys.dont_write_bytecode = True  # the source directory is not changed

import aranges
import builds
import real
from builds import have
from spelling import Spelling, is_artificial

NEEDED = 0.95
FIRST_FEW = 100
BACKWARDS = "binutils, asked in the opposite order"


def code_of(binary):
    """Returns [(address, bytes)] of .text."""
    text = subprocess.run(["readelf", "-SW", binary], capture_output=True, text=True,
                          check=True).stdout
    found = re.findall(r" (\.text)\s+PROGBITS\s+([0-9a-f]+)\s+[0-9a-f]+\s+([0-9a-f]+)", text)
    return [(int(a, 16), int(n, 16)) for _, a, n in found]


def pick(binary, nr):
    """Returns this many different addresses, the same ones each time."""
    ranges = [r for r in code_of(binary) if r[1]]
    rng = random.Random(os.path.basename(binary))
    start, size = ranges[0]
    return sorted(start + i for i in rng.sample(range(size), min(nr, size)))


def clean_name(name):
    name = name.split(" inlined at ")[0]
    # LLVM adds suffixes to names that it made global; they are only in symbol tables.
    name = re.sub(r"\.llvm\.\d+$", "", name)
    return None if name in ("??", "") else name


def clean_place(place):
    place = re.sub(r" \(discriminator \d+\)$", "", place)
    match = re.match(r"^(.*?):(\d+|\?)(:\d+)?$", place)
    if not match:
        return None, 0
    path, line = match[1], match[2]
    line = 0 if line == "?" else int(line)
    if path in ("??", "") or (line == 0 and "/" not in path):
        return None, 0
    return os.path.normpath(path), line


def parse(text):
    """Parses output with -a -f -i: {address: ((function, path, line), ...)}."""
    answers = {}
    lines = None
    for line in text.split("\n"):
        if re.match(r"^0x[0-9a-f]+$", line):
            lines = answers.setdefault(int(line, 16), [])
            lines.clear()
        elif lines is not None and line:
            lines.append(line)
    return {at: tuple((clean_name(ls[i]), *clean_place(ls[i + 1]))
                      for i in range(0, len(ls) - 1, 2)) for at, ls in answers.items()}


def ask(command, addresses):
    asked = "".join(f"{a:#x}\n" for a in addresses)
    done = subprocess.run(command, input=asked.encode(), stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False)
    return parse(done.stdout.decode(errors="replace"))


def ask_a_while(command, addresses, seconds):
    """Queries addresses until the time is over: first a few, then as many as are expected to use
    a quarter of the rest."""
    start = time.monotonic()
    answers = {}
    nr = FIRST_FEW
    at = 0
    while at < len(addresses):
        answers |= ask(command, addresses[at:at + nr])
        at += nr
        spent = time.monotonic() - start
        if spent > seconds:
            break
        nr = max(FIRST_FEW, int(at / spent * (seconds - spent) / 4))
    return answers


def vote(said, spelling):
    """Returns (the answer of two programs, the function that compares an answer with it), or
    None."""
    wanted, votes = Counter(said.values()).most_common(1)[0]
    if votes > 1:
        return wanted, lambda answer: answer == wanted or spelling.same(answer, wanted)
    for a, b in itertools.combinations(said.values(), 2):
        if spelling.alike(a, b):
            whole = b if any(is_artificial(f) for f in a) else a
            return whole, lambda answer: spelling.alike(answer, whole)
    return None


def what_they_say(others, at, spelling):
    """Returns each program's answer. Names that binutils prints for functions without linkage
    name depend on earlier queries: of its two answers, the one that another program also gives is
    used."""
    said = {n: o[at] for n, o in others.items() if at in o}
    back = said.pop(BACKWARDS, None)
    there = said.get("binutils")
    if back != there and not any(spelling.alike(there, a) for n, a in said.items()
                                 if n != "binutils"):
        said["binutils"] = back
    return said


def kind_of(ours, theirs):
    """Returns one or two words that name the difference."""
    if not ours:
        return "no answer"
    if theirs and theirs[-1][0] is None:
        return "code of no function"
    if len(ours) != len(theirs):
        return "length of the chain"
    for i, (a, b) in enumerate(zip(ours, theirs)):
        where = "outermost" if i == len(ours) - 1 else "inlined"
        if a[0] != b[0]:
            return f"function, {where}"
        if a[1] != b[1]:
            return f"file, {where}"
        if a[2] != b[2]:
            return f"line, {where}"
    return "?"


class Counted:
    def __init__(self):
        self.asked = self.qualified = self.agreed = 0
        self.slow = 0  # of eu-addr2line
        self.alone = Counter()
        # Maps kinds of difference to examples: of ours, and of classes of the others.
        self.kinds = {}
        self.classes = {}

    def differs(self, at, ours, wanted):
        self.kinds.setdefault(kind_of(ours, wanted), []).append((at, ours, wanted))

    def stands_alone(self, name, at, answer, wanted):
        self.alone[name] += 1
        self.classes.setdefault(f"{name}: {kind_of(answer, wanted)}", []).append(
            (at, answer, wanted))

    def split(self, at, ours, said):
        """If no two agree, the name lists how each differs from ours."""
        kinds = [f"{n}: {kind_of(a, ours) if a != ours else 'as we'}"
                 for n, a in sorted(said.items())]
        self.classes.setdefault("all differ; " + ", ".join(kinds), []).append(
            (at, said, ours))


def ask_others(binary, twin, blind, addresses, options):
    """Queries all programs; those in `blind` get the twin."""
    def flags(tool):
        return ["-a", "-f", "-i", "-e", twin if twin and tool in blind else binary]
    others = {}
    if have("addr2line"):
        others["binutils"] = ask(["addr2line", *flags("binutils")], addresses)
        others[BACKWARDS] = ask(["addr2line", *flags("binutils")], addresses[::-1])
    if have("llvm-symbolizer"):
        others["llvm"] = ask(["llvm-symbolizer", "--output-style=GNU", "--no-demangle",
                              *flags("llvm")], addresses)
    if have("eu-addr2line"):
        with tempfile.TemporaryDirectory() as folder:
            asked = flags("elfutils")
            if have("llvm-dwarfdump"):
                asked[-1] = aranges.with_aranges(asked[-1], os.path.join(folder, "aranges"))
            few = random.Random(1).sample(addresses, min(options.slow, len(addresses)))
            others["elfutils"] = ask_a_while(["eu-addr2line", *asked], few, options.seconds)
    return others


def compare(oprofile, binary, twin, blind, options):
    addresses = pick(binary, options.addresses)
    ours = ask([oprofile, "addr2line", "--no-cache", "-a", "-f", "-i", "-e", binary], addresses)
    others = ask_others(binary, twin, blind, addresses, options)
    counted = Counted()
    spelling = Spelling(binary)
    counted.slow = len(others.get("elfutils", ()))
    for at in addresses:
        said = what_they_say(others, at, spelling)
        if len(said) < 2:
            continue
        counted.asked += 1
        found = vote(said, spelling)
        if not found:
            counted.split(at, ours.get(at), said)
            continue
        wanted, is_same = found
        counted.qualified += 1
        for name, answer in said.items():
            if not is_same(answer):
                counted.stands_alone(name, at, answer, wanted)
        if is_same(ours.get(at)):
            counted.agreed += 1
        else:
            counted.differs(at, ours.get(at), wanted)
    spelling.close()
    return counted


def show(kinds, nr, one, other):
    for kind, examples in sorted(kinds.items(), key=lambda k: -len(k[1])):
        print(f"#   {len(examples)} times: {kind}")
        for at, a, b in examples[:nr]:
            print(f"#     {at:#x}\n#       {one:6} {a}\n#       {other:6} {b}")


def check(name, oprofile, binary, twin, blind, options):
    c = compare(oprofile, binary, twin, blind, options)
    share = c.qualified / c.asked if c.asked else 0
    good = c.asked and share >= NEEDED and c.agreed == c.qualified
    print(f"{'ok' if good else 'not ok'} {name}: {c.asked} asked "
          f"({c.slow} of three), {100 * share:.2f} % qualify, "
          f"{c.qualified - c.agreed} differ; alone: "
          + ", ".join(f"{n} {v}" for n, v in sorted(c.alone.items())), flush=True)
    show(c.kinds, options.show, "ours", "theirs")
    if options.classes:
        show(c.classes, options.show, "alone", "others")
    return good


def built(name, folder, build, build_twin):
    """Returns the binary, and its twin or None."""
    out = os.path.join(folder, re.sub(r"[^a-z0-9]+", "-", name.lower()))
    if not os.path.exists(out):
        build(out)
    twin = out + "-twin" if build_twin else None
    if twin and not os.path.exists(twin):
        build_twin(twin)
    if twin and not builds.same_code(out, twin):
        print(f"# {name}: its twin has other code")
        twin = None
    return out, twin


def main():
    missing = [t for t in ("addr2line", "llvm-symbolizer", "eu-addr2line") if not have(t)]
    if missing:
        # Two programs differ too often; the third is needed for a majority.
        print(f"1..0 # SKIP needs {', '.join(missing)} (scripts/deps.sh exact): NOT TESTED")
        return 0
    parser = argparse.ArgumentParser()
    parser.add_argument("oprofile")
    parser.add_argument("--addresses", type=int, default=2000)
    parser.add_argument("--slow", type=int, default=500)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--only", default="")
    parser.add_argument("--binary", action="append", default=[])
    parser.add_argument("--show", type=int, default=2)
    parser.add_argument("--keep")
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--classes", action="store_true")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if options.quick:
        options.addresses, options.slow = 400, 400
    folder = os.path.abspath(options.keep or tempfile.mkdtemp(prefix="exact."))
    os.makedirs(folder, exist_ok=True)
    results = []
    try:
        wanted = builds.subjects(options.quick)
        if options.real:
            wanted += real.subjects(folder)
        for name, tools, build, build_twin, blind in wanted:
            if options.only not in name:
                continue
            if not all(have(t) for t in tools):
                print(f"ok {name} # skip no {' or '.join(tools)}")
                continue
            out, twin = built(name, folder, build, build_twin)
            results.append(check(name, options.oprofile, out, twin, blind, options))
        for binary in options.binary:
            results.append(check(os.path.basename(binary), options.oprofile, binary, None,
                                 (), options))
    finally:
        if not options.keep:
            shutil.rmtree(folder)
    print(f"1..{len(results)}")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
