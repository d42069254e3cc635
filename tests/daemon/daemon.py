#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of oprofiled that take longer than the usual ones: it is killed repeatedly, queried by
many clients, with many processes and binaries, over many rotations.  Needs root.

These tests do not judge speed: slow steps of a busy machine are reported, not rejected.
Exit status: 0 success, 1 failure, 77 the system cannot be sampled here."""
import argparse
import csv
import glob
import io
import os
import random
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

SKIPPED = 77


class CannotRecord(Exception):
    pass


class Daemon:
    """oprofiled with a separate session and socket, for the duration of the test."""

    def __init__(self, options, directory):
        self.oprofile = os.path.join(os.path.abspath(options.build), "src", "tools",
                                     "oprofile")
        self.workloads = os.path.join(os.path.abspath(options.build), "tests", "workloads")
        self.session = os.path.join(directory, "session")
        self.run_dir = os.path.join(directory, "run")
        self.log = os.path.join(directory, "log")
        self.process = None
        os.mkdir(self.run_dir)

    def start(self, *words, environment=None):
        """Starts the daemon and returns when it samples."""
        os.makedirs(self.session, exist_ok=True)
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [self.oprofile, "daemon", "--foreground", "--session-dir", self.session,
                 *words], stdout=subprocess.DEVNULL, stderr=log,
                env=dict(os.environ, OPROFILE_RUN_DIR=self.run_dir, **(environment or {})))
        while "runs as process" not in self.said():
            if self.process.poll() is not None:
                if "perf_event" in self.said():
                    raise CannotRecord(self.said())
                raise RuntimeError("oprofiled ended: " + self.said())
            time.sleep(0.02)

    def said(self):
        with open(self.log, encoding="utf-8") as log:
            return log.read()

    def ask(self, request):
        """Sends a request and returns the fields of the reply."""
        with socket.socket(socket.AF_UNIX) as peer:
            peer.settimeout(120)
            peer.connect(os.path.join(self.run_dir, "control"))
            peer.sendall(request.encode() + b"\n")
            with peer.makefile(encoding="utf-8") as lines:
                fields = {}
                for line in lines:
                    key, _, value = line.rstrip("\n").partition(" ")
                    if key == "ok":
                        return fields
                    if key == "error":
                        break
                    fields[key] = value
        raise RuntimeError(f"{request}: {line.strip()}")

    def samples(self):
        return int(self.ask("status")["samples"])

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def end(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait()

    def report(self, *words):
        """Returns the rows of a report, and its messages."""
        done = subprocess.run([self.oprofile, "report", "--session-dir", self.session, "--csv",
                               *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, check=False)
        return list(csv.DictReader(io.StringIO(done.stdout))), done.stderr

    def reported(self):
        rows, said = self.report("--by", "event")
        return sum(int(row["samples"]) for row in rows), said

    def segments(self):
        return glob.glob(os.path.join(self.session, "samples", "current", "segment-*"))

    def memory_kb(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1))

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


def is_damaged(said):
    """Returns the messages without those that are normal after a SIGKILL: an unfinished segment
    and a partial block that is cut off."""
    said = re.sub(r"\d+ of \d+ segments not finished|\d+ bytes cut off|\d+ samples read", "",
                  said)
    return re.search(r"[1-9]", said) is not None


def work(daemon, name, *words):
    return subprocess.Popen([os.path.join(daemon.workloads, name), *words],
                            stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)


def test_kill(daemon, options):
    """Checks that everything that was reported three seconds before a SIGKILL is in the recording
    exactly once."""
    load = work(daemon, "ratio", "36000000")
    chance = random.Random(options.seed)
    bad = complete = told_in_all = 0
    try:
        for turn in range(options.kills):
            daemon.start("--frequency", "199", "--max-overhead", "90%", "--rotate", "1s")
            looks = [(time.monotonic(), 0)]
            for _ in range(chance.randrange(30)):
                time.sleep(0.1)
                looks.append((time.monotonic(), daemon.samples()))
            daemon.kill()
            killed = time.monotonic()
            told = max(samples for when, samples in looks if when <= killed - 3 or not samples)
            before, (complete, said) = complete, daemon.reported()
            told_in_all += looks[-1][1]
            if complete < before + told or is_damaged(said):
                bad += 1
                print(f"turn {turn}: {before} before, {told} told, {complete} now: {said}")
    finally:
        load.kill()
        load.wait()
    done = subprocess.run([daemon.oprofile, "script", "--session-dir", daemon.session,
                           "--fields", "time,cpu"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False)
    lines = done.stdout.splitlines()
    twice = len(lines) - len(set(lines))
    print(f"kill: {options.kills} times, {complete} samples of {told_in_all} told, "
          f"{len(lines)} listed, {twice} twice")
    return bad == 0 and twice == 0 and len(lines) == complete


def test_readers(daemon, options):
    """24 clients make reports continuously, while the daemon answers and loses no samples."""
    daemon.start("--frequency", "499", "--callgraph", "fp", "--max-overhead", "90%",
                 "--rotate", "1s")
    load = work(daemon, "ratio", "36000000")
    until = time.monotonic() + options.seconds
    bad, counts, slowest = [], [], 0.0

    def read():
        last = 0
        while time.monotonic() < until:
            rows, said = daemon.report("--by", "event", "--since", "10m")
            seen = sum(int(row["samples"]) for row in rows)
            # At the beginning "no samples" is not an error.
            if seen < last or (last and said):
                bad.append(f"{last} samples, then {seen}: {said.strip()}")
            last = seen
            counts.append(seen)

    readers = [threading.Thread(target=read) for _ in range(24)]
    for reader in readers:
        reader.start()
    while time.monotonic() < until:
        begin = time.monotonic()
        daemon.ask("status")
        slowest = max(slowest, time.monotonic() - begin)
        time.sleep(0.1)
    for reader in readers:
        reader.join()
    load.kill()
    load.wait()
    daemon.ask("stop")
    status = daemon.ask("status")
    complete, _ = daemon.reported()
    daemon.end()
    print(f"readers: {len(counts)} reports of up to {max(counts)} samples, the slowest status "
          f"{slowest:.2f} s, {status['samples']} samples told, {complete} there, "
          f"{status['lost']} lost")
    print("\n".join(bad[:5]), end="\n" if bad else "")
    return not bad and complete == int(status["samples"]) and not int(status["lost"])


def test_many(daemon, options):
    """Records 2000 running processes, with samples in 500 binaries."""
    folder = os.path.join(os.path.dirname(daemon.session), "programs")
    os.mkdir(folder)
    programs = [os.path.join(folder, f"program-{i:03}") for i in range(options.images)]
    for path in programs:
        shutil.copy(os.path.join(daemon.workloads, "short_worker"), path)
    with subprocess.Popen([os.path.join(daemon.workloads, "sleepers"),
                           str(options.processes)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as sleepers:
        ready = sleepers.stdout.readline().strip()
        daemon.start("--max-overhead", "90%")
        # Each works for about 20 ms on a fast machine; the fourth argument is unused.
        for _ in range(options.rounds):
            for path in programs:
                subprocess.run([path, "0", "16000000", "1", "0"], check=False,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        kb = daemon.memory_kb()
        daemon.ask("stop")
        rows, _ = daemon.report("--by", "comm,app")
        sleepers.stdin.close()
    daemon.end()
    mine = [row for row in rows if row["comm"].startswith("program-")]
    all_samples = sum(int(row["samples"]) for row in mine)
    right = sum(int(row["samples"]) for row in mine
                if os.path.basename(row["app"]) == row["comm"])
    print(f"many: {ready}, {options.processes} processes, {len(mine)} programs hit, "
          f"{right} of {all_samples} samples are of the right one, {kb / 1024:.0f} MB")
    return kb <= 128 * 1024 and right >= 0.99 * all_samples


def watch(daemon, seconds):
    """Polls the daemon's status twice a second."""
    looks = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(0.5)
        early, status = time.time(), daemon.ask("status")
        looks.append({"early": early, "late": time.time(), "samples": int(status["samples"]),
                      "oldest": int(status.get("oldest", 0)), "kb": daemon.memory_kb(),
                      "descriptors": daemon.descriptors(), "segments": len(daemon.segments())})
    return looks


