# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares call stacks from `script -F comm,ip,sym` with those that the program was built to
have."""
import sys
from collections import Counter


def read(path):
    """Yields (command, symbols, innermost first) for each sample."""
    samples, comm, frames = [], None, []
    for line in open(path, errors="replace"):
        if line.startswith(("\t", "    ")) and line.strip() and comm is not None:
            frames.append(line.split(None, 1)[1].strip() if " " in line.strip() else "")
        elif line.strip():
            if comm is not None:
                samples.append((comm, frames))
            comm, frames = line.split()[0], []
    if comm is not None:
        samples.append((comm, frames))
    return samples


def share(what, good, all_of_them, wanted):
    print(f"{what}: {good} of {all_of_them}")
    if not all_of_them or good < wanted * all_of_them:
        sys.exit(f"{what}: fewer than {wanted:.1%}")


def recursion(depth, path, whole=0.97):
    """Checks workloads/deep: every fourth call is made through descend_wide()."""
    samples = [f for _, f in read(path) if "bottom" in f]
    wanted = (depth + 1, depth // 4)
    seen = Counter((f.count("descend"), f.count("descend_wide"), f[-1]) for f in samples)
    print("descend, descend_wide, outermost:", seen.most_common(5))
    rooted = {key: n for key, n in seen.items() if key[2].startswith("_start")}
    good = sum(n for key, n in rooted.items() if key[:2] == wanted)
    share("whole", good, len(samples), whole)
    # Between the calls in the innermost loop, the last function can have returned already.
    share("right, of those with a root", good, sum(rooted.values()), 0.98)


def work(path, roots, rules, whole):
    """Checks samples of functions. `leaf=frame,frame...` lists required callers, innermost first;
    other frames can be between them. The last frame is one of `roots`."""
    good, total = Counter(), Counter()
    for _, frames in read(path):
        for rule in rules:
            leaf, _, callers = rule.partition("=")
            if not frames or not frames[0].startswith(leaf):
                continue
            total[leaf] += 1
            rest = iter(frames[1:])
            good[leaf] += (all(c in rest for c in callers.split(",") if c)
                           and frames[-1].startswith(tuple(roots.split(","))))
    for rule in rules:
        leaf = rule.partition("=")[0]
        share(leaf, good[leaf], total[leaf], float(whole))


def callers(gdb, path):
    """Checks `perf script -F comm,ip,sym`: each function has the callers that gdb found."""
    wanted = {words[1]: words[2:] for words in map(str.split, open(gdb))}
    good, seen, others = 0, Counter(), Counter()
    for block in open(path, errors="replace").read().split("\n\n"):
        frames = [line.split() for line in block.strip().splitlines()[1:]]
        if not frames or frames[0][1] not in wanted:
            continue
        seen[frames[0][1]] += 1
        addresses = [f[0] for f in frames[1:]]
        if addresses == wanted[frames[0][1]]:
            good += 1
        else:
            others[(frames[0][1], " ".join(addresses))] += 1
    print(len(seen), "functions; other callers:", others.most_common(3))
    share("gdb's callers", good, sum(seen.values()), 0.99)
    if len(seen) < len(wanted):
        sys.exit("not all functions have samples")


def joined(path):
    """Checks `oprofile dump` of a program that is mostly in the kernel."""
    both = kernel = 0
    for line in open(path, errors="replace"):
        frames = line.rstrip("\n").split(" ", 5)[5].split(";")
        if frames[0].startswith("/"):
            continue
        kernel += 1
        users = [i for i, f in enumerate(frames) if f.startswith("/")]
        both += (bool(users) and frames[-1].startswith("/")
                 and users == list(range(users[0], len(frames))))
    share("in the kernel, and all callers behind", both, kernel, 0.9)


def is_behind_call(code):
    """Returns whether the x86 code can end with a call: E8 rel32, or FF /2 of any length."""
    if len(code) >= 5 and code[-5] == 0xe8:
        return True
    for length in range(2, min(len(code), 8) + 1):
        if code[-length] != 0xff or (code[-length + 1] >> 3 & 7) != 2:
            continue
        mod, rm = code[-length + 1] >> 6, code[-length + 1] & 7
        sib = mod != 3 and rm == 4
        base5 = sib and length > 2 and code[-length + 2] & 7 == 5
        disp = 4 if mod == 2 or (mod == 0 and (rm == 5 or base5)) else mod == 1
        if length == 2 + sib + disp:
            return True
    return False


def calls(path):
    """Checks `oprofile dump`: return addresses in programs and libraries follow a call."""
    files, good, bad, samples = {}, Counter(), Counter(), 0
    for line in open(path, errors="replace"):
        # Frames without a file are in the kernel or in generated code.
        frames = [f.rsplit("+0x", 1) for f in line.rstrip("\n").split(" ", 5)[5].split(";")]
        frames = [f for f in frames if f[0].startswith("/")]
        samples += 1
        for name, offset in frames[1:]:
            if name not in files:
                try:
                    files[name] = open(name, "rb")
                except OSError:
                    files[name] = None
            if not files[name]:
                continue
            at = int(offset, 16)
            files[name].seek(max(at - 8, 0))
            ok = is_behind_call(files[name].read(min(at, 8)))
            (good if ok else bad)[(name, at)] += 1
    print("not behind a call:", [(n, hex(a), c) for (n, a), c in bad.most_common(5)])
    share(f"return addresses behind a call, of {samples} samples", sum(good.values()),
          sum(good.values()) + sum(bad.values()), 0.999)


if __name__ == "__main__":
    {"recursion": lambda a: recursion(int(a[0]), a[1], *map(float, a[2:])),
     "work": lambda a: work(a[0], a[1], a[3:], a[2]),
     "callers": lambda a: callers(*a),
     "joined": lambda a: joined(a[0]),
     "calls": lambda a: calls(a[0])}[sys.argv[1]](sys.argv[2:])
