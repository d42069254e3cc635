# SPDX-License-Identifier: GPL-2.0-or-later
"""Real programs for exact.py, built from source packages of Debian.

`scripts/deps.sh exact-real` installs what they need in addition to `scripts/deps.sh exact`."""
import glob
import os
import re
import shutil
import subprocess

from builds import EVERYBODY, HERE, Subject, run, share

SOURCES = ("deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] "
           "http://deb.debian.org/debian bookworm main\n")
SQLITE = ["-w", "-DSQLITE_ENABLE_FTS5", "-DSQLITE_ENABLE_RTREE"]
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def apt(folder, *words):
    """Uses separate package lists: those of this machine might not have source packages."""
    state = os.path.join(folder, "apt")
    os.makedirs(os.path.join(state, "partial"), exist_ok=True)
    listed = os.path.join(state, "sources.list")
    with open(listed, "w", encoding="ascii") as out:
        out.write(SOURCES + SOURCES.replace("deb ", "deb-src ", 1))
    options = {"Dir::State::lists": state, "Dir::Etc::sourcelist": listed,
               "Dir::Etc::sourceparts": "/dev/null",
               "Dir::Cache::pkgcache": os.path.join(state, "pkgcache.bin"),
               "Dir::Cache::srcpkgcache": os.path.join(state, "srcpkgcache.bin")}
    run(["apt-get", "-q", *(f"-o{k}={v}" for k, v in options.items()), *words], cwd=folder,
        **QUIET)


def source(folder, package):
    """Returns the directory of the unpacked source package; fetches it if necessary."""
    def there():
        found = glob.glob(os.path.join(folder, package + "-[0-9]*", ""))
        return found[0] if found else None
    if not there():
        apt(folder, "update")
        apt(folder, "source", package)
    return there()


def fresh(source_folder, out):
    # A twin has the same paths.
    folder = out.removesuffix("-twin") + ".d"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source_folder, folder, symlinks=True)
    return folder


def build_redis(folder, out, compiler, flags):
    made = fresh(source(folder, "redis"), out)
    flags = " ".join(flags)
    run(["make", "-C", made + "/src", "-j2", "MALLOC=libc", f"CC={compiler}",
         f"OPTIMIZATION={flags}", f"REDIS_LDFLAGS={flags}", "redis-server"], **QUIET)
    shutil.copy(made + "/src/redis-server", out)


def amalgamation(folder):
    """Builds sqlite from one file, which its own build system generates."""
    made = os.path.join(folder, "sqlite3.d")
    if not os.path.exists(made + "/shell.c"):
        os.makedirs(made, exist_ok=True)
        run([source(folder, "sqlite3") + "configure", "--disable-readline"], cwd=made, **QUIET)
        run(["make", "sqlite3.c", "shell.c"], cwd=made, **QUIET)
    return made


def build_sqlite(folder, out, compiler, flags):
    files = [f"{amalgamation(folder)}/{n}.c" for n in ("sqlite3", "shell")]
    made = out + ".d"
    os.makedirs(made, exist_ok=True)
    objects = [f"{made}/{n}.o" for n in ("sqlite3", "shell")]
    for name, there in zip(files, objects):
        run([compiler, "-g", *flags, *SQLITE, "-c", "-o", there, name], cwd=made, **QUIET)
    run([compiler, "-g", *flags, "-o", out, *objects, "-lm"], cwd=made, **QUIET)


def pack(out):
    """Makes one .dwp file and removes the .dwo files."""
    files = glob.glob(out + ".d/**/*.dwo", recursive=True)
    run(["dwp", "-e", out, "-o", out + ".dwp"], **QUIET)
    for name in files:
        os.remove(name)


def build_ninja(folder, out, compiler, *flags):
    made = fresh(source(folder, "ninja-build"), out)
    others = r"test|win32|msvc|minidump|includes_norm|perf|bench|\.in\.|browse"
    files = [f for f in glob.glob(made + "/src/*.cc") if not re.search(others, f)]
    run([compiler, "-g", "-O2", *flags, "-DNDEBUG", "-o", out, *files], cwd=made, **QUIET)


def build_lapack(folder, out):
    top = source(folder, "lapack")
    made = out + ".d"
    os.makedirs(made, exist_ok=True)
    # Modules must come first.
    files = [top + "SRC/la_constants.f90", top + "SRC/la_xisnan.F90"]
    for pattern in ("SRC/d*.f", "SRC/d*.f90", "SRC/i*.f", "BLAS/SRC/d*.f", "BLAS/SRC/d*.f90"):
        files += sorted(glob.glob(top + pattern))
    for name in files:
        run(["gfortran", "-g", "-O2", "-fPIC", "-c", name], cwd=made, **QUIET)
    run(["gfortran", "-shared", "-o", out, *glob.glob(made + "/*.o")], cwd=made, **QUIET)


