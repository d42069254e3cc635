#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""faults.py OPROFILE: every command while one of its system calls, or one allocation, fails.

For each command and each kind of call it counts the calls, then runs the command once per n, with the n-th
call failing (fault.c).  A run passes if its output and status are those without the fault, or if it printed a
further message on stderr and either failed or completed with a loss that the message states.  Everything else
is a finding:

    crash    a signal ended the command
    hang     it did not end
    silent   other output or status without a message, or a failure without one
    partial  an output file is left that a later command accepts, although it is not complete
    lost     what was there before is gone, and the new is not in its place

Prints TAP, one case per command.  `--only COMMAND:KIND:ERRNO:N` repeats one fault and prints what happened."""
import argparse
import concurrent.futures
import errno
import filecmp
import mmap
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

CANNOT_INTERCEPT = 99  # fault.c
SECONDS = 30  # after which a command hangs
INCOMPLETE = 3  # exit status: there is a result, and a message says what it lacks

# The errors that POSIX allows for each kind, or that Linux's file systems return.
KINDS = {
    "open": ("EIO", "EMFILE", "ENOSPC", "EINTR"),
    "openat": ("EIO", "EMFILE", "ENOSPC", "EINTR"),
    "read": ("EIO", "EINTR"),
    "pread": ("EIO", "EINTR"),
    "mmap": ("EIO", "ENOMEM", "EMFILE"),
    "fstat": ("EIO", "ENOMEM"),
    "getdents": ("EIO", "ENOMEM"),
    "rename": ("EIO", "ENOSPC"),
    "fsync": ("EIO", "ENOSPC", "EINTR"),
    "close": ("EIO", "ENOSPC", "EINTR"),
    "write": ("EIO", "ENOSPC", "EINTR"),
    "malloc": ("ENOMEM",),
}
# In some runs all later calls of these kinds also fail: a full disk, no descriptors, no memory.
PERSISTENT = ("open", "openat", "write", "malloc")


class Failed(Exception):
    pass


class State:
    """The struct fault_state of fault.c, in a file that the command also maps."""
    FIELDS = ("armed", "n", "error", "keeps", "traps", "calls", "failed")

    def __init__(self, path):
        self.path = path
        with open(path, "wb") as out:
            out.write(bytes(8 * len(self.FIELDS)))
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 8 * len(self.FIELDS))

    def arm(self, n, error, keeps=False, traps=False):
        self.map[:] = struct.pack("=7Q", True, n, error, keeps, traps, 0, 0)

    def get(self, field):
        return struct.unpack("=7Q", self.map[:])[self.FIELDS.index(field)]


class Run:
    """The result of a run of a command: status, stdout, stderr, and its directory."""

    def __init__(self, directory, status, out, err):
        self.directory = directory
        self.status = status
        self.out = out
        self.err = err
        self.lines = set(err.replace(directory.encode(), b"DIR").splitlines())

    def path(self, name):
        return os.path.join(self.directory, name)


def same_tree(one, other):
    """True if two files, or all files of two directories, have the same bytes."""
    if not os.path.isdir(one):
        return os.path.isfile(one) and os.path.isfile(other) and filecmp.cmp(one, other, False)
    if not os.path.isdir(other):
        return False
    names = sorted(os.listdir(one))
    return names == sorted(os.listdir(other)) and all(
        same_tree(os.path.join(one, name), os.path.join(other, name)) for name in names)


class Command:
    """One command line.  `output`: the file or directory that it makes in its working directory."""
    output = None
    suite = None

    def __init__(self, name, *words, output=None, weight=1):
        self.name = name
        self.words = words
        self.output = output
        self.weight = weight

    def prepare(self, suite, directory):
        """Fills the directory that the command runs in."""
        self.suite = suite

    def is_same(self, run, reference):
        return run.out == reference.out and (not self.output or same_tree(
            run.path(self.output), reference.path(self.output)))

    def after(self, suite, run, reference):
        """Checks the remaining files. Returns a pair of finding and explanation, or None."""
        if os.path.isdir(run.path("home/.cache")):
            again = suite.run(self, run.directory)
            if (again.status, again.out) != (reference.status, reference.out):
                return "partial", "the next run, with this one's cache, differs"
        return None


class Export(Command):
    """A command that replaces a file. After a failure, the old file must be there."""

    def prepare(self, suite, directory):
        super().prepare(suite, directory)
        with open(os.path.join(directory, self.output), "w", encoding="ascii") as out:
            out.write("old\n")

    def after(self, suite, run, reference):
        path = run.path(self.output)
        if not os.path.exists(path):
            return "lost", "the old file is gone"
        with open(path, "rb") as file:
            is_old = file.read() == b"old\n"
        if not is_old and not same_tree(path, reference.path(self.output)):
            return None if run.status in (0, INCOMPLETE) else (
                "partial", "the file is neither the old nor the new one")
        return None


class Archive(Command):
    """A command that makes an archive. An archive that a later report accepts must be complete."""

    def is_same(self, run, reference):
        """Compares reports: with another number of compression threads, an archive has different
        bytes."""
        if super().is_same(run, reference):
            return True
        return os.path.isfile(run.path(self.output)) and self.facts(run) == self.facts(reference)

    def facts(self, run):
        """Returns whether a file is complete, and its report."""
        path = run.path(self.output)
        return [(done.returncode, done.stdout) for done in (
            self.suite.plain("oparchive", "--verify", "archive:" + path),
            self.suite.plain("opreport", "--by", "image,symbol,line", "--csv",
                             "archive:" + path))]

    def after(self, suite, run, reference):
        if run.status in (0, INCOMPLETE) or not os.path.exists(run.path(self.output)):
            return None
        if same_tree(run.path(self.output), reference.path(self.output)):
            return None
        report = suite.plain("opreport", "--symbols", "archive:" + run.path(self.output))
        if report.returncode:
            return None
        return "partial", "an incomplete archive is read with status 0"


class Directory(Command):
    """A command that makes a directory of files, each of which must be complete or missing."""

    def after(self, suite, run, reference):
        if run.status in (0, INCOMPLETE) or not os.path.isdir(run.path(self.output)):
            return None
        whole = reference.path(self.output)
        for at, _, names in os.walk(run.path(self.output)):
            for name in names:
                path = os.path.join(at, name)
                other = os.path.join(whole, os.path.relpath(path, run.path(self.output)))
                if os.path.exists(other) and not filecmp.cmp(path, other, False):
                    return "partial", os.path.relpath(path, run.directory)
        return None


class Import(Command):
    """A command that makes a session the current one; the old one becomes the previous one."""

    def prepare(self, suite, directory):
        super().prepare(suite, directory)
        shutil.copytree(suite.old_session, os.path.join(directory, "oprofile_data"))

    def is_same(self, run, reference):
        return run.out == reference.out

    def after(self, suite, run, reference):
        def symbols(session, name):
            done = suite.plain("opreport", "--symbols", "--session-dir", session,
                               "session:" + name)
            return done.stdout if not done.returncode else None
        data = run.path("oprofile_data")
        old = symbols(suite.old_session, "current")
        new = symbols(reference.path("oprofile_data"), "current")
        current = symbols(data, "current")
        if run.status == 0 and current == new and symbols(data, "previous") == old:
            return None
        if current == new and symbols(data, "previous") == old:
            return None
        if current == old:
            return None
        if old not in (current, symbols(data, "previous")):
            return "lost", "the old session is gone"
        if current is not None and current != new:
            return None if run.status in (0, INCOMPLETE) else (
                "partial", "the current session is incomplete")
        return "lost", "there is no current session"


class Record(Command):
    """A command that records a program. Recordings differ, but each must be readable."""

    def is_same(self, run, reference):
        return True

    def after(self, suite, run, reference):
        report = suite.plain("opreport", "--symbols", "--session-dir",
                             run.path("oprofile_data"))
        news = run.lines - reference.lines
        if report.returncode == 0 and b"work_" in report.stdout:
            return None
        if run.status == 0 or not any(b"operf: " in line for line in news):
            return "silent", "the session cannot be read: " + report.stderr.decode()
        return None


class Daemon:
    """oprofiled, with a separate session directory; its calls of a given kind can fail."""

    def __init__(self, suite, kind):
        self.suite = suite
        self.directory = tempfile.mkdtemp(prefix="faults-daemon-")  # a socket's path is short
        self.session = os.path.join(self.directory, "session")
        self.log = os.path.join(self.directory, "log")
        self.state = State(os.path.join(self.directory, "state"))
        os.mkdir(self.session)
        self.environment = dict(suite.environment_of(self.directory),
                                OPROFILE_RUN_DIR=self.directory)
        preload = dict(LD_PRELOAD=suite.shim, FAULT_CALL=kind, FAULT_STATE=self.state.path)
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [os.path.join(suite.links, "oprofiled"), "--foreground", "--session-dir",
                 self.session, "--frequency", "499", "--max-overhead", "100%"], cwd=self.directory, stdout=log,
                stderr=log, stdin=subprocess.DEVNULL, env={**self.environment, **preload},
                start_new_session=True)
        # An idle machine produces no samples.
        self.load = subprocess.Popen([os.path.join(suite.workloads, "ratio"), "600000"],
                                     stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        for _ in range(SECONDS * 50):
            if b"runs as process" in self.said() or self.process.poll() is not None:
                break
            time.sleep(0.02)
        if self.process.poll() is not None:
            said = self.said()
            self.end()
            raise Failed("oprofiled: " + said.decode())

    def said(self):
        with open(self.log, "rb") as log:
            return log.read()

    def command(self, name, *words):
        return subprocess.run([os.path.join(self.suite.links, name), *words],
                              cwd=self.directory, env=self.environment, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)

    def save(self, name):
        """Saves the session. Returns the status of the request, all messages, and the report of
        the saved session or None."""
        before = len(self.said())
        time.sleep(0.05)  # samples
        done = self.command("opcontrol", "--save=" + name)
        news = [line for line in self.said()[before:].splitlines()
                if b": sampling " not in line and b"was saved as" not in line]
        return done.returncode, done.stderr + b"\n".join(news), self.report(name)

    def records_again(self, name):
        """True if a later session has samples: after a failure the daemon waits for some
        seconds."""
        for i in range(SECONDS * 2):
            if self.process.poll() is not None:
                return False
            status, _, report = self.save(f"{name}-{i}")
            if status == 0 and report[0] == 0:
                return True
            time.sleep(0.5)
        return False

    def report(self, name):
        done = self.command("opreport", "--session-dir", self.session, "session:" + name)
        return (done.returncode, done.stdout, done.stderr)

    def end(self):
        self.load.kill()
        self.load.wait()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
        shutil.rmtree(self.directory, ignore_errors=True)


class Save:
    """oprofiled saves its session while one of its calls fails."""
    name = "save"

    def judge(self, daemon, name):
        """Saves a session. Returns the finding, or None."""
        try:
            status, messages, report = daemon.save(name)
        except subprocess.TimeoutExpired:
            return "hang", "opcontrol does not end"
        if daemon.process.poll() is not None:
            return "crash", f"oprofiled ended: {daemon.said()[-300:].decode()}"
        is_whole = report[0] == 0 and report[1]
        if status == 0 and not is_whole and not messages:
            return "silent", "saved, but not readable: " + report[2].decode()
        if status and not messages:
            return "silent", f"status {status} without a message"
        return None

    def test_kind(self, suite, kind, most):
        nr = 0
        findings = []
        daemon = Daemon(suite, kind)
        try:
            daemon.state.arm(0, 0)
            daemon.save("count")
            count = daemon.state.get("calls")
            for error in KINDS[kind]:
                for n in spread(count, most * 4 if kind == "malloc" else most):
                    daemon.state.arm(n, getattr(errno, error))
                    finding = self.judge(daemon, f"save-{error}-{n}")
                    was_reached = daemon.state.get("failed") > 0
                    daemon.state.arm(0, 0)
                    nr += was_reached
                    if finding is None and not daemon.records_again(f"after-{error}-{n}"):
                        finding = "lost", "the daemon does not record again"
                    if finding:
                        findings.append((f"save:{kind}:{error}:{n}", *finding))
                    if daemon.process.poll() is not None:
                        daemon.end()
                        daemon = Daemon(suite, kind)
        finally:
            daemon.end()
        return nr, findings

    def test(self, suite, pool):
        kinds = [kind for kind in KINDS
                 if not suite.options.kind or kind in suite.options.kind]
        most = suite.options.most
        results = list(pool.map(lambda kind: self.test_kind(suite, kind, most), kinds))
        return sum(nr for nr, _ in results), [f for _, found in results for f in found]


class Program:
    """A program with samples, as described by readelf and nm."""

    def __init__(self, path):
        self.path = path
        notes = subprocess.run(["readelf", "-n", path], check=True, capture_output=True).stdout
        self.build_id = notes.decode().split("Build ID: ")[1].split()[0]
        self.symbols = {}
        for line in subprocess.run(["nm", path], check=True,
                                   capture_output=True).stdout.decode().splitlines():
            words = line.split()
            if len(words) == 3:
                self.symbols[words[2]] = int(words[0], 16)
        self.loads = [[int(word, 16) for word in line.split()[1:6]] for line in subprocess.run(
            ["readelf", "-lW", path], check=True, capture_output=True).stdout.decode().splitlines()
            if line.startswith("  LOAD ")]

    def offset(self, symbol, add):
        """Returns the file offset that is this many bytes after the start of a function."""
        at = self.symbols[symbol] + add
        return next(at - start + offset for offset, start, _, _, size in self.loads
                    if start <= at < start + size)


def zstd_raw(content):
    """Returns a zstd frame that does not compress: one block, at most 64 KiB."""
    header = struct.pack("<IBH", 0xfd2fb528, 0x60, len(content) - 256)
    return header + (len(content) << 3 | 1).to_bytes(3, "little") + content


def jitdump(pid, address, name):
    """Returns a jitdump with one function of 64 bytes."""
    code = bytes(64)
    name = name.encode() + b"\0"
    load = struct.pack("<IIQIIQQQQ", 0, 56 + len(name) + len(code), 2000000, pid, pid, address,
                       address, len(code), 1) + name + code
    return struct.pack("<IIIIIIQQ", 0x4a695444, 1, 40, 62, 0, pid, 1000000, 0) + load


class Suite:
    def __init__(self, options, directory):
        build = os.path.abspath(options.build)
        self.links = os.path.join(build, "links")
        self.shim = os.path.abspath(options.shim)
        self.writer = os.path.join(build, "tests", "cmd", "write_session")
        self.workloads = os.path.realpath(os.path.join(build, "tests", "workloads"))
        self.directory = directory
        self.options = options
        self.local = threading.local()
        self.lock = threading.Lock()
        self.nr_states = 0
        self.nr_runs = 0
        self.environment = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C.UTF-8",
            "TZ": "UTC", "COLUMNS": "80", "DEBUGINFOD_URLS": ""}
        self.make_inputs()

    def environment_of(self, directory):
        home = os.path.join(directory, "home")
        os.makedirs(home, exist_ok=True)
        return dict(self.environment, HOME=home)

    def plain(self, name, *words, directory=None):
        """Runs a command without a fault."""
        directory = directory or self.directory
        return subprocess.run([os.path.join(self.links, name), *words], cwd=directory,
                              env=self.environment_of(directory), stdin=subprocess.DEVNULL,
                              capture_output=True, check=False, timeout=120)

    def make(self, name, *words):
        done = self.plain(name, *words)
        if done.returncode:
            raise Failed(f"{name} {' '.join(words)}: {done.stderr.decode()}")

    def make_inputs(self):
        """Makes a recording with stacks, kernel and JIT code, the files that other commands make of
        it, and a second recording. They are equal in each run, so that the n-th call is the same
        one."""
        def path(name):
            return os.path.join(self.directory, name)
        self.session = path("session")
        self.old_session = path("old")
        self.perf_data = path("perf.data")
        self.archive = path("input.oparchive")
        ratio = Program(os.path.join(self.workloads, "ratio"))
        gone = Program(os.path.join(self.workloads, "code_region"))
        kernel = "".join(f"{0xffffffff81000000 + i * 0x1000:x} T {name}\n" for i, name in enumerate(
            ["_text", "vfs_read", "vfs_write"] + [f"function_{n}" for n in range(1000)]))
        files = {"kallsyms": zstd_raw(kernel.encode()),
                 "map": b"7f0000000000 100 jit_alpha\n7f0000000100 100 jit_beta\n",
                 "dump": jitdump(4712, 0x7f1000000000, "dumped")}
        for name, content in files.items():
            with open(path(name), "wb") as out:
                out.write(content)
        self.write_session(self.session, f"""
