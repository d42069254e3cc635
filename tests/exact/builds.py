# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the small programs of exact.py, with several compilers and kinds of debug information."""
import functools
import glob
import os
import re
import shutil
import subprocess
from collections import namedtuple

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# build: the function that builds it. twin: the function that builds its twin. blind: the programs
# that get the twin.
Subject = namedtuple("Subject", "name tools build twin blind", defaults=(None, ()))
NO_SPLIT = ["binutils", "elfutils"]
EVERYBODY = [*NO_SPLIT, "llvm"]
QUICK_NAMES = {"gcc -O2", "gcc -O2 split", "clang -O2 DWARF 5", "gfortran"}
QUICK_SCOPES = {"g++ 5", "g++ 5 split types", "g++ 4 dwp", "clang++ 5 dwp types", "clang++ 5 split thin",
                "g++ 5 zstd"}


def have(name):
    return shutil.which(name) is not None


def run(command, **more):
    return subprocess.run(command, check=True, **more)


def own_sources(quick=False):
    """Builds a real C program without unusual dependencies: two layers of this project."""
    files = sorted(glob.glob(f"{ROOT}/src/base/*.c") +
                   ([] if quick else glob.glob(f"{ROOT}/src/resolve/*.c")))
    return [f for f in files if not re.search(r"_none|debuginfod|http|name_patterns", f)]


def build_c(compiler, flags, out, quick=False):
    objects = []
    common = ["-g", "-fPIC", "-D_GNU_SOURCE", f"-I{ROOT}/src"]
    folder = out + ".d"
    os.makedirs(folder, exist_ok=True)
    for source in own_sources(quick):
        made = os.path.join(folder, os.path.basename(source)[:-2] + ".o")
        run([compiler, *common, *flags, "-c", "-o", made, source], cwd=folder,
            stderr=subprocess.DEVNULL)
        objects.append(made)
    run([compiler, *common, *flags, "-shared", "-o", out, *objects], cwd=folder,
        stderr=subprocess.DEVNULL)


def build_one(command):
    # Fortran compilers write modules to the working directory.
    return lambda out: run([*command, "-o", out], cwd=os.path.dirname(out),
                           stderr=subprocess.DEVNULL)


def same_code(a, b):
    """True if two builds differ only in the format of debug information and in the addresses of
    constants: the same functions at the same addresses, and nearly all bytes the same."""
    text, names = zip(*((
        subprocess.run(["objcopy", "-O", "binary", "-j", ".text", f, "/dev/stdout"],
                       stdout=subprocess.PIPE, check=True).stdout,
        re.findall(r"(?m)^(\S+ \S+) [tTwW] (\S+)$",
                   subprocess.run(["nm", "-S", f], stdout=subprocess.PIPE, check=True,
                                  text=True).stdout)) for f in (a, b)))
    others = sum(x != y for x, y in zip(*text))
    return (len(text[0]) == len(text[1]) and others * 100 < len(text[0]) and
            names[0] == names[1])


def share(out):
    """Runs dwz with a third file to which the binary and its copy both refer."""
    twin = out + ".twin"
    shutil.copy(out, twin)
    run(["dwz", "-m", out + ".alt", "-M", os.path.basename(out) + ".alt", out, twin])


def build_dwz(out):
    build_c("gcc", ["-O2"], out)
    share(out)


def build_scopes(compiler, flags, step, out):
    """Builds scopes.cc twice into one program, and processes its debug information."""
    folder = out + ".d"
    os.makedirs(folder, exist_ok=True)
    source = os.path.join(HERE, "scopes.cc")
    common = [compiler, "-O2", "-std=c++17", "-g", *flags]
    for name, more in (("one.o", []), ("two.o", ["-DOTHER"])):
        run([*common, *more, "-c", "-o", name, source], cwd=folder)
    linker = ["-fuse-ld=lld"] if compiler != "g++" and "-flto" in " ".join(flags) else []
    run([*common, *linker, "-o", out, "one.o", "two.o"], cwd=folder)
    if step:
        step(out, folder)


def pack_dwp(tool):
    def step(out, folder):
        run([tool, "-e", out, "-o", out + ".dwp"], cwd=folder)
        for name in glob.glob(f"{folder}/*.dwo"):
            os.unlink(name)
    return step


def compress(how):
    def step(out, _folder):
        run(["objcopy", f"--compress-debug-sections={how}", out])
    return step


