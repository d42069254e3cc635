#!/usr/bin/env python3
"""exact.py OPROFILE [options]: our answers beside those of three other programs.

Builds binaries with the compilers that are there, asks about random addresses of their code and
compares function, file and line of the whole inline chain with llvm-symbolizer, binutils'
addr2line and eu-addr2line.  Where any two of the three say the same, we have to say it too; such
addresses have to be 95 % of all.  docs/lines.md says how answers are compared, and names the
classes of what may differ.

  --addresses N   of each binary (default 2000)
  --slow N        as many of them for eu-addr2line, which is slow (default 500)
  --only WORD     only binaries whose name contains this
  --binary FILE   this one too; may be repeated
  --show N        examples of each kind of difference (default 2)
  --keep DIR      build there, and leave it
  --quick         a few small binaries, few addresses: for every day
"""
import argparse
import glob
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
NEEDED = 0.95
QUICK = "--quick" in sys.argv
QUICK_NAMES = {"gcc -O2", "gcc -O2 split", "clang -O2 DWARF 5", "gfortran"}


def have(name):
    return shutil.which(name) is not None


def run(command, **more):
    return subprocess.run(command, check=True, **more)


def own_sources():
    """A real C program that is always there: two layers of this one, without unusual needs."""
    files = sorted(glob.glob(f"{ROOT}/src/base/*.c") +
                   ([] if QUICK else glob.glob(f"{ROOT}/src/resolve/*.c")))
    return [f for f in files if not re.search(r"xz_|debuginfod|http|name_patterns", f)]


def build_c(compiler, flags, out):
    objects = []
    common = ["-g", "-fPIC", "-D_GNU_SOURCE", f"-I{ROOT}/src"]
    folder = out + ".d"
    os.makedirs(folder, exist_ok=True)
    for source in own_sources():
        made = os.path.join(folder, os.path.basename(source)[:-2] + ".o")
        run([compiler, *common, *flags, "-c", "-o", made, source], cwd=folder,
            stderr=subprocess.DEVNULL)
        objects.append(made)
    run([compiler, *common, *flags, "-shared", "-o", out, *objects], cwd=folder,
        stderr=subprocess.DEVNULL)


def build_one(command):
    # Fortran leaves its modules where it is called.
    return lambda out: run([*command, "-o", out], cwd=os.path.dirname(out),
                           stderr=subprocess.DEVNULL)


def same_code(a, b):
    """Whether two builds differ in nothing but how debug information is written."""
    text = [subprocess.run(["objcopy", "-O", "binary", "-j", ".text", f, "/dev/stdout"],
                           stdout=subprocess.PIPE, check=True).stdout for f in (a, b)]
    return text[0] == text[1]


def build_dwz(out):
    build_c("gcc", ["-O2"], out)
    twin = out + ".twin"
    shutil.copy(out, twin)
    # The twin makes dwz share: a third file that both refer to.
    run(["dwz", "-m", out + ".alt", "-M", os.path.basename(out) + ".alt", out, twin])


def subjects():
    """(name, the tools it needs, what builds it, what builds its twin).

    A twin has the same code, and debug information in a form that the other programs can read
    whole: they are asked about that one."""
    def c(compiler, *flags):
        return lambda out: build_c(compiler, flags, out)
    cxx, fortran, rust = (os.path.join(HERE, n)
                          for n in ("templates.cc", "numbers.f90", "shapes.rs"))
    clang4 = c("clang", "-O2", "-gdwarf-4")
    return [
        ("gcc -O0", ["gcc"], c("gcc", "-O0"), None),
        ("gcc -O2", ["gcc"], c("gcc", "-O2"), None),
        ("gcc -O3 -flto", ["gcc"], c("gcc", "-O3", "-flto"), None),
        ("gcc -O2 DWARF 4", ["gcc"], c("gcc", "-O2", "-gdwarf-4"), None),
        ("gcc -O2 split", ["gcc"], c("gcc", "-O2", "-gsplit-dwarf"),
         c("gcc", "-O2")),
        ("gcc -O2 dwz", ["gcc", "dwz"], build_dwz, c("gcc", "-O2")),
        ("clang -O2 DWARF 4", ["clang"], clang4, None),
        ("clang -O2 DWARF 5", ["clang"], c("clang", "-O2", "-gdwarf-5"), clang4),
        ("clang -O2 split", ["clang"], c("clang", "-O2", "-gsplit-dwarf", "-gdwarf-5"),
         clang4),
        ("g++ templates", ["g++"], build_one(["g++", "-g", "-O2", "-std=c++17", cxx]),
         None),
        ("clang++ templates", ["clang++"],
         build_one(["clang++", "-g", "-O2", "-std=c++17", cxx]),
         build_one(["clang++", "-gdwarf-4", "-O2", "-std=c++17", cxx])),
        ("gfortran", ["gfortran"], build_one(["gfortran", "-g", "-O2", fortran]), None),
        ("rustc", ["rustc"], build_one(["rustc", "-g", "-O", rust]), None),
    ]


