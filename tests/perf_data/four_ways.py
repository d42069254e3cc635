#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""four_ways.py OPROFILE FILE...: a recording has the same counts wherever they are read.

Compares the reports of each perf.data with those of the session made from it, of an archive of
that session, and of the session exported as perf.data again: samples, periods and percentages by
event, command and object; by object and function; and those of functions with their callees.
Files that opreport rejects are skipped; an import must also reject them.
"""
import os
import subprocess
import sys
import tempfile

VIEWS = (("--by", "event,comm,image", "--show-total-period"),
         ("--by", "image,symbol", "--show-total-period"),
         ("--by", "comm,image,symbol", "--children"))
DONE = (0, 3)  # 3: the input is incomplete
SHOWN = 5


def run(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          timeout=60, env=dict(os.environ, LC_ALL="C"))
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode()


def make(oprofile, path, folder):
    """Returns the sources that must have the same counts, or the failure's message."""
    session = ("--session-dir", folder)
    steps = (("import", *session, path),
             ("archive", "--no-debug-files", "-o", f"{folder}/archive", *session),
             ("export", "perf-data", "-o", f"{folder}/again", *session))
    for step in steps:
        status, _, complaint = run(oprofile, *step)
        if status not in DONE:
            return None, f"{step[0]}: status {status}: {complaint.strip()}"
    return {"session": session, "archive": (f"archive:{folder}/archive",),
            "export": (f"{folder}/again",)}, ""


def compare(oprofile, path, sources):
    bad = False
    for view in VIEWS:
        status, out, _ = run(oprofile, "report", "--csv", *view, path)
        want = sorted(out.splitlines())
        for name, source in sources.items():
            _, out, _ = run(oprofile, "report", "--csv", *view, *source)
            got = sorted(out.splitlines())
            if status in DONE and got == want:
                continue
            bad = True
            print(f"{path}: {name}: {' '.join(view)} differs:")
            print(*(f"  -{row}" for row in [r for r in want if r not in got][:SHOWN]), sep="\n")
            print(*(f"  +{row}" for row in [r for r in got if r not in want][:SHOWN]), sep="\n")
    return bad


def check(oprofile, path):
    """Returns (whether the file was compared, whether it is bad)."""
    with tempfile.TemporaryDirectory() as folder:
        sources, failure = make(oprofile, path, folder)
        if sources:
            return True, compare(oprofile, path, sources)
        bad = run(oprofile, "report", path)[0] in DONE
        if bad:
            print(f"{path}: {failure}")
        return False, bad


def main():
    oprofile, *paths = sys.argv[1:]
    results = [check(oprofile, path) for path in paths if not os.path.isdir(path)]
    compared = sum(was for was, _ in results)
    print(f"{compared} of {len(paths)} recordings compared")
    sys.exit(any(bad for _, bad in results) or not compared)


main()