def is_steady(looks):
    """Checks that neither memory nor descriptors grow, and prints the numbers."""
    half = len(looks) // 2
    first, second = looks[:half], looks[half:]

    def most(key, part):
        return max(look[key] for look in part)

    def median(key, part):
        return statistics.median(look[key] for look in part)

    print(f"  memory up to {most('kb', first) // 1024} and {most('kb', second) // 1024} MB, "
          f"descriptors {most('descriptors', first)} and {most('descriptors', second)} (mostly "
          f"{median('descriptors', first):.0f} and {median('descriptors', second):.0f}), "
          f"segments {most('segments', first)} and {most('segments', second)}, "
          f"{looks[-1]['segments']} at the end")
    # While a recording follows another, both have open descriptors; on a busy machine for a
    # while.
    return (median("descriptors", second) <= median("descriptors", first) + 8 and
            most("descriptors", looks) <= 128 and most("kb", looks) <= 128 * 1024 and
            # Merges use some memory whenever they happen.
            median("kb", second) <= 1.5 * median("kb", first))


DAY_S = 6 * 24 * 0.714285714 # of oprofile-week (week_times.c)


def test_week(daemon, options):
    """Merging the segments of minutes, hours and days loses no samples. With a retention of two
    minutes, no less is kept, and not much more. Over as many rotations as a week has, neither
    memory nor descriptors grow."""
    daemon.oprofile = os.path.join(os.path.abspath(options.build), "tests", "daemon",
                                   "oprofile-week")
    # Segments of ten minutes, the default.
    words = ("--rotate", "714ms", "--max-overhead", "90%", "--callgraph", "fp", "--retain")
    kept, slack = 120, 6 # seconds; for the intervals of rotations, of our polls and of the daemon's cleanup
    begin = time.time()
    load = work(daemon, "ratio", "36000000")
    try:
        daemon.start(*words, "30d")
        looks = watch(daemon, 30 * options.minutes)
        daemon.ask("stop")
        told = daemon.samples()
        complete, said = daemon.reported()
        daemon.end()
        print(f"week: {told} samples told, {complete} there of "
              f"{(time.time() - looks[-1]['oldest']) / DAY_S:.1f} days {said.strip()}")
        # The segments of past days, of this day's hours, the unmerged ones, and those that were
        # just merged.
        good = is_steady(looks) and told == complete and looks[-1]["segments"] <= 7 + 24 + 20

        daemon.start(*words, f"{kept // 60}m")
        bounded = watch(daemon, 30 * options.minutes)
        for look in bounded:
            look["samples"] += told
        daemon.ask("stop")
        told += daemon.samples()
        complete, said = daemon.reported()
        daemon.end()
    finally:
        load.kill()
        load.wait()
    ages = [(look["late"] - look["oldest"], look["early"] - look["oldest"]) for look in bounded
            if look["early"] > begin + kept + slack]
    oldest = bounded[-1]["oldest"]
    looks += bounded
    least = told - min(look["samples"] for look in looks if look["late"] >= oldest + slack)
    most = told - max((look["samples"] for look in looks if look["early"] + slack <= oldest),
                      default=0)
    youngest = min((late for late, _ in ages), default=kept)
    eldest = max((early for _, early in ages), default=kept)
    print(f"what is kept for {kept / DAY_S:.1f} days: {complete} of {told} samples are there, "
          f"{least} to {most} were to be, {youngest / DAY_S:.1f} to {eldest / DAY_S:.1f} days old "
          f"{said.strip()}")
    return (good and is_steady(bounded) and least <= complete <= most and
            # Days are removed as a whole.
            kept - slack <= youngest and eldest <= kept + DAY_S + slack)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="the build folder")
    parser.add_argument("--only", default="kill,readers,many,week", help="which of them")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=30, help="of reading")
    parser.add_argument("--processes", type=int, default=2000)
    parser.add_argument("--images", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=4, help="of all programs")
    parser.add_argument("--minutes", type=float, default=12, help="of the two weeks")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    bad = []
    for name in options.only.split(","):
        with tempfile.TemporaryDirectory(prefix="daemon-") as directory:
            daemon = Daemon(options, directory)
            try:
                good = globals()["test_" + name](daemon, options)
            except CannotRecord as error:
                print(f"the system cannot be sampled here: {error}", file=sys.stderr)
                return SKIPPED
            finally:
                daemon.end()
        print(f"{'ok' if good else 'NOT OK'}: {name}", flush=True)
        if not good:
            bad.append(name)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