def code_of(binary):
    """[(address, bytes)] of .text."""
    text = subprocess.run(["readelf", "-SW", binary], capture_output=True, text=True,
                          check=True).stdout
    found = re.findall(r" (\.text)\s+PROGBITS\s+([0-9a-f]+)\s+[0-9a-f]+\s+([0-9a-f]+)", text)
    return [(int(a, 16), int(n, 16)) for _, a, n in found]


def pick(binary, nr):
    ranges = [r for r in code_of(binary) if r[1]]
    rng = random.Random(binary.rsplit("/", 1)[-1])
    return [rng.randrange(a, a + n) for a, n in rng.choices(ranges, [n for _, n in ranges], k=nr)]


def clean_name(name):
    name = name.split(" inlined at ")[0]
    # What LLVM puts behind names that it made global is in symbols only.
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
    """{address: ((function, path, line), ...)} of output with -a -f -i."""
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


def kind_of(ours, theirs):
    """What differs, in a word or two."""
    if not ours:
        return "we know nothing"
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
        self.alone = Counter()
        self.kinds = Counter()
        self.examples = {}
        self.split = {}


def ask_others(binary, addresses, few):
    flags = ["-a", "-f", "-i", "-e", binary]
    others = {}
    if have("addr2line"):
        there = ask(["addr2line", *flags], addresses)
        back = ask(["addr2line", *flags], addresses[::-1])
        # Its name for what has no linkage name depends on what it was asked before.
        others["binutils"] = {at: a for at, a in there.items() if back.get(at) == a}
    if have("llvm-symbolizer"):
        others["llvm"] = ask(["llvm-symbolizer", "--output-style=GNU", "--no-demangle",
                              *flags], addresses)
    if have("eu-addr2line"):
        others["elfutils"] = ask(["eu-addr2line", *flags], few)
    return others


def compare(oprofile, binary, twin, options):
    addresses = sorted(set(pick(binary, options.addresses)))
    few = sorted(random.Random(1).sample(addresses, min(options.slow, len(addresses))))
    ours = ask([oprofile, "addr2line", "--no-cache", "-a", "-f", "-i", "-e", binary], addresses)
    others = ask_others(twin or binary, addresses, few)
    counted = Counted()
    for at in addresses:
        said = {n: o[at] for n, o in others.items() if at in o}
        if len(said) < 2:
            continue
        counted.asked += 1
        wanted, votes = Counter(said.values()).most_common(1)[0]
        if votes < 2:
            counted.split.setdefault("", []).append((at, ours.get(at), said))
            continue
        counted.qualified += 1
        for name, answer in said.items():
            counted.alone[name] += answer != wanted
        if ours.get(at) == wanted:
            counted.agreed += 1
            continue
        kind = kind_of(ours.get(at), wanted)
        counted.kinds[kind] += 1
        counted.examples.setdefault(kind, []).append((at, ours.get(at), wanted))
    return counted


def show(counted, nr):
    for kind, times in counted.kinds.most_common():
        print(f"    {times} times: {kind}")
        for at, a, b in counted.examples[kind][:nr]:
            print(f"      {at:#x}\n        ours   {a}\n        theirs {b}")


def check(name, oprofile, binary, twin, options):
    c = compare(oprofile, binary, twin, options)
    share = c.qualified / c.asked if c.asked else 0
    good = c.asked and share >= NEEDED and c.agreed == c.qualified
    print(f"{'ok' if good else 'not ok'} {name}: {c.asked} asked, {100 * share:.2f} % qualify, "
          f"{c.qualified - c.agreed} differ; alone: "
          + ", ".join(f"{n} {v}" for n, v in sorted(c.alone.items())), flush=True)
    show(c, options.show)
    return good


def main():
    if sum(have(t) for t in ("addr2line", "llvm-symbolizer", "eu-addr2line")) < 2:
        print("1..0 # SKIP fewer than two of addr2line, llvm-symbolizer and eu-addr2line")
        return 0
    parser = argparse.ArgumentParser()
    parser.add_argument("oprofile")
    parser.add_argument("--addresses", type=int, default=2000)
    parser.add_argument("--slow", type=int, default=500)
    parser.add_argument("--only", default="")
    parser.add_argument("--binary", action="append", default=[])
    parser.add_argument("--show", type=int, default=2)
    parser.add_argument("--keep")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if options.quick:
        options.addresses, options.slow = 400, 400
    folder = options.keep or tempfile.mkdtemp(prefix="exact.")
    os.makedirs(folder, exist_ok=True)
    results = []
    try:
        for name, tools, build, build_twin in subjects():
            if options.only not in name or (QUICK and name not in QUICK_NAMES):
                continue
            out = os.path.join(folder, re.sub(r"[^a-z0-9]+", "-", name.lower()))
            if not all(have(t) for t in tools):
                print(f"ok {name} # skip no {' or '.join(tools)}")
                continue
            if not os.path.exists(out):
                build(out)
            twin = out + "-twin" if build_twin else None
            if twin and not os.path.exists(twin):
                build_twin(twin)
            if twin and not same_code(out, twin):
                print(f"# {name}: its twin has other code")
                twin = None
            results.append(check(name, options.oprofile, out, twin, options))
        for binary in options.binary:
            results.append(check(os.path.basename(binary), options.oprofile, binary, None,
                                 options))
    finally:
        if not options.keep:
            shutil.rmtree(folder)
    print(f"1..{len(results)}")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
