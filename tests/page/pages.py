#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""pages.py LINKS WRITE_SESSION: tests the pages of opannotate --html in a headless Chromium, opened
from files.

LINKS is the directory with opannotate, WRITE_SESSION is tests/cmd/write_session. Prints TAP; skips
all cases without Debian's chromium and chromium-driver (scripts/deps.sh page). pages.py
--screenshot FOLDER FILE: takes a picture of the hottest line of the pages in FOLDER."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser as chromium  # noqa: E402
import tap  # noqa: E402
from tap import sh  # noqa: E402

HEADER = """static inline __attribute__((always_inline)) unsigned mix(unsigned x)
{
	x ^= x << 13;
	return x ^ x >> 17;
}
"""
SOURCE = """#include "mix.h"
/* </script><script>window.pwned = 1</script> <img src=x onerror="window.pwned = 2"> */
unsigned work(unsigned n)
{
	unsigned x = n;
	for (unsigned i = 0; i < n; i++)
		x += mix(x); // "' onfocus=window.pwned=3 autofocus <svg onload=window.pwned=4>
	return x;
}
unsigned once(unsigned n)
{
	return mix(n) * 5;
}
"""
BIG_LINES = 100000
MARGIN_MS = 400  # limit for a jump on a busy machine; usually about 30


class Made:
    """Makes a library, and a session in which its n-th instruction has n samples (that of the
    line `hottest` has 1000 more)."""

    def __init__(self, tools, folder, name, sources, main, hottest):
        self.links, writer = tools
        self.folder = folder
        for path, text in sources.items():
            with open(os.path.join(folder, path), "w", encoding="utf-8") as out:
                out.write(text)
        binary = os.path.join(folder, name)
        sh("gcc", "-g", "-O2", "-shared", "-fPIC", "-nostdlib", "-Wl,--build-id", "-o", binary,
           os.path.join(folder, main))
        sections = sh("readelf", "-SW", binary)
        vaddr, offset = re.search(r" \.text +PROGBITS +(\w+) (\w+)", sections).groups()
        shift = int(offset, 16) - int(vaddr, 16)
        addresses = re.findall(r"^ *([0-9a-f]+):\t", sh("objdump", "-d", "-j", ".text", binary,
                                                        "--no-show-raw-insn"), re.M)
        lines = sh("addr2line", "-e", binary, input="\n".join(addresses)).splitlines()
        build_id = re.search(r"Build ID: (\w+)", sh("readelf", "-n", binary))[1]
        text = [f"info|0||{os.uname().nodename}||1000000000|0||", "event|TIMER|time|3|0|1000|0",
                f"image|1|{binary}|{build_id}", "thread|7|7|p|0|0|/"]
        for n, (address, line) in enumerate(zip(addresses, lines)):
            more = 1000 if re.search(rf"{hottest}\b", line) else 0
            text.append(f"sample|0|0|0|2000|1|0+{int(address, 16) + shift}|{n + 1 + more}")
        self.session = os.path.join(folder, name + ".session")
        tap.write_session(writer, self.session, text)
        self.pages = os.path.join(folder, name + ".pages")
        self.annotate("--html", self.pages)

    def annotate(self, *options):
        env = dict(os.environ, XDG_CACHE_HOME=os.path.join(self.folder, "cache"))
        return sh(os.path.join(self.links, "opannotate"), "--session-dir", self.session, *options,
                  env=env)

    def url(self, page="index.html"):
        return f"file://{self.pages}/{page}"


def in_view(b, selector):
    return b.run("const r = document.querySelector(arguments[0]).getBoundingClientRect();"
                 "return r.top >= 0 && r.bottom <= innerHeight && r.height > 0", selector)


def test_click_through(b, made, _):
    """links lead from the index to the hottest line, to its hottest instruction, and back"""
    data = json.loads(made.annotate("--json"))
    file, line = max(((f, l) for f in data["files"] for l in f["lines"]),
                     key=lambda pair: pair[1]["samples"][0])
    insn = max((i for f in data["functions"] for i in f["instructions"] if "samples" in i and
                i["line"] == line["line"] and i["file"] == file["file"]),
               key=lambda i: i["samples"][0])
    b.open(made.url())
    b.click("a.hot")
    assert b.url().endswith(f"#L{line['line']}"), b.url()
    assert b.text("h1") == file["file"]
    assert b.text(":target > summary").strip().startswith(str(line["samples"][0]))
    assert in_view(b, ":target > summary")
    b.click(":target a.asm")
    assert b.url().endswith("#i" + insn["address"][2:]), b.url()
    assert b.text(":target").strip().startswith(str(insn["samples"][0]))
    assert insn["text"].split()[0] in b.text(":target")
    assert in_view(b, ":target")
    b.click(":target a.asm")
    assert b.url().endswith(f"#L{line['line']}"), b.url()


def test_inlined(b, made, _):
    """links lead from a line to where it was inlined, and to the code inlined there"""
    b.open(made.url())
    b.run("[...document.querySelectorAll('a.source')].find(a => a.text.endsWith('/mix.h')).click()")
    b.press("e")
    b.click("#L3 a.site")
    assert b.text("h1").endswith("/p.c") and "mix(" in b.text(":target > summary")
    b.click(":target a.site")
    assert b.text("h1").endswith("/mix.h")