def build_ripgrep(folder, out):
    """Builds with the crates of Debian's librust-*-dev."""
    made = fresh(source(folder, "rust-ripgrep"), out)
    os.remove(made + "/Cargo.lock")
    with open(made + "/Cargo.toml", encoding="utf-8") as have:
        text = have.read()
    # Remove features and tests whose crates Debian does not have.
    text = re.sub(r"(?m)^(simd-accel|pcre2) = .*\n", "", text)
    text = re.sub(r"\[dev-dependencies\.[a-z_]+\]\n[^\[]*", "", text)
    with open(made + "/Cargo.toml", "w", encoding="utf-8") as changed:
        changed.write(text.replace("debug = 1", "debug = 2"))
    os.makedirs(made + "/.cargo", exist_ok=True)
    with open(made + "/.cargo/config.toml", "w", encoding="utf-8") as config:
        config.write('[source.crates-io]\nreplace-with = "debian"\n'
                     '[source.debian]\ndirectory = "/usr/share/cargo/registry"\n')
    run(["/usr/bin/cargo", "build", "--offline", "-j2", "--release"], cwd=made,
        env={**os.environ, "RUSTC": "/usr/bin/rustc", "CARGO_HOME": made + "/home"}, **QUIET)
    shutil.copy(made + "/target/release/rg", out)


def build_go(out):
    run(["go", "build", "-o", out, "./vet"], cwd="/usr/lib/go-1.19/src/cmd",
        env={**os.environ, "GOCACHE": out + ".d", "GOFLAGS": ""}, **QUIET)


def then(*steps):
    def build(out):
        for step in steps:
            step(out)
    return build


def subjects(folder):
    """Returns the programs, like builds.subjects()."""
    def redis(compiler, *flags):
        return lambda out: build_redis(folder, out, compiler, flags)

    def sqlite(compiler, *flags):
        return lambda out: build_sqlite(folder, out, compiler, flags)
    heavy = ["-std=c++17", "-O2", "-I/usr/include/eigen3", os.path.join(HERE, "heavy.cc")]
    return [
        Subject("redis gcc -O2", ["gcc"], redis("gcc", "-O2")),
        Subject("redis gcc -O3 -flto", ["gcc"], redis("gcc", "-O3", "-flto")),
        Subject("redis clang -O2 DWARF 5", ["clang"], redis("clang", "-O2", "-gdwarf-5"),
                redis("clang", "-O2", "-gdwarf-4"), ["binutils"]),
        Subject("redis dwz", ["gcc", "dwz"],
                then(redis("gcc", "-O2"), share), redis("gcc", "-O2"), EVERYBODY),
        Subject("sqlite gcc -O0", ["gcc"], sqlite("gcc", "-O0")),
        Subject("sqlite gcc -O2", ["gcc"], sqlite("gcc", "-O2")),
        Subject("sqlite gcc -O3 -flto", ["gcc"], sqlite("gcc", "-O3", "-flto")),
        Subject("sqlite clang -O2 DWARF 4", ["clang"], sqlite("clang", "-O2", "-gdwarf-4")),
        Subject("sqlite clang -O2 DWARF 5", ["clang"], sqlite("clang", "-O2", "-gdwarf-5"),
                sqlite("clang", "-O2", "-gdwarf-4"), ["binutils"]),
        Subject("sqlite split", ["gcc"],
                sqlite("gcc", "-O2", "-gsplit-dwarf"), sqlite("gcc", "-O2"), EVERYBODY),
        # The dwp of Debian 12 fails with DWARF 5.
        Subject("sqlite dwp", ["gcc", "dwp"],
                then(sqlite("gcc", "-O2", "-gdwarf-4", "-gsplit-dwarf"), pack),
                sqlite("gcc", "-O2"), EVERYBODY),
        Subject("templates of Eigen and JSON", ["g++"],
                lambda out: run(["g++", "-g", *heavy, "-o", out], **QUIET)),
        Subject("ninja g++", ["g++"], lambda out: build_ninja(folder, out, "g++")),
        Subject("ninja clang++", ["clang++"],
                lambda out: build_ninja(folder, out, "clang++", "-gdwarf-5"),
                lambda out: build_ninja(folder, out, "clang++", "-gdwarf-4"), ["binutils"]),
        Subject("lapack gfortran", ["gfortran"], lambda out: build_lapack(folder, out)),
        Subject("ripgrep rustc", ["/usr/bin/cargo"], lambda out: build_ripgrep(folder, out)),
        Subject("vet go", ["go"], build_go),
    ]
