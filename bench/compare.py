#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures how often `oprofile diff` finds a slowdown that was planted in a function of SQLite.

Records SQLite with a workload as it is, with a delay planted in one function, and with that
function inlined. Then draws pairs of sides from these runs, compares them, and counts how often the
function is called slower or moved, and how often other functions are called changed.

--sqlite names a directory with sqlite3.c and sqlite3.h, or the unpacked source (apt-get source
sqlite3), in which this makes both. --keep uses and keeps the programs and recordings of a
directory, so that a second call only compares.
"""
import argparse
import collections
import concurrent.futures
import csv
import io
import os
import random
import re
import subprocess
import sys
import tempfile

from common import median, run, table

HERE = os.path.dirname(os.path.abspath(__file__))
FUNCTION = "getCellInfo"
BEGIN = "static SQLITE_NOINLINE void getCellInfo(BtCursor *pCur){"
INLINE_BEGIN = BEGIN.replace("SQLITE_NOINLINE", "inline __attribute__((always_inline))")
KINDS = {"base": BEGIN, "inlined": INLINE_BEGIN}
TRIAL_ROUNDS = 400
TRIALS = 7


def checked(argv, **options):
    done = run(argv, **options)
    if done.status:
        sys.exit(f"{' '.join(argv)}: status {done.status}: {done.err}")
    return done


def make_amalgamation(source):
    path = os.path.join(source, "sqlite3.c")
    if not os.path.exists(path):
        subprocess.run(["./configure"], cwd=source, check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["make", "sqlite3.c", "sqlite3.h"], cwd=source, check=True,
                       stdout=subprocess.DEVNULL)
    with open(path, encoding="utf-8") as file:
        return file.read()


def build(directory, source):
    """Compiles the programs `base` and `inlined`."""
    missing = [kind for kind in KINDS if not os.path.exists(os.path.join(directory, kind))]
    if not missing:
        return
    if not source:
        sys.exit("give --sqlite DIR")
    text = make_amalgamation(source)
    if text.count(BEGIN) != 1:
        sys.exit(f"{source}: this version of SQLite has no '{BEGIN}'")
    jobs = []
    for kind in missing:
        path = os.path.join(directory, kind)
        with open(path + ".c", "w", encoding="utf-8") as file:
            file.write('#include "planted.h"\n')
            file.write(text.replace(BEGIN, KINDS[kind] + "\n  planted_delay();"))
        jobs.append(subprocess.Popen(
            ["gcc", "-O2", "-g1", "-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION",
             "-I", HERE, "-I", source, os.path.join(HERE, "sqlite_work.c"), path + ".c",
             "-lm", "-o", path]))
    if any(job.wait() for job in jobs):
        sys.exit("gcc failed")


def ms_per_iteration(program, ms, rounds):
    iterations, used = checked([program, str(ms), str(rounds)]).out.split()
    return float(used) / float(iterations)


def find_rounds(directory, ms, percent):
    """Returns the rounds that make an iteration slower by this many percent."""
    program = os.path.join(directory, "base")
    times = {0: [], TRIAL_ROUNDS: []}
    for _ in range(TRIALS):
        for rounds, values in times.items():
            values.append(ms_per_iteration(program, ms, rounds))
    plain, slow = median(times[0]), median(times[TRIAL_ROUNDS])
    print(f"{TRIAL_ROUNDS} rounds: an iteration needs {slow / plain:.3f} times the time")
    return round(TRIAL_ROUNDS * percent / 100 * plain / (slow - plain))


class Recorder:
    def __init__(self, args, rounds):
        self.args = args
        self.programs = {"base": ("base", 0), "planted": ("base", rounds),
                         "inlined": ("inlined", 0)}

    def path(self, kind, number):
        return os.path.join(self.args.keep, f"{kind}-{number}")

    def record(self, task):
        kind, number = task
        program, rounds = self.programs[kind]
        path = self.path(kind, number)
        if os.path.exists(path):
            return
        os.makedirs(path + ".new", exist_ok=True)
        checked([self.args.oprofile, "record", "--frequency", str(self.args.hz),
                 "--session-dir", path + ".new",
                 os.path.join(self.args.keep, program), str(self.args.ms), str(rounds)])
        os.rename(path + ".new", path)

    def record_all(self):
        """Records the kinds alternately, so that a drift of the machine affects all of them."""
        tasks = [(kind, number) for number in range(self.args.runs) for kind in self.programs]
        with concurrent.futures.ThreadPoolExecutor(self.args.jobs) as pool:
            list(pool.map(self.record, tasks))


def verdicts(args, base, new):
    """Returns {function: verdict} of the tested rows of the program."""
    done = checked([args.oprofile, "diff", "--csv", *args.diff_option, *base, "--", *new])
    rows = csv.DictReader(io.StringIO(done.out))
    return {row["symbol"]: row for row in rows if row["q"]}


def is_planted(symbol):
    return re.match(FUNCTION + r"\b", symbol) is not None


class Tally:
    def __init__(self):
        self.found = collections.Counter()
        self.others = 0
        self.other_rows = 0
        self.pairs_with_others = 0
        self.names = collections.Counter()
        self.changes = []

    def add(self, rows):
        others = 0
        self.found["missing"] += not any(map(is_planted, rows))
        for symbol, row in rows.items():
            if is_planted(symbol):
                self.found[row["verdict"]] += 1
                self.changes.append(float(row["change"]))
                continue
            self.other_rows += 1
            if row["verdict"] != "noise":
                others += 1
                self.names[f"{symbol} {row['verdict']}"] += 1
        self.others += others
        self.pairs_with_others += others > 0


def compare_pairs(args, recorder, kind):
    """Draws pairs of sides; those of the same kind have no run in common."""
    generator = random.Random(kind)
    tally = Tally()

    def pair(_):
        first = generator.sample(range(args.runs), 2 * args.side)
        base = first[:args.side]
        new = first[args.side:] if kind == "base" else generator.sample(range(args.runs),
                                                                        args.side)
        return ([recorder.path("base", i) for i in base], [recorder.path(kind, i) for i in new])

    pairs = [pair(i) for i in range(args.pairs)]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for rows in pool.map(lambda sides: verdicts(args, *sides), pairs):
            tally.add(rows)
    return tally


def report(args, tallies):
    rows = []
    for kind, tally in tallies.items():
        found = ", ".join(f"{verdict} {nr}" for verdict, nr in tally.found.most_common() if nr)
        rows.append([kind, found, f"{median(tally.changes):+.2f}" if tally.changes else "-",
                     f"{tally.others} of {tally.other_rows}", f"{tally.pairs_with_others}"])
    table(f"{args.pairs} pairs of {args.side} runs a side, {args.ms} ms each at {args.hz} Hz",
          ["new side", FUNCTION, "median change", "other rows changed", "in pairs"], rows)
    for kind, tally in tallies.items():
        if tally.names:
            print(f"\n{kind}: others: " + ", ".join(
                f"{name} ({nr})" for name, nr in tally.names.most_common(8)))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oprofile", default=os.path.join(HERE, "../build/src/tools/oprofile"))
    parser.add_argument("--sqlite", help="directory of sqlite3.c or of the source")
    parser.add_argument("--keep", help="directory of programs and recordings")
    parser.add_argument("--percent", type=float, default=3, help="planted slowdown")
    parser.add_argument("--rounds", type=int, help="of the planted delay, instead of --percent")
    parser.add_argument("--runs", type=int, default=30, help="recordings of each kind")
    parser.add_argument("--side", type=int, default=5, help="runs of each side")
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--ms", type=int, default=2000, help="CPU time of a run")
    parser.add_argument("--hz", type=int, default=1999)
    parser.add_argument("--jobs", type=int, default=1, help="at the same time")
    parser.add_argument("--diff-option", action="append", default=[],
                        help="of oprofile diff, such as --diff-option=--min-effect=0.5")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="oprofile-bench.") as temporary:
        args.keep = args.keep or temporary
        os.makedirs(args.keep, exist_ok=True)
        build(args.keep, args.sqlite)
        rounds = args.rounds
        if rounds is None:
            rounds = find_rounds(args.keep, args.ms, args.percent)
        print(f"planted: {rounds} rounds in every 16th call of {FUNCTION}()")
        recorder = Recorder(args, rounds)
        recorder.record_all()
        report(args, {kind: compare_pairs(args, recorder, kind)
                      for kind in ("base", "planted", "inlined")})


if __name__ == "__main__":
    main()
