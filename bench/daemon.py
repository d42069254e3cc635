#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures oprofiled: its CPU time (including all threads and children), memory and disk usage
alongside a compile job, a loaded redis, or an idle machine; the slowdown of compiling while it
samples at 999 Hz; and the kernel's cost per sample.

The first seconds, in which it reads running processes and makes tables of their binaries, are
reported separately, because they occur once. The share over ten minutes includes them."""
import argparse
import glob
import os
import random
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

from common import median, run, table

TEN_MINUTES = 600
GOVERNOR_S = 25
COUNTED = 3 # number of compile runs that are summed up


def loads(name, seconds):
    """Returns the commands that produce the load."""
    here = os.path.dirname(os.path.abspath(__file__))
    if name == "compile":
        return [[os.path.join(here, "compile_job"), str(seconds), str(os.cpu_count())]]
    if name == "redis":
        return [["redis-server", "--port", "7391", "--save", "", "--daemonize", "no"],
                ["sh", "-c", "sleep 1; exec redis-benchmark -p 7391 -l -q"]]
    return []


def children(pid):
    """Returns the children of a process and their descendants, such as the helper that reads
    binaries."""
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as numbers:
                mine = list(map(int, numbers.read().split()))
        except FileNotFoundError: # a thread that has just ended
            continue
        for child in mine:
            found += [child, *children(child)]
    return found


def cpu_s(pid):
    """Sums all threads and children, including those that ended and were waited for."""
    total = 0
    for one in [pid, *children(pid)]:
        with open(f"/proc/{one}/stat", encoding="ascii") as stat:
            words = stat.read().rpartition(")")[2].split()
        total += time.clock_gettime(~one << 3 | 2)
        total += (int(words[13]) + int(words[14])) / os.sysconf("SC_CLK_TCK")
    return total


def samples(run_dir):
    with socket.socket(socket.AF_UNIX) as peer:
        peer.connect(os.path.join(run_dir, "control"))
        peer.sendall(b"status\n")
        with peer.makefile() as lines:
            for line in lines:
                if line.startswith("samples "):
                    return int(line.split()[1])
    return 0


def disk(session):
    return sum(os.path.getsize(path)
               for path in glob.glob(session + "/samples/current/segment-*"))


def measure(oprofile, options, name, directory):
    seconds = options.warm + options.seconds
    load = [subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             start_new_session=True) for words in loads(name, seconds + 20)]
    daemon = Daemon(oprofile, directory, ["--frequency", str(options.rate), "--max-overhead",
                                          "90%"])
    pid = daemon.process.pid
    try:
        time.sleep(options.warm - Daemon.BEGINS_S)
        first, first_n, first_bytes = cpu_s(pid), samples(daemon.run_dir), disk(daemon.session)
        time.sleep(options.seconds)
        last, last_n, last_bytes = cpu_s(pid), samples(daemon.run_dir), disk(daemon.session)
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            kb = [int(line.split()[1]) for line in status if line.startswith("VmRSS")][0]
    finally:
        daemon.end()
        for process in load:
            os.killpg(process.pid, 9)
            process.wait()
    rate = (last - first) / options.seconds
    ten = (first + rate * (TEN_MINUTES - options.warm)) / TEN_MINUTES
    return [name, f"{(last_n - first_n) / options.seconds:.0f}", f"{1000 * first:.0f}",
            f"{100 * rate:.3f}", f"{100 * ten:.3f}",
            f"{1e6 * (last - first) / max(1, last_n - first_n):.0f}", f"{kb / 1024:.0f}",
            f"{(last_bytes - first_bytes) / options.seconds * 3600 / 1e6:.1f}"]


def ask(run_dir, request):
    with socket.socket(socket.AF_UNIX) as peer:
        peer.connect(os.path.join(run_dir, "control"))
        peer.sendall(request.encode() + b"\n")
        peer.recv(4096)


def compile_once(here):
    """Returns wall time and CPU time in seconds."""
    sources = os.path.join(here, "..", "src")
    done = run(["sh", "-c", f"ls {sources}/aggregate/*.c | xargs -P {os.cpu_count()} -n 1 "
                f"gcc -std=gnu17 -D_GNU_SOURCE -O2 -I{sources} -o /dev/null -c"],
               keep_output=False)
    if done.status:
        sys.exit(done.err)
    return done.wall_s, done.cpu_s


class PerfRecord:
    """Measures perf without call chains: the cost of timer interrupts for any profiler."""

    def __init__(self, rate):
        self.words = ["perf", "record", "-q", "-a", "-e", "cpu-clock", "-F", str(rate), "-o",
                      "/dev/null"]
        self.process = None

    def start(self):
        self.process = subprocess.Popen(self.words, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()


class Daemon:
    """Measures a daemon that samples from its start, and again between a start and a stop request."""
    BEGINS_S = 2

    def __init__(self, oprofile, directory, words):
        self.session = os.path.join(directory, "session")
        self.run_dir = os.path.join(directory, "run")
        for path in (self.session, self.run_dir):
            shutil.rmtree(path, ignore_errors=True)
            os.makedirs(path)
        self.process = subprocess.Popen(
            [oprofile, "daemon", "--foreground", "--session-dir", self.session] + words,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=dict(os.environ, OPROFILE_RUN_DIR=self.run_dir))
        time.sleep(self.BEGINS_S)

    def start(self):
        ask(self.run_dir, "start")

    def stop(self):
        ask(self.run_dir, "stop")

    def end(self):
        self.process.terminate()
        self.process.wait()


def compile_under(sampler, here):
    """Measures compiling while a daemon already runs. Reading the compiler and making its tables
    occurs once and is reported separately, so the first run does not count."""
    if sampler:
        sampler.start()
    compile_once(here)
    taken = [compile_once(here) for _ in range(COUNTED)]
    if sampler:
        sampler.stop()
    return [sum(times) for times in zip(*taken)]


def compare(samplers, rounds, here):
    """Compiles several times with each sampler and without one, in random order."""
    runs = {name: [] for name in samplers}
    for _ in range(rounds):
        for name in random.sample(list(samplers), len(samplers)):
            runs[name].append(compile_under(samplers[name], here))
    return runs


def slowdown_rows(runs):
    rows = []
    for name in runs:
        for i, what in enumerate(("time", "CPU time of the compilers")):
            shares = [100 * (with_[i] / without[i] - 1)
                      for with_, without in zip(runs[name], runs["none"])]
            error = statistics.stdev(shares) / len(shares) ** 0.5 if len(shares) > 1 else 0
            if name != "none":
                rows.append([f"{name}: {what}", median(shares), statistics.mean(shares), error])
    return rows


def slowdown(oprofile, options, directory):
    """Compiles without sampling, at that rate, at the rate that the governor allows after two
    checks, and under perf, which stores no stacks."""
    here = os.path.dirname(os.path.abspath(__file__))
    rate = ["--frequency", str(options.paired_rate)]
    free = Daemon(oprofile, os.path.join(directory, "free"), rate + ["--max-overhead", "none"])
    free.stop()
    bounded = Daemon(oprofile, os.path.join(directory, "bounded"), rate)
    samplers = {"none": None, "oprofiled, no bound": free, "oprofiled": bounded}
    if shutil.which("perf"):
        samplers["perf record, no stacks"] = PerfRecord(options.paired_rate)
    try:
        begin = time.monotonic()
        while time.monotonic() < begin + GOVERNOR_S:
            compile_once(here)
        bounded.stop()
        runs = compare(samplers, options.pairs, here)
    finally:
        free.end()
        bounded.end()
    table(f"Compiling with sampling at {options.paired_rate} Hz against without, "
          f"{options.pairs} rounds", ["slowdown", "median [%]", "mean [%]", "+- [%]"],
          slowdown_rows(runs))


def kernel_part(build):
    done = run([os.path.join(build, "bench", "sample_cost")])
    table("The kernel's work for a sample beside the timer's interrupt", ["", "[ns]"],
          [line.rsplit(" ", 1) for line in done.out.splitlines()])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="the build folder")
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--warm", type=int, default=30)
    parser.add_argument("--rate", type=int, default=99)
    parser.add_argument("--loads", default="compile,redis,idle")
    parser.add_argument("--pairs", type=int, default=10, help="rounds of paired runs; 0: none")
    parser.add_argument("--paired-rate", type=int, default=999)
    parser.add_argument("--quick", action="store_true", help="30 seconds of compiling")
    options = parser.parse_args()
    if options.quick:
        options.seconds, options.warm, options.loads = 30, 10, "compile"
        options.pairs = 2
    oprofile = os.path.join(os.path.abspath(options.build), "src", "tools", "oprofile")
    with tempfile.TemporaryDirectory(prefix="bench-") as directory:
        rows = [measure(oprofile, options, name, directory)
                for name in options.loads.split(",")
                if name != "redis" or shutil.which("redis-benchmark")]
        table(f"oprofiled at {options.rate} Hz with whole stacks, {options.seconds} s",
              ["", "samples/s", f"first {options.warm} s [ms]", "then [% of a CPU]",
               "ten minutes [%]", "[us/sample]", "memory [MB]", "disk, unmerged [MB/h]"], rows)
        if options.pairs:
            slowdown(oprofile, options, directory)
    kernel_part(os.path.abspath(options.build))
    return 0


if __name__ == "__main__":
    sys.exit(main())
