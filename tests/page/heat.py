#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""heat.py LINKS WRITE_SESSION: tests the page of `oprofile export heatmap` in a headless Chromium,
with a session of known samples.

Prints TAP; skips all cases without Debian's chromium and chromium-driver (scripts/deps.sh page).
heat.py --screenshot PAGE FILE: takes a picture of a page."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser as chromium  # noqa: E402
import tap  # noqa: E402

HOSTILE = "</script><script>window.pwned=1</script><img src=x onerror='window.pwned=2'>\n\"\\;`${1}"
MS = 1000000
# (thread, CPU, ms since the start, stack, samples) in the cells [0, 0], [0, 1], [1, 1], [1, 25] and
# [2, 49].
SAMPLES = ((0, 0, 5, "leaf;outer", 40), (0, 1, 30, "mid;outer", 10), (1, 0, 1030, "mid;outer", 20),
           (1, 1, 1510, "outer", 5), (1, 1, 2990, "leaf;mid;outer", 25))


def make(folder):
    """Makes pages by offset, CPU and thread of SAMPLES, and one by offset with half an hour."""
    links, writer = sys.argv[1:3]
    binary, build_id, places = tap.library(folder, HOSTILE)
    place = dict(zip(("leaf", "mid", "outer"), places))
    head = [f"info|0||{os.uname().nodename}||1000000000|0||", "event|TIMER|time|7|1000000|0|0",
            f"image|1|{binary}|{build_id}", "thread|7|7|first|0|0|/", "thread|9|9|<b>second|0|0|/"]
    short, long_one = (os.path.join(folder, name) for name in ("short", "long"))
    tap.write_session(writer, short, head + [
        f"sample|{thread}|0|{cpu}|{(1000 + ms) * MS}|1|{';'.join(place[n] for n in stack.split(';'))}|{nr}"
        for thread, cpu, ms, stack, nr in SAMPLES])
    tap.write_session(writer, long_one, head + [
        f"sample|0|0|0|{(1000 + 20 * i) * MS}|1|{place['leaf' if i % 3 else 'mid']};{place['outer']}|1"
        for i in range(90000)])
    pages = []
    for session, rows in ((short, "offset"), (short, "cpu"), (short, "thread"), (long_one, "offset")):
        pages.append(os.path.join(folder, f"{os.path.basename(session)}-{rows}.html"))
        tap.sh(os.path.join(links, "oprofile"), "export", "heatmap", "--rows", rows, "--session-dir",
               session, "-o", pages[-1])
    return [pages]


def load(b, path):
    b.open("file://" + path)
    b.until("return document.documentElement.dataset.ready === '1' && !!window.heatmap")
    b.until("return document.getElementById('heat').width > 10")


def at(b, *cell):
    return b.run("return heatmap.at(arguments[0])", cell)


def said(b):
    return b.text("#span")


def flames(b):
    """Returns the samples by function of the displayed flame graph."""
    return b.run("""
const t = flames.tree(), all = {};
for (let i = 0; i < t.symbol.length; i++)
  all[flames.nameOf(i)] = (all[flames.nameOf(i)] || 0) + t.total[i];
return all;""")


def test_mouse(b, pages):
    """dragging selects a span, and the flame graph shows it"""
    load(b, pages[0])
    assert b.text("h1") == "Heat map of 100 samples"
    assert said(b).startswith("All of it: 100 samples, 100.00 %; at most 40"), said(b)
    assert flames(b) == {"all": 100, "outer": 100, "mid": 55, HOSTILE: 65}, flames(b)
    b.drag(at(b, 0, 1), at(b, 1, 1))
    assert said(b) == "0.02 s to 1.04 s: 30 samples, 30.00 %", said(b)
    assert flames(b) == {"all": 30, "outer": 30, "mid": 30}, flames(b)
    # Backwards, and up to the end.
    b.drag(at(b, 2, 49), at(b, 1, 25))
    assert said(b) == "1.50 s to 3.00 s: 30 samples, 30.00 %", said(b)
    assert flames(b) == {"all": 30, "outer": 30, "mid": 25, HOSTILE: 25}, flames(b)
    b.drag(at(b, 0, 7), at(b, 0, 7))
    assert flames(b) == {"all": 0}, flames(b)


