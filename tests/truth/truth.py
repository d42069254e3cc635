#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Records the workloads, reports them, and compares the shares with the truth that the
workloads print (tests/workloads/work.h has the language).

A share may be off by 4 sigma + 0.2 %, sigma = sqrt(p (1 - p) / n) for the n samples of the
compared population.  The claim is 99.9 % over ALL checks of a run together; there are
about a thousand of them, so one check may fail in good order once in a million.  4 sigma
alone would be once in 16 000.  What makes up the rest:
- The events sample by a clock, not by chance: a stretch of work of k periods gets k samples,
  one more or one less.  The error of m stretches is at most sqrt(m / 4) samples, where a
  binomial one of n samples is sqrt(n p (1 - p)).  The workloads work in stretches of several
  periods and in lengths that keep no step with the clock, so the real sigma is a third
  of the assumed one or less, where p is not small.
- Where p is small (a thread of 64, work_a), sigma is below 0.25 %, and the 0.2 % is another
  sigma: 5 sigma is once in 1.7 million.

Exit status: 0 all right, 1 a check failed, 77 recording is not possible here.
"""
import argparse
import csv
import fnmatch
import io
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
OWN_FAILURE = 125
TIMEOUT_S = 60
ATTACH_S = 0.5 # time for a recorder to find the threads of a process

# Workload, arguments (milliseconds of work, or a number of processes), and how to record it.
SCENARIOS = [
    ("ratio", ["3000"], "command"),
    ("threads", ["3000"], "command"),
    ("processes", ["2000"], "command"),
    ("dlopen_twins", ["2000"], "command"),
    ("fork_only", ["2000"], "command"),
    ("exec_chain_a", ["2000"], "command"),
    ("pid_reuse", ["2000"], "command"),
    ("code_region", ["2000"], "command"),
    ("jit_dump", ["2000"], "command"),
    ("jit_map", ["2000"], "command"),
    ("deleted", ["2000"], "command"),
    ("static_pie", ["2000"], "command"),
]
# Recorded only once each, at the first rate and with call chains.
MORE_SCENARIOS = [
    ("threads", ["2000"], "system"),
    ("exec_chain_a", ["2000"], "system"),
    ("ratio", ["2500"], "pid"),
    ("threads", ["3000", "1"], "pid"),
    ("processes", ["600"], "daemon"),
    ("exec_chain_a", ["2000"], "daemon"),
]


class CannotRecord(Exception):
    pass


class Failed(Exception):
    pass


def run(argv, **kwargs):
    """Runs a command to its end and returns it; its output is text."""
    return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=TIMEOUT_S, check=False, **kwargs)


def record_pid(command, argv):
    """Starts the workload, then a recorder of its pid, then lets the workload begin (workloads wait
    for the end of their standard input). Returns the truth and the recorder."""
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as target:
        with subprocess.Popen(command + [str(target.pid)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as recorder:
            time.sleep(ATTACH_S)
            truth = target.communicate("", timeout=TIMEOUT_S)[0]
            out, err = recorder.communicate(timeout=TIMEOUT_S)
    return truth, subprocess.CompletedProcess(command, recorder.returncode, out, err)


class Oprofile:
    """Records and reports with the tools under test."""

    def __init__(self, binary, directory):
        self.binary = binary
        self.session = os.path.join(directory, "session")

    def record(self, argv, mode, rate, chains):
        """Runs the workload and returns what it printed."""
        shutil.rmtree(self.session, ignore_errors=True)
        os.mkdir(self.session)
        if mode == "daemon":
            return self.record_daemon(argv, rate)
        command = [self.binary, "record", "--session-dir", self.session,
                   "--frequency", str(rate)]
        if chains:
            command.append("--callgraph=fp")
        if mode == "pid":
            return self.record_pid(command, argv)
        if mode == "system":
            command.append("--system-wide")
        return self.finish(run(command + argv))

    def record_daemon(self, argv, rate):
        """oprofiled records the workload from start to end, and starts another recording every
        second."""
        with tempfile.TemporaryDirectory(prefix="run-") as run_dir:
            command = [self.binary, "daemon", "--foreground", "--session-dir", self.session,
                       "--frequency", str(rate), "--rotate", "1s", "--max-overhead", "90%",
                       "--callgraph=fp"]
            with subprocess.Popen(command, stderr=subprocess.PIPE, text=True,
                                  env=dict(os.environ, OPROFILE_RUN_DIR=run_dir)) as daemon:
                said = ""
                while "sampling" not in said:
                    line = daemon.stderr.readline()
                    said += line
                    if not line:
                        break
                try:
                    done = run(argv) if "sampling" in said else None
                finally:
                    daemon.terminate()
                    said += daemon.communicate(timeout=TIMEOUT_S)[1]
        if done and not daemon.returncode:
            return self.finish(subprocess.CompletedProcess(argv, done.returncode,
                                                           done.stdout, said))
        if "perf_event" in said:
            raise CannotRecord(said.strip())
        raise Failed(f"oprofiled: status {daemon.returncode}: {said.strip()}")

    def record_pid(self, command, argv):
        truth, recorder = record_pid(command + ["--pid"], argv)
        self.finish(recorder)
        return truth

    @staticmethod
    def finish(done):
        if done.returncode == OWN_FAILURE and "perf_event" in done.stderr:
            raise CannotRecord(done.stderr.strip())
        if done.returncode == SKIPPED:
            return None
        if done.returncode:
            raise Failed(f"status {done.returncode}: {done.stderr.strip()}")
        if "lost" in done.stderr:
            lost = re.search(r"(\d+) lost", done.stderr)
            if lost and int(lost.group(1)):
                raise Failed("samples were lost: " + done.stderr.strip())
        return done.stdout

    def rows(self, keys):
        """Returns [([value, ...], samples), ...] for the keys."""
        done = run([self.binary, "report", "--session-dir", self.session, "--by", keys,
                    "--csv"])
        if done.returncode:
            raise Failed(f"report --by {keys}: status {done.returncode}: {done.stderr}")
        table = list(csv.DictReader(io.StringIO(done.stdout)))
        return [([row[key] for key in keys.split(",")], int(row["samples"]))
                for row in table]


class Perf:
    """Does the same with perf, which distinguishes our errors from those of a workload."""

    SAMPLE = re.compile(r"^\s*(.*?)\s+(\d+)/(\d+)\s+[0-9a-f]+ (.*) \((.*)\)$")

    def __init__(self, binary, directory):
        self.binary = binary
        self.data = os.path.join(directory, "perf.data")
        self.samples = None

    def record(self, argv, mode, rate, chains):
        command = [self.binary, "record", "-q", "-o", self.data, "-e", "cpu-clock",
                   "-F", str(rate)]
        self.samples = None
        if chains:
            return None # perf script's chains have another format, and a flat report is enough
        if mode == "pid":
            return record_pid(command + ["-p"], argv)[0]
        if mode == "system":
            command.append("-a")
        done = run(command + ["--"] + argv)
        if done.returncode == SKIPPED:
            return None
        if done.returncode:
            raise CannotRecord(done.stderr.strip())
        return done.stdout

    def rows(self, keys):
        if "app" in keys.split(","):
            return None
        if self.samples is None:
            done = run([self.binary, "script", "-i", self.data, "-F",
                        "comm,pid,tid,ip,sym,dso"])
            self.samples = []
            for line in done.stdout.splitlines():
                match = self.SAMPLE.match(line)
                if match:
                    comm, pid, tid, symbol, image = match.groups()
                    self.samples.append({"comm": comm, "pid": pid, "tid": tid,
                                         "symbol": symbol, "image": image})
        counts = {}
        for sample in self.samples:
            values = tuple(sample[key] for key in keys.split(","))
            counts[values] = counts.get(values, 0) + 1
        return [(list(values), samples) for values, samples in counts.items()]


def matches(pattern, values):
    """Matches the VALUES of a statement with a row: one pattern per key, with | between
    alternatives."""
    patterns = pattern.split(",", len(values) - 1)
    return all(any(fnmatch.fnmatchcase(value, one) for one in alternatives.split("|"))
               for alternatives, value in zip(patterns, values))


def count(rows, pattern):
    return sum(samples for values, samples in rows if matches(pattern, values))


class Checker:
    """Turns the statements of a recording into checks, and remembers their results."""

    def __init__(self):
        self.number = 0
        self.good = 0
        self.bad = []
        self.skipped = []
        self.pending = []
        self.repeated = 0

    def say(self, label, good, text):
        self.pending.append((label, good, text))

    def settle(self, last_try):
        """Prints the checks of a recording. Returns False, and counts nothing, if some failed and
        another attempt follows: a virtual machine that its host suspends for longer than a
        period misses samples once, while a wrong recorder fails twice."""
        pending, self.pending = self.pending, []
        bad = [(label, text) for label, good, text in pending if not good]
        if bad and not last_try:
            for label, text in bad:
                print(f"# again: {label}: {text}", flush=True)
            self.repeated += 1
            return False
        for label, good, text in pending:
            self.number += 1
            print(f"{'ok' if good else 'not ok'} {self.number} - {label}: {text}",
                  flush=True)
            if good:
                self.good += 1
            else:
                self.bad.append(f"{label}: {text}")
        return True

    def skip(self, label, text):
        self.number += 1
        print(f"ok {self.number} - {label} # SKIP {text}", flush=True)
        self.skipped.append(label)

    def check(self, label, truth, profile, rate, whole):
        """`whole`: the recording covers all of the work, so that samples can be counted."""
        statements = [line.split() for line in truth.splitlines() if line.strip()]
        if not any(words[0] == "share" for words in statements):
            self.say(label, False, "the workload printed no truth")
        by_keys = {}
        for words in statements:
            by_keys.setdefault(words[1], []).append(words)
        for keys, group in by_keys.items():
            rows = profile.rows(keys)
            if rows is None:
                continue
            patterns = [words[2] for words in group if words[0] == "share"]
            population = sum(samples for values, samples in rows
                             if any(matches(pattern, values) for pattern in patterns))
            for words in group:
                if words[0] == "share":
                    self.share(label, rows, population, words)
                elif words[0] == "absent":
                    found = count(rows, words[2])
                    self.say(label, found == 0,
                             f"{keys} {words[2]}: {found} samples, must be none")
                elif words[0] == "distinct":
                    found = sum(1 for values, _ in rows if matches(words[2], values))
                    self.say(label, found >= int(words[3]) or not whole,
                             f"{keys} {words[2]}: {found} rows of {words[3]}")
                elif words[0] == "cpu" and whole:
                    self.cpu(label, population, rate, float(words[2]))

    def share(self, label, rows, population, words):
        _, keys, pattern, fraction = words
        truth = float(fraction)
        if not population:
            self.say(label, False, f"{keys} {pattern}: no samples at all")
            return
        share = count(rows, pattern) / population
        sigma = math.sqrt(truth * (1 - truth) / population)
        allowed = 4 * sigma + 0.002
        self.say(label, abs(share - truth) <= allowed,
                 f"{keys} {pattern}: {100 * share:.3f} % of {population}, truth "
                 f"{100 * truth:.3f} %, off by {100 * (share - truth):+.3f} of "
                 f"{100 * allowed:.3f}")

    def cpu(self, label, samples, rate, seconds):
        """The shares would not reveal a recorder that drops every second sample. A machine that is
        interrupted for longer than a period also loses samples: allow 5 %, and half a sample for
        each of up to 64 threads, whose clocks start separately."""
        expected = seconds * rate
        allowed = 4 * math.sqrt(expected) + 0.05 * expected + 32
        self.say(label, abs(samples - expected) <= allowed,
                 f"{samples} samples in {seconds:.3f} s of work at {rate} Hz, expected "
                 f"{expected:.0f}, allowed +-{allowed:.0f}")


def run_scenario(checker, profile, workloads, scenario, rate, chains):
    try_scenario(checker, profile, workloads, scenario, rate, chains)
    if not checker.settle(last_try=False):
        try_scenario(checker, profile, workloads, scenario, rate, chains)
        checker.settle(last_try=True)


def try_scenario(checker, profile, workloads, scenario, rate, chains):
    name, arguments, mode = scenario
    label = f"{name} {mode} {rate} Hz{' chains' if chains else ''}"
    try:
        truth = profile.record([os.path.join(workloads, name)] + arguments, mode, rate,
                               chains)
        if truth is None:
            checker.skip(label, "the workload cannot run here")
            return
        checker.check(label, truth, profile, rate, mode != "pid")
    except (Failed, subprocess.TimeoutExpired) as error:
        checker.say(label, False, str(error))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--oprofile", help="the program under test")
    parser.add_argument("--perf", help="check the workloads with perf instead")
    parser.add_argument("--workloads", required=True, help="where they are built")
    parser.add_argument("--rates", default="997,1999")
    parser.add_argument("--only", help="workloads, separated by commas")
    options = parser.parse_args()

    checker = Checker()
    rates = [int(rate) for rate in options.rates.split(",")]
    plan = [(scenario, rate, chains) for scenario in SCENARIOS for rate in rates
            for chains in (False, True)]
    plan += [(scenario, rates[0], options.perf is None) for scenario in MORE_SCENARIOS]
    if options.only:
        plan = [row for row in plan if row[0][0] in options.only.split(",")]
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="truth-") as directory:
        profile = Perf(options.perf, directory) if options.perf else \
            Oprofile(os.path.abspath(options.oprofile), directory)
        try:
            for scenario, rate, chains in plan:
                if options.perf and chains:
                    continue
                run_scenario(checker, profile, os.path.abspath(options.workloads), scenario,
                             rate, chains)
        except CannotRecord as error:
            print(f"SKIPPED: recording is not possible here: {error}", file=sys.stderr)
            return SKIPPED
    print(f"1..{checker.number}")
    print(f"# {checker.good} checks good, {len(checker.bad)} bad, {len(checker.skipped)} "
          f"recordings skipped, {checker.repeated} repeated, {time.monotonic() - begin:.0f} s")
    for line in checker.bad:
        print(f"# not ok: {line}")
    return 1 if checker.bad else 0


if __name__ == "__main__":
    sys.exit(main())
