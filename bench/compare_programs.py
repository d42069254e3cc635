# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs of compare.py: how they are built, with a delay planted in a function, and run.

Each needs its unpacked source, for example from `apt-get source sqlite3 redis leveldb`. The kind
`base` has the function out of line; the kind `inlined` has it inlined into its callers."""
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import time

from common import run

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = ("base", "inlined")
NOINLINE = "__attribute__((noinline)) "
INLINE = "inline __attribute__((always_inline)) "


def checked(argv, **options):
    done = run(argv, **options)
    if done.status:
        sys.exit(f"{' '.join(argv)}: status {done.status}: {done.err}")
    return done


def environment(rounds):
    return dict(os.environ, PLANTED_ROUNDS=str(rounds))


def planted(path, begin, kinds):
    """Returns the text of a source file with the delay, by kind. `kinds` has the begin of the
    function by kind."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if text.count(begin) != 1:
        sys.exit(f"{path}: this version has no '{begin}'")
    first, last = (f'#include "{HERE}/planted.{suffix}"\n' for suffix in "hc")
    return {kind: first + text.replace(begin, new + "\n  planted_delay();") + last
            for kind, new in kinds.items()}


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


class Program:
    """A program that runs until it used an amount of CPU time."""
    trial_rounds = 400 # enough to measure how much slower they make the program

    def __init__(self, directory, source):
        self.directory = directory
        self.source = source

    def path(self, kind):
        return os.path.join(self.directory, kind)

    def is_planted(self, symbol):
        return re.match(self.function + r"\b", symbol) is not None

    def build(self):
        missing = [kind for kind in KINDS if not os.path.exists(self.path(kind))]
        if missing and not self.source:
            sys.exit("give --source DIR")
        if missing:
            self.compile(missing)

    def run(self, kind, rounds, ms, recorder=()):
        """Returns the number of iterations and their CPU time in milliseconds."""
        words = checked([*recorder, self.path(kind), str(ms)],
                        env=environment(rounds)).out.split()
        return float(words[-2]), float(words[-1])


class Sqlite(Program):
    function = "getCellInfo"
    begin = "static SQLITE_NOINLINE void getCellInfo(BtCursor *pCur){"

    def amalgamation(self):
        path = os.path.join(self.source, "sqlite3.c")
        if not os.path.exists(path):
            subprocess.run(["./configure"], cwd=self.source, check=True,
                           stdout=subprocess.DEVNULL)
            subprocess.run(["make", "sqlite3.c", "sqlite3.h"], cwd=self.source, check=True,
                           stdout=subprocess.DEVNULL)
        return path

    def compile(self, kinds):
        texts = planted(self.amalgamation(), self.begin, {
            "base": self.begin,
            "inlined": self.begin.replace("SQLITE_NOINLINE ", INLINE)})
        for kind in kinds:
            write(self.path(kind) + ".c", texts[kind])
            checked(["gcc", "-O2", "-g1", "-DSQLITE_THREADSAFE=0",
                     "-DSQLITE_OMIT_LOAD_EXTENSION", "-I", self.source,
                     os.path.join(HERE, "sqlite_work.c"), self.path(kind) + ".c", "-lm", "-o",
                     self.path(kind)])


class Leveldb(Program):
    function = r"leveldb::Block::Iter::ParseNextKey"
    begin = "  bool ParseNextKey() {"

    def objects(self):
        """Compiles all files but block.cc."""
        paths = [path for part in ("db", "table", "util", "helpers/memenv")
                 for path in glob.glob(os.path.join(self.source, part, "*.cc"))
                 if not path.endswith(("_test.cc", "_windows.cc", "testutil.cc", "leveldbutil.cc",
                                       "table/block.cc"))]
        paths.append(os.path.join(HERE, "leveldb_work.cc"))
        objects = [os.path.join(self.directory, os.path.basename(path) + ".o") for path in paths]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(self.compile_file, paths, objects))
        return objects

    def compile_file(self, path, to):
        checked(["g++", "-O2", "-g1", "-std=c++17", "-DLEVELDB_PLATFORM_POSIX=1",
                 "-DLEVELDB_HAS_PORT_CONFIG_H=0", "-I", self.source,
                 "-I", os.path.join(self.source, "include"), "-c", path, "-o", to])

    def compile(self, kinds):
        name = self.begin.strip()
        texts = planted(os.path.join(self.source, "table", "block.cc"), self.begin,
                        {"base": NOINLINE + name, "inlined": INLINE + name})
        objects = self.objects()
        for kind in kinds:
            path = self.path(kind) + "-block"
            write(path + ".cc", texts[kind])
            self.compile_file(path + ".cc", path + ".o")
            checked(["g++", *objects, path + ".o", "-lpthread", "-o", self.path(kind)])


class Redis(Program):
    """A server: its iterations are requests of redis-benchmark, as many as need the CPU time."""
    function = "lookupKey"
    begin = "robj *lookupKey(redisDb *db, robj *key, int flags) {"
    tests = ("set", "get", "incr", "hset", "sadd")
    first_requests = 100000
    trial_rounds = 4000
    per_ms = 0

    def tool(self, name):
        return os.path.join(self.directory, name)

    def compile(self, kinds):
        texts = planted(os.path.join(self.source, "src", "db.c"), self.begin,
                        {"base": NOINLINE + self.begin, "inlined": INLINE + self.begin})
        tree = os.path.join(self.directory, "tree")
        if not os.path.exists(tree):
            shutil.copytree(self.source, tree, symlinks=True)
        for kind in kinds:
            write(os.path.join(tree, "src", "db.c"), texts[kind])
            checked(["make", "-j", str(os.cpu_count()), "-C", os.path.join(tree, "src"),
                     "MALLOC=libc", "OPTIMIZATION=-O2", "DEBUG=-g1", "redis-server",
                     "redis-benchmark", "redis-cli"])
            for name in ("redis-benchmark", "redis-cli"):
                shutil.copy(os.path.join(tree, "src", name), self.tool(name))
            shutil.copy(os.path.join(tree, "src", "redis-server"), self.path(kind))

    def ask(self, socket, *words):
        return run([self.tool("redis-cli"), "-s", socket, *words])

    def serve(self, kind, rounds, requests, recorder=()):
        socket = os.path.join(self.directory, "socket")
        server = subprocess.Popen(
            [*recorder, self.path(kind), "--save", "", "--port", "0", "--unixsocket", socket],
            env=environment(rounds), stdout=subprocess.DEVNULL)
        while "PONG" not in self.ask(socket, "ping").out:
            if server.poll() is not None:
                sys.exit("redis-server ended")
            time.sleep(0.05)
        checked([self.tool("redis-benchmark"), "-s", socket, "-q", "-P", "50", "-r", "100000",
                 "-n", str(requests), "-t", ",".join(self.tests)])
        used = dict(line.split(":") for line in self.ask(socket, "info", "cpu").out.split()
                    if ":" in line)
        self.ask(socket, "shutdown", "nosave")
        if server.wait():
            sys.exit(f"the server ended with status {server.returncode}")
        return 1000 * (float(used["used_cpu_user"]) + float(used["used_cpu_sys"]))

    def run(self, kind, rounds, ms, recorder=()):
        if not self.per_ms:
            used = self.serve("base", 0, self.first_requests)
            self.per_ms = self.first_requests / used
        requests = int(self.per_ms * ms)
        return requests, self.serve(kind, rounds, requests, recorder)


PROGRAMS = {"sqlite": Sqlite, "redis": Redis, "leveldb": Leveldb}
