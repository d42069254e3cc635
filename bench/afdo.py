#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures a program that clang rebuilds with the profile of `oprofile export afdo`: the
interpreter of tests/workloads. Records it, rebuilds it, and compares the user time of both
programs, which run alternately."""
import argparse
import os
import resource
import subprocess
import sys
import tempfile

from common import median, ratio, table

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "workloads",
                      "interpreter.c")
FLAGS = ["-O2", "-gmlt", "-fdebug-info-for-profiling", "-Wl,--build-id"]


def build(program, *flags):
    subprocess.run(["clang", *FLAGS, *flags, "-o", program, SOURCE], check=True)


def user_s(program, times):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run([program, str(times)], check=True, capture_output=True, text=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="the build folder")
    parser.add_argument("--quick", action="store_true", help="few runs")
    options = parser.parse_args()
    oprofile = os.path.join(os.path.abspath(options.build), "src", "tools", "oprofile")
    runs, times = (3, 5000000) if options.quick else (9, 8000000)
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        plain, again, session, profile = (os.path.join(scratch, name)
                                          for name in ("plain", "again", "session", "profile"))
        os.mkdir(session)
        build(plain)
        for argv in ([oprofile, "record", "--session-dir", session, plain, str(2 * times)],
                     [oprofile, "export", "afdo", "--session-dir", session, "-o", profile]):
            done = subprocess.run(argv, capture_output=True, text=True, check=False)
            if done.returncode:
                print("afdo:", done.stderr.strip(), file=sys.stderr)
                return 1
        build(again, "-fprofile-sample-use=" + profile)
        took, said = {plain: [], again: []}, set()
        for _ in range(runs):
            for program, seconds in took.items():
                user, text = user_s(program, times)
                seconds.append(user)
                said.add(text)
    if len(said) != 1:
        print("afdo: the rebuilt program says something else", file=sys.stderr)
        return 1
    rows = [[name, min(took[program]), median(took[program]),
             ratio(median(took[program]), median(took[plain]))]
            for name, program in (("clang -O2", plain), ("and its profile", again))]
    table(f"A program rebuilt with its profile, {runs} runs", ["", "least [s]", "median [s]", "of -O2"],
          rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
