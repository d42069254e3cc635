#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that perf reads the sum of several perf.data files from another file.

usage: same.py [--unwound] [--time SPAN] BEFORE... AFTER
Compares perf report by (event, comm, object, symbol) and by CPU, and each sample with its chain in
perf script. For addresses without a symbol only the object is compared: a session does not contain
the addresses of mappings. With a span (in perf's syntax) BEFORE is cut to it. With --unwound,
chains of AFTER can have more callers. Prints the rows that differ; status 1 if there are any.
"""
import os
import re
import subprocess
import sys
from collections import Counter

SHOWN = 12
UNKNOWN = "[unknown] ([unknown])"


def perf(*words):
    done = subprocess.run(["perf", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=dict(os.environ, LC_ALL="C"), check=False)
    return done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def any_kernel(text):
    """perf supports one kernel: if a file has several, the others have numbers."""
    return re.sub(r"\[kernel\.[0-9]+\]", "[kernel.kallsyms]", text)


def report(path, *keys, more=()):
    """Returns {(event, key...): (samples, period)} of perf report."""
    widths = ",".join(["10", "12", "20"] + ["250"] * len(keys))
    out, _ = perf("report", "-f", "-i", path, "--stdio", "--no-children", "--no-group",
                  "--no-branch-stack", "--no-itrace", "-g", "none", "-F",
                  ",".join(["sample", "period", *keys]), "-w", widths, "-t", "\x01", *more)
    rows = Counter()
    event = ""
    for line in out.splitlines():
        found = re.match(r"# Samples: \S+\s+of events? '(.*)'", line)
        if found:
            event = found.group(1)
        fields = [f.strip() for f in line.split("\x01")]
        if line.startswith("#") or len(fields) < len(keys) + 2:
            continue
        key = (event, *(any_kernel(re.sub(r"0x[0-9a-f]+$", "", f)) for f in fields[2:]))
        rows[key, "samples"] += int(fields[0])
        rows[key, "period"] += int(fields[1])
    return rows


def essence(sample):
    """Returns the part of a sample with a chain that a session stores."""
    # A chain ends where it leaves the mappings.
    lost = next((i for i, f in enumerate(sample) if i > 1 and f == UNKNOWN), None)
    sample = [re.sub(r"\(/lib/modules/.*/(.*)\.ko\)", r"([\1])", any_kernel(f))
              for f in sample[:lost]]
    # A chain without callers counts as no chain.
    return sample if len(sample) > 2 else sample[:1]


def script(path, more=()):
    """Counts each sample by thread, time, event, and its chain without addresses."""
    fields = "comm,pid,tid,time,event,period,ip,sym,symoff,dso"
    out, _ = perf("script", "-f", "-i", path, "--no-itrace", "-F", fields, *more)
    samples = Counter()
    sample = []
    for line in [*out.splitlines(), ""]:
        if line.startswith("\t"):
            sample.append(line.split(maxsplit=1)[1])
            continue
        if sample:
            samples["; ".join(essence(sample))] += 1
        # Without a chain the address follows the event, which ends with a colon.
        line = re.sub(r"^(.*): +[0-9a-f]+ (\S.* \(.*\))$", r"\1: \2", line)
        sample = [" ".join(line.split())] if line.strip() else []
    return samples


def complain(what, before, after):
    differ = sorted(k for k in set(before) | set(after) if before[k] != after[k])
    print(f"{what}: {len(before)} rows, {len(differ)} differ")
    for key in differ[:SHOWN]:
        print(f"    {key}: before {before[key]}, after {after[key]}")
    return bool(differ) or not before


def forget_cut(before, after):
    """Accepts chains that lost their outer callers, if they are few: at an exec, the mappings of
    the old program are gone for us, while perf still has them."""
    lost, came = before - after, after - before
    allowed = sum(before.values()) // 100
    for whole in lost:
        cut = [k for k in came if came[k] and whole.startswith(k + ";")]
        if cut and allowed:
            allowed -= 1
            came[cut[0]] -= 1
            after[cut[0]] -= 1
            after[whole] += 1


def forget_found(before, after):
    """Accepts chains with additional callers: they come from copies of the stack, which perf cannot
    unwind if they are from another machine."""
    for short in before - after:
        for long in [k for k in after - before if k.startswith(short + ";")]:
            nr = min((before - after)[short], after[long])
            after[long] -= nr
            after[short] += nr


def forget_dropped(before, after):
    """Accepts a few chains that perf drops as a whole because they contain a word of garbage
    (docs/perf-script.md): we end them there, so the export contains no garbage."""
    allowed = sum(before.values()) // 50
    for bare in [k for k in before - after if "; " not in k]:
        found = [k for k in after - before if k.startswith(bare + "; ")]
        if found and allowed:
            allowed -= 1
            after[found[0]] -= 1
            after[bare] += 1


def together(paths, read):
    return sum((read(path) for path in paths), Counter())


if __name__ == "__main__":
    words = sys.argv[1:]
    unwound = words[0] == "--unwound"
    words = words[unwound:]
    cut = ["--time", words[1]] if words[0] == "--time" else []
    *before, after = words[len(cut):]
    bad = False
    for keys in (("comm", "dso", "sym"), ("cpu",)):
        bad |= complain(",".join(keys),
                        together(before, lambda path: report(path, *keys, more=cut)),
                        report(after, *keys))
    samples = together(before, lambda path: script(path, cut)), script(after)
    forget_cut(*samples)
    forget_dropped(*samples)
    if unwound:
        forget_found(*samples)
    bad |= complain("script", *samples)
    sys.exit(bad)
