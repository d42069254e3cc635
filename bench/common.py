# SPDX-License-Identifier: GPL-2.0-or-later
"""Shared parts of the benchmarks: run a command and measure it, medians, a table.

Nothing here judges: a benchmark prints figures and ratios, a reader draws conclusions."""
import os
import statistics
import subprocess
import tempfile
import time


class Done:
    """A command that ended: its status, output, and what it and all that it waited for
    took."""

    def __init__(self, status, out, err, usage, wall_s):
        self.status = status
        self.out = out
        self.err = err
        self.cpu_s = usage.ru_utime + usage.ru_stime
        self.rss_mb = usage.ru_maxrss / 1024
        self.wall_s = wall_s


def run(argv, env=None, keep_output=True):
    """Output goes through files: a pipe would make us part of the measurement."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begin = time.monotonic()
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stderr=err, env=env,
                                 stdout=out if keep_output else subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = 0 # it is waited for
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
    """Prints rows of texts and numbers under a head, each column as wide as it needs."""
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