info|2000|CPU|{os.uname().nodename}||1000000|65|{os.uname().release}|boot|0
event|TIMER|timer|7|0|997|0
image|1|{ratio.path}|{ratio.build_id}
image|2|[kernel.kallsyms]||0|{0xffffffff81000000}|{0xffffffff82000000}
image|1|/nonexistent/gone|{gone.build_id}
image|6|//anon||4711|{0x7f0000000000}|{0x7f0000001000}
image|6|//anon||4712|{0x7f1000000000}|{0x7f1000001000}
thread|4711|4711|ratio|0|0|
thread|4712|4713|gone|2|0|
sample|0|0|0|2000000|1|0+{ratio.offset("work_a", 4)};0+{ratio.offset("main", 8)}|10
sample|0|0|1|2000000|1|0+{ratio.offset("work_b", 4)};0+{ratio.offset("main", 8)}|190
sample|0|0|0|3000000|1|1+{0x1010};0+{ratio.offset("work_b", 8)};0+{ratio.offset("main", 8)}|20
sample|0|0|0|4000000|1|1+{0x2010}|7
sample|1|0|0|4000000|1|2+{gone.offset("main", 8)}|30
sample|0|0|0|5000000|1|3+16;0+{ratio.offset("main", 8)}|11
sample|0|0|0|5000000|1|3+{0x110}|12
sample|1|0|0|5000000|1|4+{0x10}|13
totals|0|0|0|1000000
side|kallsyms.zst|{path("kallsyms")}
side|modules|/dev/null
side|images/{gone.build_id}|{gone.path}
side|jit/4711/perf-4711.map|{path("map")}
side|jit/4712/jit-4712.dump|{path("dump")}
""")
        self.write_session(self.old_session, f"""
