#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures how often `oprofile diff` finds a slowdown that was planted in a function of SQLite,
Redis or LevelDB (C++).

Records the program unchanged, with a delay planted in one function, and with that function inlined.
Then draws pairs of sides from these runs, compares them, and counts how often the function is
called slower or moved, and how often other functions are called changed.

--source names the unpacked source (apt-get source sqlite3); for sqlite, a directory with sqlite3.c
and sqlite3.h also suffices. --keep uses and keeps the programs and recordings of a directory, so
that a second call only compares.
"""
import argparse
import collections
import concurrent.futures
import csv
import io
import os
import random
import sys
import tempfile

from common import median, table
from compare_programs import PROGRAMS, checked

HERE = os.path.dirname(os.path.abspath(__file__))
TRIALS = 7


def ms_per_iteration(program, ms, rounds):
    iterations, used = program.run("base", rounds, ms)
    return used / iterations


def find_rounds(program, ms, percent):
    """Returns the rounds that make an iteration slower by this many percent."""
    trial = program.trial_rounds
    times = {0: [], trial: []}
    for _ in range(TRIALS):
        for rounds, values in times.items():
            values.append(ms_per_iteration(program, ms, rounds))
    plain, slow = median(times[0]), median(times[trial])
    print(f"{trial} rounds: an iteration needs {slow / plain:.3f} times the time")
    return round(trial * percent / 100 * plain / (slow - plain))


class Recorder:
    def __init__(self, args, program):
        self.args = args
        self.program = program
        self.rounds = 0

    def path(self, kind, number):
        return os.path.join(self.args.keep, f"{kind}-{number}")

    def record(self, task):
        kind, number = task
        path = self.path(kind, number)
        if os.path.exists(path):
            return
        os.makedirs(path + ".new", exist_ok=True)
        self.program.run("inlined" if kind == "inlined" else "base",
                         self.rounds if kind == "planted" else 0, self.args.ms,
                         [self.args.oprofile, "record", "--frequency", str(self.args.hz),
                          "--session-dir", path + ".new"])
        os.rename(path + ".new", path)

    def record_all(self):
        """Records the kinds alternately, so that a drift of the machine affects all of them."""
        tasks = [(kind, number) for number in range(self.args.runs) for kind in self.args.kinds]
        with concurrent.futures.ThreadPoolExecutor(self.args.jobs) as pool:
            list(pool.map(self.record, tasks))

    def share(self):
        """Returns the percentage of the function in a recording of the program."""
        self.record(("base", 0))
        rows = verdicts(self.args, [self.path("base", 0)], [self.path("base", 0)])
        return sum(float(row["base"]) for symbol, row in rows.items()
                   if self.program.is_planted(symbol))


def verdicts(args, base, new):
    """Returns {function: verdict} of the tested rows of the program."""
    done = checked([args.oprofile, "diff", "--csv", *args.diff_option, *base, "--", *new])
    rows = csv.DictReader(io.StringIO(done.out))
    return {row["symbol"]: row for row in rows if row["q"]}


class Tally:
    def __init__(self, program):
        self.program = program
        self.found = collections.Counter()
        self.others = 0
        self.other_rows = 0
        self.pairs_with_others = 0
        self.names = collections.Counter()
        self.changes = []

    def add(self, rows):
        others = 0
        self.found["missing"] += not any(map(self.program.is_planted, rows))
        for symbol, row in rows.items():
            if self.program.is_planted(symbol):
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
    tally = Tally(recorder.program)

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


def report(args, function, tallies):
    rows = []
    for kind, tally in tallies.items():
        found = ", ".join(f"{verdict} {nr}" for verdict, nr in tally.found.most_common() if nr)
        rows.append([kind, found, f"{median(tally.changes):+.2f}" if tally.changes else "-",
                     f"{tally.others} of {tally.other_rows}", f"{tally.pairs_with_others}"])
    table(f"{args.pairs} pairs of {args.side} runs a side, {args.ms} ms each at {args.hz} Hz",
          ["new side", function, "median change", "other rows changed", "in pairs"], rows)
    for kind, tally in tallies.items():
        if tally.names:
            print(f"\n{kind}: others: " + ", ".join(
                f"{name} ({nr})" for name, nr in tally.names.most_common(8)))


def choose_rounds(args, recorder):
    percent = args.percent
    if args.rounds is not None:
        return args.rounds
    if args.of_function:
        share = recorder.share()
        print(f"{recorder.program.function} has {share:.2f} % of the samples")
        percent *= share / 100
    return find_rounds(recorder.program, args.ms, percent)


def measure(args):
    os.makedirs(args.keep, exist_ok=True)
    program = PROGRAMS[args.program](args.keep, args.source)
    program.build()
    recorder = Recorder(args, program)
    recorder.rounds = choose_rounds(args, recorder)
    print(f"planted: {recorder.rounds} rounds in every 16th call of {program.function}()",
          flush=True)
    recorder.record_all()
    report(args, program.function,
           {kind: compare_pairs(args, recorder, kind) for kind in args.kinds})


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oprofile", default=os.path.join(HERE, "../build/src/tools/oprofile"))
    parser.add_argument("--program", choices=PROGRAMS, default="sqlite")
    parser.add_argument("--source", help="directory of the program's source")
    parser.add_argument("--keep", help="directory of programs and recordings")
    parser.add_argument("--percent", type=float, default=3, help="planted slowdown")
    parser.add_argument("--of-function", action="store_true",
                        help="the slowdown is that of the function, not of the program")
    parser.add_argument("--kinds", type=lambda text: text.split(","),
                        default=["base", "planted", "inlined"], help="separated by commas")
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
        measure(args)


if __name__ == "__main__":
    main()