def test_harmless(b, made, _):
    """scripts in a source do not run, and neither do scripts inserted later"""
    b.open(made.url())
    b.messages()
    b.run("[...document.querySelectorAll('a.source')].find(a => a.text.endsWith('/p.c')).click()")
    assert "</script>" in b.text("#L2") if b.run("return !!document.querySelector('div#L2')") \
        else "</script>" in b.run("return document.querySelector('main').textContent")
    assert b.run("return window.pwned === undefined")
    assert b.run("return document.querySelectorAll('img, iframe, link').length") == 0
    assert b.run("return performance.getEntriesByType('resource').length") == 0
    assert b.messages() == []
    b.run("const s = document.createElement('script'); s.textContent = 'window.pwned = 5';"
          "document.body.append(s); const i = new Image(); i.src = 'http://127.0.0.1:9/';"
          "document.body.append(i)")
    assert b.run("return window.pwned === undefined")
    assert any("Content Security Policy" in m for m in b.messages())


def test_keys(b, made, _):
    """every function can be used by keyboard"""
    b.open(made.url())
    b.click("a.hot")
    b.until("return document.activeElement.tagName === 'SUMMARY'")
    b.press("e")
    b.until("return [...document.querySelectorAll('details')].every(d => d.open)")
    b.press("e")
    b.until("return ![...document.querySelectorAll('details')].some(d => d.open)")
    first = b.run("return document.activeElement.parentElement.id")
    assert b.url().endswith("#" + first)
    b.press("n")
    second = b.run("return document.activeElement.parentElement.id")
    assert first != second, second
    b.press("Enter")
    b.until("return document.activeElement.parentElement.open")
    b.press("p")
    assert b.run("return document.activeElement.parentElement.id") == first
    b.press("a")
    b.until("return location.pathname.includes('/code/')")
    b.press("a")
    b.until("return location.pathname.includes('/source/')")
    b.press("?")
    b.until("return document.querySelector('dialog[open]')")
    b.press("Escape")
    b.until("return !document.querySelector('dialog')")
    b.press("u")
    b.until("return location.href === arguments[0]", made.url())
    b.press("/")
    for letter in "once":
        b.press(letter)
    shown = b.run("return [...document.querySelectorAll('a.function')].filter("
                  "a => a.offsetParent).map(a => a.text)")
    assert shown == ["once"], shown


def test_light_and_dark(b, made, _):
    """pages follow the browser's colour scheme, and the user can switch it"""
    background = "return getComputedStyle(document.body).backgroundColor"
    b.open(made.url())
    light = b.run(background)
    b.press("t")
    dark = b.run(background)
    assert light != dark
    b.press("t")
    assert b.run(background) == light
    with chromium.Browser(dark=True) as other:
        other.open(made.url())
        assert other.run(background) == dark


def test_long(b, _, big):
    """100 000 lines: jumps and scrolling work without stutter"""
    b.open(big.url())
    b.click("a.hot")
    loaded = b.run("const t = performance.getEntriesByType('navigation')[0];"
                   "return t.domContentLoadedEventEnd - t.startTime")
    jumps = b.wait("""
const done = arguments[0], took = [], height = document.documentElement.scrollHeight;
let i = 0;
function jump() {
  const begin = performance.now();
  scrollTo(0, height * (i * 7 % 20) / 20);
  requestAnimationFrame(() => requestAnimationFrame(() => {
    took.push(performance.now() - begin);
    if (++i < 20) jump(); else done(took);
  }));
}
jump();""")
    jumps.sort()
    print(f"# page of {os.path.getsize(big_page(big)) >> 10} KiB: loaded in {loaded:.0f} ms; "
          f"20 jumps: median {jumps[10]:.0f} ms, slowest {jumps[-1]:.0f} ms", flush=True)
    assert b.run("return document.querySelectorAll('[id^=L]').length") >= BIG_LINES
    assert jumps[10] < MARGIN_MS, jumps


def big_page(big):
    folder = os.path.join(big.pages, "source")
    return max((os.path.join(folder, name) for name in os.listdir(folder)), key=os.path.getsize)


def big_source():
    lines = []
    for i in range(20):
        lines.append(f"int f{i}(int x) {{ return x * {i} + x / 7; }}")
        lines += ["/* a line of which nothing is known */"] * (BIG_LINES // 20)
    return "\n".join(lines) + "\n"


TESTS = (test_click_through, test_inlined, test_harmless, test_keys, test_light_and_dark,
         test_long)


def picture(folder, path):
    with chromium.Browser(width=1000, height=560) as b:
        b.open(f"file://{os.path.abspath(folder)}/index.html")
        b.click("a.hot")
        b.screenshot(path)


def make(folder):
    tools = sys.argv[1:3]
    return (Made(tools, folder, "p", {"mix.h": HEADER, "p.c": SOURCE}, "p.c", r"mix\.h:3"),
            Made(tools, folder, "big", {"big.c": big_source()}, "big.c", "big.c:1"))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--screenshot"]:
        picture(*sys.argv[2:4])
    else:
        tap.run(TESTS, make)
