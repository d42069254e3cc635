#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""diff.py LINKS WRITE_SESSION: tests the page of `oprofile diff --flamegraph` in a headless
Chromium, with folded stacks of known samples.

Prints TAP; skips all cases without Debian's chromium and chromium-driver (scripts/deps.sh page).
diff.py --screenshot PAGE FILE [dark|narrow]: takes a picture of a page."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser as chromium  # noqa: E402
import tap  # noqa: E402

HOSTILE = "</script><script>window.pwned=1</script><img src=x onerror='window.pwned=2'>"
BASE = {"main;parse;lex": 3000, "main;parse": 1500, "main;run;hash;mix": 2000, "main;run;hash": 1000,
        "main;run;old": 900, "main;run": 500, "main;io;" + HOSTILE: 1100}
NEW = {"main;parse;lex": 3000, "main;parse": 1500, "main;run;hash;mix": 3200, "main;run;hash": 1000,
       "main;run;fresh": 910, "main;run": 490, "main;io;" + HOSTILE: 600, "main;rare": 3}
NARROW = 400


def write_folded(path, counts):
    with open(path, "w", encoding="utf-8") as out:
        for stack, samples in counts.items():
            out.write(f"prog;{stack} {samples}\n")


def make(folder):
    links = sys.argv[1]
    base, new = os.path.join(folder, "base"), os.path.join(folder, HOSTILE[:8].replace("/", "_"))
    write_folded(base, BASE)
    write_folded(new, NEW)
    pages = [os.path.join(folder, name) for name in ("page.html", "same.html")]
    diff = [os.path.join(links, "oprofile"), "diff", "--flamegraph", "-o"]
    tap.sh(*diff, pages[0], base, new)
    tap.sh(*diff, pages[1], base, base)
    return pages


def load(b, path):
    b.open("file://" + path)
    b.until("return window.flamediff !== undefined")
    painted(b)


def painted(b):
    b.wait("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")


def widths(b):
    """Returns the widths of the visible frames, as shares of the canvas."""
    return b.run("""
const whole = flames.span(0)[1], widths = {}, t = flames.tree();
for (let i = 0; i < t.total.length; i++)
  if (flames.where(flames.nameOf(i)).includes(i))
    widths[flames.nameOf(i)] = flames.span(i)[1] / whole;
return widths;""")


def said(b, name):
    return b.run("""
const t = flames.tree();
for (let i = 0; i < t.total.length; i++)
  if (flames.nameOf(i) === arguments[0])
    return flames.describe(i);""", name)


def shares(counts, name):
    return sum(n for stack, n in counts.items() if name in stack.split(";")) / sum(counts.values())


def test_widths(b, page, _):
    """frames have the widths of the new side, the base side, or the larger one"""
    load(b, page)
    for side, counts in ("new", NEW), ("base", BASE):
        b.run("flamediff.useWidths(arguments[0])", side)
        painted(b)
        found = widths(b)
        for name in "main", "parse", "lex", "run", "hash", "mix", "io":
            assert abs(found[name] - shares(counts, name)) < 0.002, (side, name, found)
        assert ("fresh" in found) == (side == "new") and ("old" in found) == (side == "base"), found
    b.run("flamediff.useWidths('both')")
    painted(b)
    assert {"fresh", "old", "mix"} <= set(widths(b)), widths(b)


def test_keys(b, page, _):
    """the key w changes the side of the widths, and keeps the zoomed function"""
    load(b, page)
    b.run("document.getElementById('flames').focus()")
    for key in "ArrowUp", "ArrowUp", "Enter":
        b.press(key)
    zoomed = b.run("return flames.nameOf(flames.state.zoom)")
    assert zoomed == "run", zoomed
    for side in "base", "both", "new":
        b.press("w")
        assert b.run("return [document.getElementById('width').value, flames.state.width]") == [side] * 2
        assert b.run("return flames.nameOf(flames.state.zoom)") == "run"
    b.press("?")
    assert "widths of the new side" in b.text("#help")


def test_texts(b, page, _):
    """a frame is described by both shares, the change, the interval and the verdict"""
    load(b, page)
    text = said(b, "mix")
    assert text.startswith("mix, [unknown]: base 20.00 %, new 29.90 %, change +9.90 points, "), text
    assert "(95 % interval +" in text and text.endswith(": slower"), text
    assert said(b, "old").startswith("old, [unknown]: base 9.00 %, new 0.00 %, "), said(b, "old")
    assert said(b, "old").endswith("): moved"), said(b, "old")
    assert said(b, "rare").endswith("too few samples to decide"), said(b, "rare")
    assert "; self: base 15.00 %, new 14.01 %" in said(b, "parse"), said(b, "parse")
    assert said(b, "all") == "all: base 100.00 %, new 100.00 %, change +0.00 points, +0.00 % of the base"
    b.run("document.querySelector('details').open = true")
    notes = b.text("#notes")
    assert "values: percent of all samples of the side" in notes and "new: " in notes, notes
    assert b.text("#sides") == "base: 1 run, 10000 samples; new: 1 run, 10703 samples", b.text("#sides")


