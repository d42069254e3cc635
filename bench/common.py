# SPDX-License-Identifier: GPL-2.0-or-later
"""Shared parts of the benchmarks: running and measuring a command, medians, a table.

Benchmarks print figures and ratios; they do not pass or fail."""
import os
import statistics
import subprocess
import tempfile
import time


class Done:
    """A command that has ended: its status, its output, and the time and memory of it and the
    processes it waited for."""

    def __init__(self, status, out, err, usage, wall_s):
        self.status = status
        self.out = out
        self.err = err
        self.cpu_s = usage.ru_utime + usage.ru_stime
        self.rss_mb = usage.ru_maxrss / 1024
        self.wall_s = wall_s


def run(argv, env=None, keep_output=True):
    """Write output to files, because reading a pipe would make this process part of the
    measurement."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begin = time.monotonic()
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stderr=err, env=env,
                                 stdout=out if keep_output else subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = 0 # a zombie: waited for below
        wall_s = time.monotonic() - begin
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode(errors="replace"))
    return Done(os.waitstatus_to_exitcode(status), *texts, usage, wall_s)


def median(values):
    return statistics.median(values) if values else float("nan")


def ratio(a, b):
    return f"{a / b:.2f}" if b else "-"


def table(title, head, rows):
    """Prints rows of texts and numbers below a header; each column is as wide as its contents."""
    lines = [head] + [[cell if isinstance(cell, str) else f"{cell:.3f}" for cell in row]
                      for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    print(f"\n{title}")
    for number, line in enumerate(lines):
        cells = [line[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(line[1:], widths[1:])]
        print("  " + "  ".join(cells).rstrip())
        if number == 0:
            print("  " + "-" * (sum(widths) + 2 * (len(widths) - 1)))
    print(flush=True)
