# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares answers that differ only in spelling: docs/lines.md has the rules."""
import re
import subprocess


def is_artificial(frame):
    return frame[1] and frame[1].endswith("/<artificial>")


def of_clone(name):
    """Removes gcc's suffixes for parts and copies of a function."""
    return re.sub(r"(\.(lto_priv|constprop|isra|part|cold)(\.\d+)?)+$", "", name)


def last_word(name):
    """Returns a name without scope, template arguments and parameters."""
    if "operator" in name:
        return "operator"
    inner = None
    while inner != name:
        inner, name = name, re.sub(r"<[^<>]*>|\([^()]*\)|\{[^{}]*\}", "", name)
    return name.removesuffix(" const").split("::")[-1]


class Spelling:
    """Compares the names of a binary."""

    def __init__(self, binary):
        self.places = {}  # addresses of a name's symbols
        self.demangled = {}
        self.filter = None
        text = subprocess.run(["readelf", "-sW", binary], capture_output=True, text=True,
                              errors="replace", check=True).stdout
        for at, name in re.findall(r"(?m)^ +\d+: ([0-9a-f]+) +\d+ FUNC .* (\S+)$", text):
            if int(at, 16):
                self.places.setdefault(of_clone(name), set()).add(at)

    def demangle(self, name):
        if name not in self.demangled:
            if not self.filter:
                self.filter = subprocess.Popen(["c++filt"], stdin=subprocess.PIPE,
                                               stdout=subprocess.PIPE, text=True, bufsize=1)
            self.filter.stdin.write(name + "\n")
            self.demangled[name] = self.filter.stdout.readline().strip()
        return self.demangled[name]

    def is_plain(self, plain, name):
        """True if a name without linkage name is that of a mangled one, or the same with less
        scope.  Template arguments are not compared: compilers and demanglers write those of
        closures each in their own way."""
        if plain.startswith("_Z"):
            return False
        word = last_word(plain)
        if not name.startswith("_Z"):
            return word == last_word(name)
        return bool(re.search(r"(^|[ :])" + re.escape(word) + r"([<(\[]|$)", self.demangle(name)))

    def same_name(self, a, b):
        """True for a function and its parts and copies, with or without its scope."""
        if not a or not b:
            return a == b
        a, b = of_clone(a), of_clone(b)
        return a == b or self.is_plain(a, b) or self.is_plain(b, a)

    def same(self, a, b):
        """True if the answers differ only in the names of a function."""
        return bool(a and b and len(a) == len(b) and all(
            x[1:] == y[1:] and self.same_name(x[0], y[0]) for x, y in zip(a, b)))

    def alike(self, a, b):
        """True if the answers differ only in the symbols that they name for the same code, or one
        has no file."""
        return bool(a and b and len(a) == len(b) and all(
            x[2] == y[2] and (x[1] == y[1] or is_artificial(x) or is_artificial(y)) and
            (self.same_name(x[0], y[0]) or self.same_place(x[0], y[0])) for x, y in zip(a, b)))

    def same_place(self, a, b):
        return (a and b and
                self.places.get(of_clone(a), set()) & self.places.get(of_clone(b), set()))

    def close(self):
        if self.filter:
            self.filter.stdin.close()
            self.filter.stdout.close()
            self.filter.wait()