info|2000|CPU|{os.uname().nodename}||1000000|65|{os.uname().release}|boot|0
event|TIMER|timer|7|0|997|0
image|1|{ratio.path}|{ratio.build_id}
thread|4711|4711|ratio|0|0|
sample|0|0|0|2000000|1|0+{ratio.offset("work_b", 4)}|100
""")
        self.make("oprofile", "export", "perf-data", "--session-dir", self.session, "-o",
                  self.perf_data)
        self.make("oparchive", "--session-dir", self.session, "--output", self.archive)

    def write_session(self, directory, description):
        segment = os.path.join(directory, "samples", "current", "segment-000001")
        os.makedirs(os.path.dirname(segment))
        done = subprocess.run([self.writer, segment], input=description.encode(), check=False,
                              capture_output=True)
        if done.returncode:
            raise Failed(done.stderr.decode())

    def commands(self):
        here = ("--session-dir", self.session)
        ratio = os.path.join(self.workloads, "ratio")
        return [
            Command("images", "opreport", *here, weight=2),
            Command("symbols", "opreport", "--symbols", *here, weight=2),
            Command("callgraph", "opreport", "--callgraph", "--debug-info", *here, weight=2),
            Command("quality", "opreport", "--quality", *here),
            Command("by", "opreport", "--by", "comm,image,symbol,line", "--csv", *here),
            Command("perf_data", "opreport", "--symbols", self.perf_data),
            Command("from_archive", "opreport", "--symbols", "archive:" + self.archive),
            Command("source", "opannotate", "--source", *here),
            Command("assembly", "opannotate", "--assembly", *here),
            Directory("pages", "opannotate", "--html", "out", *here, output="out"),
            Archive("archive", "oparchive", "--output", "out.oparchive", *here,
                    output="out.oparchive", weight=2),
            Archive("directory", "oparchive", "--output-directory", "out", *here,
                    output="out", weight=2),
            Import("import", "opimport", self.perf_data, weight=2),
            Export("export_perf_data", "oprofile", "export", "perf-data", *here, "-o", "out",
                   output="out"),
            Export("export_pprof", "oprofile", "export", "pprof", *here, "-o", "out",
                   output="out"),
            Export("export_flamegraph", "oprofile", "export", "flamegraph", *here, "-o", "out",
                   output="out"),
            Export("gprof", "opgprof", *here, "-o", "out", ratio, output="out"),
            Command("script", "oprofile", "script", *here),
            Command("info", "oprofile", "info", *here),
            Record("record", "operf", "--callgraph", ratio, "40"),
            Save(),
        ]

    def state(self):
        """Returns the fault state of this thread."""
        if not hasattr(self.local, "state"):
            with self.lock:
                self.nr_states += 1
                name = f"state-{self.nr_states}"
            self.local.state = State(os.path.join(self.directory, name))
        return self.local.state

    def new_directory(self, command):
        with self.lock:
            self.nr_runs += 1
            path = os.path.join(self.directory, f"run-{self.nr_runs}")
        os.mkdir(path)
        command.prepare(self, path)
        return path

    def run(self, command, directory, kind=None):
        environment = self.environment_of(directory)
        if kind:
            environment.update(LD_PRELOAD=self.shim, FAULT_CALL=kind,
                               FAULT_STATE=self.state().path)
        words = [os.path.join(self.links, command.words[0]), *command.words[1:]]
        if kind and self.options.backtrace:
            words = ["gdb", "-batch", "-ex", "set startup-with-shell off", "-ex", "set environment "
                     "LD_PRELOAD " + environment.pop("LD_PRELOAD"), "-ex", "run", "-ex",
                     "backtrace 16", "-ex", "continue", "-ex", "backtrace 12", "--args", *words]
        with subprocess.Popen(words, cwd=directory, env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, start_new_session=True) as process:
            try:
                out, err = process.communicate(timeout=SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                out, err = process.communicate()
                return Run(directory, None, out, err)
        if kind and process.returncode == CANNOT_INTERCEPT:
            raise Failed(err.decode())
        return Run(directory, process.returncode, out, err)

    def count(self, command, kind):
        """Returns how many calls of a kind the command makes."""
        directory = self.new_directory(command)
        self.state().arm(0, 0)
        self.run(command, directory, kind)
        shutil.rmtree(directory, ignore_errors=True)
        return self.state().get("calls")

    def judge(self, command, run, reference):
        """Returns a pair of finding and explanation, or None."""
        if run.status is None:
            return "hang", f"no end after {SECONDS} s"
        if run.status < 0 or run.status > 128 and run.status != reference.status:
            return "crash", f"status {run.status}"
        has_message = bool(run.lines - reference.lines)
        if run.status != reference.status:
            if not has_message:
                return "silent", f"status {run.status} without a message"
        elif not command.is_same(run, reference) and not has_message:
            return "silent", "other output"
        return command.after(self, run, reference)

    def inject(self, command, reference, fault):
        """Returns whether the fault was reached, and the finding or None."""
        kind, error, n, keeps = fault
        directory = self.new_directory(command)
        self.state().arm(n, getattr(errno, error), keeps, self.options.backtrace)
        run = self.run(command, directory, kind)
        self.state().map[:8] = bytes(8)
        was_reached = self.state().get("failed") > 0
        finding = self.judge(command, run, reference) if was_reached else None
        if self.options.only:
            print(f"status {run.status}, reached: {was_reached}")
            sys.stdout.write((run.out + run.err).decode(errors="replace"))
            print(f"in {directory}")
        else:
            shutil.rmtree(directory, ignore_errors=True)
        return was_reached, finding


def spread(count, most):
    """Returns at most this many numbers from 1 to count, at equal distances."""
    if count <= most:
        return list(range(1, count + 1))
    return sorted({1 + i * (count - 1) // (most - 1) for i in range(most)})


def faults_of(suite, command):
    """Yields all faults to try on a command."""
    most = suite.options.most * command.weight
    for kind, errors in KINDS.items():
        if suite.options.kind and kind not in suite.options.kind:
            continue
        count = suite.count(command, kind)
        for error in errors:
            for n in spread(count, most * 8 if kind == "malloc" else most):
                yield kind, error, n, False
            if kind in PERSISTENT and error != "EINTR":
                for n in spread(count, most):
                    yield kind, error, n, True


def fault_name(command, fault):
    kind, error, n, keeps = fault
    return f"{command.name}:{kind}:{error}:{n}{'+' if keeps else ''}"


def test(suite, command, pool):
    """Returns the number of faults and the findings."""
    if isinstance(command, Save):
        return command.test(suite, pool)
    reference = suite.run(command, suite.new_directory(command))
    again = suite.run(command, suite.new_directory(command))
    if reference.status != again.status or not command.is_same(reference, again):
        raise Failed(f"{command.name}: two runs differ")
    if reference.status:
        raise Failed(f"{command.name}: {reference.err.decode()}")
    faults = list(faults_of(suite, command))
    nr = 0
    findings = []
    for fault, (was_reached, finding) in zip(faults, pool.map(
            lambda fault: suite.inject(command, reference, fault), faults)):
        nr += was_reached
        if finding:
            findings.append((fault_name(command, fault), *finding))
    return nr, findings


def repeat(suite, only):
    name, kind, error, n = only.split(":")
    command = next(command for command in suite.commands() if command.name == name)
    reference = suite.run(command, suite.new_directory(command))
    fault = (kind, error, int(n.rstrip("+")), n.endswith("+"))
    print("finding:", suite.inject(command, reference, fault)[1])


def test_all(suite, options):
    commands = [command for command in suite.commands()
                if not options.command or command.name in options.command]
    total = 0
    counts = {}
    is_whole = True  # no command was skipped
    print(f"1..{len(commands)}")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for i, command in enumerate(commands, 1):
            try:
                nr, findings = test(suite, command, pool)
            except Failed as failed:
                if "perf_event" not in str(failed) and "seccomp" not in str(failed):
                    raise
                is_whole = False
                print(f"ok {i} {command.name} # SKIP {str(failed).splitlines()[0]}", flush=True)
                continue
            total += nr
            print(f"{'not ok' if findings else 'ok'} {i} {command.name}: {nr} faults, "
                  f"{len(findings)} findings", flush=True)
            for finding in findings:
                counts[finding[1]] = counts.get(finding[1], 0) + 1
                print("#   " + " ".join(finding).replace("\n", " "))
    print(f"# {total} faults; findings: {counts or 'none'}")
    if is_whole and total < options.least:
        print(f"Bail out! fewer than {options.least} faults were reached")
        return 1
    return 1 if counts else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", help="directory of the build")
    parser.add_argument("shim", help="fault.so")
    parser.add_argument("--most", type=int, default=100000,
                        help="faults per command, kind and error (default: all)")
    parser.add_argument("--least", type=int, default=0, help="fail with fewer faults")
    parser.add_argument("--command", action="append", help="only this command")
    parser.add_argument("--kind", action="append", help="only calls of this kind")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", metavar="COMMAND:KIND:ERRNO:N[+]", help="only this fault")
    parser.add_argument("--backtrace", action="store_true",
                        help="with --only: where, by gdb")
    options = parser.parse_args()
    directory = tempfile.mkdtemp(prefix="faults-")
    try:
        suite = Suite(options, directory)
        if options.only:
            repeat(suite, options.only)
            return 0
        return test_all(suite, options)
    except Failed as failed:
        print(f"not ok 1 {failed}")
        return 1
    finally:
        if not options.only:
            shutil.rmtree(directory, ignore_errors=True)


sys.exit(main())