def test_colours(b, page, same):
    """a slower frame is orange, a faster one blue, noise is grey, and a legend explains it"""
    load(b, page)

    def colour(name):
        return b.run("""
const pen = document.createElement("canvas").getContext("2d"), t = flames.tree();
for (let i = 0; i < t.total.length; i++)
  if (flames.nameOf(i) === arguments[0])
    pen.fillStyle = flames.colourOf(i);
return pen.fillStyle.match(/[0-9a-f]{2}/g).map((x) => parseInt(x, 16));""", name)

    for theme in "light", "dark":
        b.run("theme(arguments[0])", theme)
        painted(b)
        red, _, blue = colour("mix")
        assert red > blue + 80, (theme, red, blue)
        red, _, blue = colour("io")
        assert blue > red + 40, (theme, red, blue)
        grey = colour("lex")
        assert max(grey) - min(grey) < 20, (theme, grey)
        marks = b.run("return [...document.querySelectorAll('#legend i')].map((i) => "
                      "getComputedStyle(i).backgroundColor)")
        assert len(set(marks)) == 8, marks
    for name, mark in ("mix", "\u25b2"), ("io", "\u25bc"), ("fresh", "\u2194"), ("lex", "l"):
        label = b.run("return hooks.label(flames.where(arguments[0])[0])", name)
        assert label.startswith(mark), (name, label)
    b.run("document.getElementById('colours').value = 'image';"
          "document.getElementById('colours').dispatchEvent(new Event('change'))")
    painted(b)
    assert b.run("return document.getElementById('legend').hidden")
    load(b, same)
    assert b.run("return new Set([...flames.tree().total.keys()].map(flames.colourOf)).size") == 1


def test_table(b, page, _):
    """the table lists the largest changes first"""
    load(b, page)
    rows = b.run("return [...document.querySelectorAll('#rows tr')].map((r) => "
                 "[...r.children].map((c) => c.textContent))")
    assert rows[0] == ["+9.90", "+9.90", "mix"], rows
    changes = [abs(float(row[0])) for row in rows]
    assert changes == sorted(changes, reverse=True), changes
    b.run("document.querySelector('#by-total button').click()")
    assert b.text("#rows tr td:nth-child(2)").startswith("+"), b.text("#rows tr td:nth-child(2)")
    b.run("document.getElementById('search').value = '^mix$'; search()")
    assert b.text("#found") == "29.90 %, 1 frames", b.text("#found")


def test_harmless(b, page, _):
    """names are not executed, and the page loads nothing"""
    load(b, page)
    b.messages()
    b.run("for (let i = 0; i < flames.tree().total.length; i++) flames.describe(i);"
          "document.querySelector('details').open = true")
    assert b.run("return window.pwned === undefined")
    assert b.run("return document.querySelectorAll('img, iframe, link').length") == 0
    assert b.run("return performance.getEntriesByType('resource').length") == 0
    assert b.messages() == []


def test_narrow(b, page, _):
    """on a narrow screen nothing is wider than the page, and the table is below the frames"""
    b.call("POST", "/window/rect", {"width": NARROW, "height": 800})
    try:
        load(b, page)
        assert b.run("return innerWidth") <= NARROW + 100
        assert b.run("return document.documentElement.scrollWidth <= innerWidth")
        frames, side = b.run("return ['scroll', 'side'].map((id) => "
                             "document.getElementById(id).getBoundingClientRect().toJSON())")
        assert frames["width"] > 0.9 * b.run("return innerWidth") and frames["height"] > 100, frames
        assert side["top"] >= frames["bottom"] - 1, (frames, side)
    finally:
        b.call("POST", "/window/rect", {"width": 1200, "height": 800})


TESTS = (test_widths, test_keys, test_texts, test_colours, test_table, test_harmless, test_narrow)


def picture(page, path, look=""):
    width = NARROW if look == "narrow" else 1200
    with chromium.Browser(dark=look == "dark", width=width, height=700) as b:
        b.call("POST", "/window/rect", {"width": width, "height": 700})
        load(b, os.path.abspath(page))
        b.screenshot(path)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--screenshot"]:
        picture(*sys.argv[2:5])
    else:
        tap.run(TESTS, make)