def scopes():
    """Returns the matrix of compilers and forms of debug information. The twin of each has the
    same code with plain debug information of DWARF 4, which the other programs read."""
    split, types = ["-gsplit-dwarf"], ["-fdebug-types-section"]
    rows = [  # name, flags, step, tools
        ("", [], None, []),
        ("types", types, None, []),
        ("split", split, None, []),
        ("split types", split + types, None, []),
        ("dwp", split, pack_dwp("llvm-dwp"), ["llvm-dwp"]),
        ("dwp of binutils", split, pack_dwp("dwp"), ["dwp"]),
        ("dwp types", split + types, pack_dwp("llvm-dwp"), ["llvm-dwp"]),
        ("dwz", [], lambda out, _: share(out), ["dwz"]),
        ("lto", None, None, ["ld.lld"]),
        ("split lto", split, None, ["ld.lld"]),
        ("thin", None, None, ["ld.lld"]),
        ("split thin", split, None, ["ld.lld"]),
        ("simple template names", ["-gsimple-template-names"], None, []),
        ("zlib", ["-gz=zlib"], None, []),
        ("zstd", [], compress("zstd"), ["objcopy"]),
    ]
    # binutils' dwp crashes on DWARF 5, and llvm-dwp does not end with gcc's type units of DWARF 5.
    # dwz does not read clang's DWARF 5.  gcc's .dwo files lack the functions with -flto.
    unusable = {("g++", "5", "dwp of binutils"), ("clang++", "5", "dwp of binutils"),
                ("g++", "5", "dwp types"), ("clang++", "5", "dwz")}
    for compiler in ("g++", "clang++"):
        for version in ("4", "5"):
            for name, flags, step, tools in rows:
                clang = compiler == "clang++"
                kind = name.split(" ")[-1]
                code = {"lto": ["-flto"], "thin": ["-flto=thin"]}.get(kind, [])
                if (kind == "thin" or name.startswith("simple")) and not clang:
                    continue
                if (compiler, version, name) in unusable or (name == "split lto" and not clang):
                    continue
                yield Subject(
                    " ".join(filter(None, [compiler, version, name])), [compiler, *tools],
                    functools.partial(build_scopes, compiler,
                                      [f"-gdwarf-{version}", *code, *(flags or [])], step),
                    functools.partial(build_scopes, compiler, ["-gdwarf-4", *code], None),
                    EVERYBODY)


def subjects(quick):
    """Returns the programs. A twin has the same code as the binary, with debug information in a
    format that all of the other programs can read completely."""
    def c(compiler, *flags):
        return lambda out: build_c(compiler, flags, out, quick)
    cxx, fortran, rust = (os.path.join(HERE, n)
                          for n in ("templates.cc", "numbers.f90", "shapes.rs"))

    def small(*flags):
        return lambda out: build_c("gcc", ["-O2", *flags], out, quick=True)

    def typed(*flags):
        return build_one(["g++", "-g", "-O2", "-std=c++17", "-fdebug-types-section", *flags, cxx])
    clang4 = c("clang", "-O2", "-gdwarf-4")
    every = [
        Subject("gcc -O0", ["gcc"], c("gcc", "-O0")),
        Subject("gcc -O2", ["gcc"], c("gcc", "-O2")),
        Subject("gcc -O3 -flto", ["gcc"], c("gcc", "-O3", "-flto")),
        Subject("gcc -O2 DWARF 4", ["gcc"], c("gcc", "-O2", "-gdwarf-4")),
        Subject("gcc -O2 split", ["gcc"],
                c("gcc", "-O2", "-gsplit-dwarf"), c("gcc", "-O2"), EVERYBODY),
        Subject("gcc -O2 dwz", ["gcc", "dwz"], build_dwz, c("gcc", "-O2"), EVERYBODY),
        Subject("clang -O2 DWARF 4", ["clang"], clang4),
        Subject("clang -O2 DWARF 5", ["clang"],
                c("clang", "-O2", "-gdwarf-5"), clang4, ["binutils"]),
        Subject("clang -O2 split", ["clang"],
                c("clang", "-O2", "-gsplit-dwarf", "-gdwarf-5"), clang4, NO_SPLIT),
        Subject("g++ templates", ["g++"], build_one(["g++", "-g", "-O2", "-std=c++17", cxx])),
        Subject("clang++ templates", ["clang++"],
                build_one(["clang++", "-g", "-O2", "-std=c++17", cxx]),
                build_one(["clang++", "-gdwarf-4", "-O2", "-std=c++17", cxx]), ["binutils"]),
        Subject("type units DWARF 4", ["g++"], typed("-gdwarf-4")),
        Subject("type units DWARF 5", ["g++"], typed("-gdwarf-5"),
                build_one(["g++", "-g", "-O2", "-std=c++17", "-gdwarf-5", cxx]),
                ["binutils", "elfutils"]),
        Subject("gcc -O2 DWARF 2", ["gcc"], small("-gdwarf-2", "-gstrict-dwarf")),
        Subject("gcc -O2 DWARF 3", ["gcc"], small("-gdwarf-3", "-gstrict-dwarf")),
        Subject("gcc -O2 DWARF 64 bits", ["gcc"], small("-gdwarf-5", "-gdwarf64")),
        Subject("gcc -O2 packed", ["gcc"], small("-gz=zlib")),
        Subject("gcc -O2 packed the old way", ["gcc"],
                small("-gz=zlib-gnu"), small(), ["binutils"]),
        Subject("gcc -O2 sections dropped", ["gcc"],
                small("-ffunction-sections", "-fvisibility=hidden", "-Wl,--gc-sections",
                      "-Wl,-e,buf_put")),
        Subject("gfortran", ["gfortran"], build_one(["gfortran", "-g", "-O2", fortran])),
        Subject("rustc", ["rustc"], build_one(["rustc", "-g", "-O", rust])),
    ]
    every += scopes()
    return [s for s in every if not quick or s.name in QUICK_NAMES | QUICK_SCOPES]