def test_keys(b, pages):
    """a span can be selected by keyboard, for screen readers also"""
    load(b, pages[0])
    b.press("ArrowRight")
    assert said(b) == "0.00 s to 0.02 s: 40 samples", said(b)
    b.press("ArrowUp")
    assert said(b) == "0.02 s to 0.04 s: 10 samples", said(b)
    b.press("Shift", "ArrowRight")
    assert said(b) == "0.02 s to 1.04 s: 30 samples, 30.00 %", said(b)
    assert flames(b)["all"] == 30
    b.press("Enter")
    assert said(b) == "1.02 s to 1.04 s: 20 samples, 20.00 %", said(b)
    b.press("Escape")
    assert said(b).startswith("All of it: 100 samples")
    assert flames(b)["all"] == 100
    # The flame graph keeps its own keys.
    b.run("document.getElementById('flames').focus()")
    b.press("ArrowUp")
    assert b.run("return document.getElementById('detail').textContent").startswith("outer, ")
    for canvas in ("heat", "flames"):
        assert b.run("return document.getElementById(arguments[0]).getAttribute('aria-label').length",
                     canvas) > 20


def test_rows(b, pages):
    """by CPU and by thread, a span is a rectangle"""
    load(b, pages[1])
    b.drag(at(b, 0, 1), at(b, 51, 1))
    assert said(b) == "0.00 s to 1.04 s, CPU 1: 10 samples, 10.00 %", said(b)
    b.drag(at(b, 0, 1), at(b, 51, 0))
    assert said(b) == "0.00 s to 1.04 s, CPU 0 to CPU 1: 70 samples, 70.00 %", said(b)
    # Threads are sorted by samples; these have equally many.
    load(b, pages[2])
    b.drag(at(b, 0, 1), at(b, 149, 1))
    assert said(b) == "0.00 s to 3.00 s, <b>second 9/9: 50 samples, 50.00 %", said(b)
    assert flames(b) == {"all": 50, "outer": 50, "mid": 45, HOSTILE: 25}, flames(b)


def test_harmless(b, pages):
    """names are not executed and cause no network request"""
    for page in pages[:3]:
        load(b, page)
        b.messages()
        b.run("const t = flames.tree(); for (let i = 0; i < t.symbol.length; i++) flames.describe(i)")
        assert b.run("return window.pwned === undefined")
        assert b.run("return document.querySelectorAll('img, iframe, link, b').length") == 0
        assert b.run("return performance.getEntriesByType('resource').length") == 0
        assert b.messages() == []


def colours(b):
    return b.run("""
const c = document.getElementById("heat"), seen = new Set();
const p = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
for (let i = 0; i < p.length; i += 4)
  seen.add(p[i] << 16 | p[i + 1] << 8 | p[i + 2]);
return [...seen].sort();""")


def test_colours(b, pages):
    """cells with more samples are darker in light mode and lighter in dark mode"""
    load(b, pages[0])
    shades = b.run("""
const c = document.getElementById("heat"), box = c.getBoundingClientRect(), pen = c.getContext("2d");
return arguments[0].map((cell) => {
  const [x, y] = heatmap.at(cell), r = c.width / box.width;
  return pen.getImageData((x - box.left) * r, (y - box.top) * r, 1, 1).data[1];
});""", [[0, 0], [1, 1], [0, 1], [1, 25]])
    assert shades == sorted(shades) and len(set(shades)) == 4, shades
    light = colours(b)
    b.run("document.getElementById('theme').click()")
    b.until("return !document.getElementById('theme').disabled")
    b.wait("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    assert colours(b) != light


def test_long(b, pages):
    """half an hour has wider columns, all samples, and a size that a browser can handle"""
    load(b, pages[3])
    assert b.run("return data.heat.columns") <= 600 and b.run("return data.heat.column_ms") == 3000
    assert flames(b)["all"] == 90000
    b.drag(at(b, 10, 0), at(b, 11, 4))
    # 5 of 50 offsets, in 6 of 1800 seconds.
    assert said(b) == "30 s to 36 s, 0 ms to 100 ms of each second: 30 samples, 0.03 %", said(b)
    assert os.path.getsize(pages[3]) < 2 << 20, os.path.getsize(pages[3])


TESTS = (test_mouse, test_keys, test_rows, test_harmless, test_colours, test_long)


def picture(page, path):
    with chromium.Browser(width=1200, height=640) as b:
        load(b, os.path.abspath(page))
        b.wait("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        b.screenshot(path)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--screenshot"]:
        picture(*sys.argv[2:4])
    else:
        tap.run(TESTS, make)
