#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""flames.py LINKS WRITE_SESSION: tests the page of `oprofile export flamegraph` in a headless
Chromium, with a session of known samples.

Prints TAP; skips all cases without Debian's chromium and chromium-driver (scripts/deps.sh page).
flames.py --screenshot PAGE FILE: takes a picture of a page."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser as chromium  # noqa: E402
import tap  # noqa: E402

HOSTILE = "</script><script>window.pwned=1</script><img src=x onerror='window.pwned=2'>\n\"\\;`${1}"
MANY = 100000
MARGIN_MS = 400  # limit for a zoom among so many nodes on a busy machine; usually it needs about 10


def make_page(tools, folder):
    """Makes a page. outer calls mid, which calls HOSTILE; there are two threads of one process, and
    another process. A second page also has a session that contains only mid."""
    links, writer = tools
    binary, build_id, (leaf, mid, outer) = tap.library(folder, HOSTILE)
    head = [f"info|0||{os.uname().nodename}||1000000000|0||", "event|TIMER|time|7|1000000|0|0",
            f"image|1|{binary}|{build_id}", "thread|7|7|first|0|0|/"]
    session, other = (os.path.join(folder, name) for name in ("before", "now"))
    tap.write_session(writer, session, head + [
        "thread|7|8|first|0|0|/", "thread|9|9|<b>second|0|0|/",
        f"sample|0|0|0|2000|1|{leaf};{mid};{outer}|50", f"sample|0|0|0|2000|1|{mid};{outer}|10",
        f"sample|1|0|0|2000|1|{outer}|20", f"sample|2|0|0|2000|1|{leaf};{outer}|15",
        f"sample|2|0|0|2000|1|{mid};{mid};{outer}|5"])
    tap.write_session(writer, other, head + [f"sample|0|0|0|2000|1|{mid};{outer}|30",
                                             f"sample|0|0|0|2000|1|{outer}|10"])
    page, both = (os.path.join(folder, name) for name in ("flames.html", "both.html"))
    export = [os.path.join(links, "oprofile"), "export", "flamegraph"]
    tap.sh(*export, "--session-dir", session, "-o", page)
    tap.sh(*export, session, other, "-o", both)
    return page, both


def make_many(page, folder):
    """Makes the same page with other data: MANY nodes, each of which calls four others."""
    data = {"events": ["TIMER"], "images": ["a", "b"], "levels": 5, "sessions": 1,
            "symbols": [[f"function_{i}", i % 2, 0] for i in range(1000)],
            "symbol": [0], "up": [0], "who": [["h", "s", "c", 1, 1]]}
    rows, at = [], 0

    def add(parent, depth):
        nonlocal at
        me = len(data["symbol"])
        data["symbol"].append(me * 7919 % 1000)
        data["up"].append(me - parent)
        rows.extend([me - at, 0, 1])
        at = me
        for _ in range(4 if depth < 8 else 0):
            if len(data["symbol"]) <= MANY:
                add(me, depth + 1)
    while len(data["symbol"]) <= MANY:
        add(0, 0)
    data["rows"] = [rows]
    with open(page, encoding="utf-8") as file:
        text = file.read()
    begin = text.index(">", text.index("id=data")) + 1
    path = os.path.join(folder, "many.html")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text[:begin] + json.dumps(data) + text[text.index("</script>", begin):])
    return path


def load(b, path):
    b.open("file://" + path)
    b.until("return document.documentElement.dataset.ready === '1'")


def click_frame(b, name):
    """Clicks like a mouse, in the middle of the frame."""
    b.run("""
const i = flames.where(arguments[0])[0], [x, w] = flames.span(i);
const canvas = document.getElementById("flames"), box = canvas.getBoundingClientRect();
canvas.dispatchEvent(new MouseEvent("click", {bubbles: true, clientX: box.left + x + w / 2,
  clientY: box.top + flames.yOf(flames.tree().depth[i]) + 5}));""", name)


def width_of(b, name):
    return b.run("const i = flames.where(arguments[0])[0]; return i === undefined ? -1 : "
                 "Math.round(flames.span(i)[1] * 1000 / document.getElementById('flames').clientWidth)",
                 name)


def painted(b):
    """Returns the colours on the canvas."""
    return b.wait("""
const done = arguments[0];
requestAnimationFrame(() => requestAnimationFrame(() => {
  const c = document.getElementById("flames");
  const p = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
  const seen = new Set();
  for (let i = 0; i < p.length; i += 4)
    if (p[i + 3])
      seen.add(p[i] << 16 | p[i + 1] << 8 | p[i + 2]);
  done([...seen]);
}));""")


def rows_of(b):
    return b.run("return [...document.querySelectorAll('#rows tr')].map("
                 "r => [...r.cells].map(c => c.textContent))")


def test_numbers(b, page, *_):
    """the graph and the table show the shares of the samples"""
    load(b, page)
    assert b.text("h1") == "Flame graph of 100 samples"
    assert width_of(b, "outer") == 1000 and width_of(b, "mid") == 650, width_of(b, "mid")
    assert len(painted(b)) > 2
    rows = {r[2]: r[:2] for r in rows_of(b)}
    assert rows == {HOSTILE: ["65.00 %", "65.00 %"], "outer": ["20.00 %", "100.00 %"],
                    "mid": ["15.00 %", "65.00 %"]}, rows
    b.click("#by-total button")
    assert [r[1] for r in rows_of(b)] == ["100.00 %", "65.00 %", "65.00 %"]


def test_harmless(b, page, *_):
    """names are not executed and cause no network request"""
    load(b, page)
    b.messages()
    click_frame(b, HOSTILE)
    assert HOSTILE in b.run("return document.getElementById('detail').textContent")
    b.run("document.getElementById('merge').value = 5;"
          "document.getElementById('merge').dispatchEvent(new Event('change'))")
    assert width_of(b, "<b>second 9/9") == 200
    assert b.run("return window.pwned === undefined")
    assert b.run("return document.querySelectorAll('img, iframe, link, b').length") == 0
    assert b.run("return performance.getEntriesByType('resource').length") == 0
    assert b.messages() == []


def test_zoom(b, page, *_):
    """a click zooms and keeps the callers, and Escape zooms out"""
    load(b, page)
    click_frame(b, "mid")
    assert width_of(b, "mid") == 1000 and width_of(b, "outer") == 1000
    # A recursive function counts once.
    rows = {r[2]: r[1] for r in rows_of(b)}
    assert rows == {HOSTILE: "50.00 %", "mid": "65.00 %"}, rows
    b.press("Escape")
    assert width_of(b, "mid") == 650


def test_search(b, page, *_):
    """a search shows the matches and their share of the total and of the zoomed part"""
    load(b, page)
    b.press("/")
    for letter in "^MID$":
        b.press(letter)
    assert b.text("#found") == "65.00 % (65 samples), 2 frames", b.text("#found")
    assert 0xff8cff in painted(b)
    b.press("Escape")
    assert b.text("#found") == ""
    b.run("[...document.querySelectorAll('#rows button')].find(r => r.textContent === 'mid').click()")
    assert b.text("#found").startswith("65.00 %")
    b.run("const s = document.getElementById('search'); s.value = '[';"
          "s.dispatchEvent(new Event('input'))")
    assert b.text("#found").startswith("0.00 %")


def test_merge(b, page, *_):
    """samples can be grouped by command, process and thread"""
    load(b, page)

    def merge(level):
        b.run("const m = document.getElementById('merge'); m.value = arguments[0];"
              "m.dispatchEvent(new Event('change'))", level)
        return b.run("const t = flames.tree(); return t.name.map((n, i) => [n, t.total[i]])"
                     ".filter(([n]) => n !== null)")
    assert merge(3) == [["all", 100], ["<b>second", 20], ["first", 80]]
    assert merge(4) == [["all", 100], ["<b>second 9", 20], ["first 7", 80]]
    assert merge(5) == [["all", 100], ["<b>second 9/9", 20], ["first 7/7", 60], ["first 7/8", 20]]
    assert merge(0) == [["all", 100]]


def test_keys(b, page, *_):
    """every function can be used by keyboard and screen reader"""
    load(b, page)
    detail = "return document.getElementById('detail').textContent"
    assert b.run(detail).startswith("all: 100 samples")
    b.press("ArrowUp")
    assert b.run(detail).startswith("outer, "), b.run(detail)
    b.press("ArrowUp")
    assert b.run(detail).startswith("mid, ") and "65 samples, 65.00 %; self 10" in b.run(detail)
    b.press("ArrowLeft")
    assert b.run(detail).startswith(HOSTILE), b.run(detail)
    b.press("ArrowRight")
    b.press("Enter")
    assert width_of(b, "mid") == 1000
    b.press("u")
    assert width_of(b, "mid") == 650
    b.press("i")
    assert b.run("return document.getElementById('turn').getAttribute('aria-pressed')") == "true"
    assert b.run("const t = flames.tree(); return flames.yOf(0) < flames.yOf(1)")
    b.press("?")
    b.until("return document.querySelector('dialog[open]')")
    b.press("Escape")
    b.until("return !document.querySelector('dialog[open]')")
    assert b.run("return document.querySelector('canvas').getAttribute('aria-label').length") > 20


def test_colours(b, page, *_):
    """colours work in light and dark mode, and by image, kind and name"""
    load(b, page)
    seen = []
    for colours in ("image", "kind", "name"):
        b.run("const c = document.getElementById('colours'); c.value = arguments[0];"
              "c.dispatchEvent(new Event('change'))", colours)
        seen.append(sorted(painted(b)))
    assert seen[0] != seen[1] and seen[1] != seen[2]
    background = "return getComputedStyle(document.body).backgroundColor"
    light = b.run(background)
    b.press("t")
    assert b.run(background) != light and sorted(painted(b)) != seen[2]


def test_difference(b, _, both, *__):
    """in a comparison, functions with more samples in the second session are red, with fewer blue"""
    load(b, both)
    b.run("const c = document.getElementById('colours'); c.value = 'difference';"
          "c.dispatchEvent(new Event('change'))")
    hue = """
const i = flames.where(arguments[0])[0], m = flames.colourOf(i).match(/^hsl\\((\\d+) (\\d+)%/);
return [Number(m[1]), Number(m[2])];"""
    # mid has 65 of the first session's 100 samples and 30 of the other session's 40; HOSTILE has
    # 65 and 0.
    assert b.run(hue, "mid")[0] == 5 and b.run(hue, "mid")[1] > 0, b.run(hue, "mid")
    assert b.run(hue, HOSTILE)[0] == 220 and b.run(hue, HOSTILE)[1] == 80, b.run(hue, HOSTILE)
    assert b.run(hue, "outer")[1] == 0
    click_frame(b, "mid")
    assert "in the first session 65, in others 30" in b.text("#detail"), b.text("#detail")
    assert len(painted(b)) > 2


def test_many(b, _, __, many):
    """100 000 nodes load, zoom and search without stutter"""
    load(b, many)
    assert b.run("return flames.tree().symbol.length") > MANY
    loaded = b.run("const t = performance.getEntriesByType('navigation')[0];"
                   "return t.domContentLoadedEventEnd - t.startTime")
    took = b.wait("""
const done = arguments[0], took = [], keys = ["ArrowUp", "Enter", "ArrowUp", "Enter", "Escape"];
let i = 0;
function step() {
  const begin = performance.now();
  dispatchEvent(new KeyboardEvent("keydown", {key: "x"}));
  document.getElementById("flames").dispatchEvent(new KeyboardEvent("keydown",
    {key: keys[i % keys.length], bubbles: true}));
  requestAnimationFrame(() => requestAnimationFrame(() => {
    took.push(performance.now() - begin);
    if (++i < 20) step(); else done(took);
  }));
}
step();""")
    took.sort()
    print(f"# {MANY} nodes, {os.path.getsize(many) >> 10} KiB: loaded in {loaded:.0f} ms; 20 steps: "
          f"median {took[10]:.0f} ms, slowest {took[-1]:.0f} ms", flush=True)
    assert took[10] < MARGIN_MS, took


TESTS = (test_numbers, test_harmless, test_zoom, test_search, test_merge, test_keys, test_colours,
         test_difference, test_many)


def picture(page, path):
    with chromium.Browser(width=1200, height=640) as b:
        load(b, os.path.abspath(page))
        painted(b)
        b.screenshot(path)


def make(folder):
    page, both = make_page(sys.argv[1:3], folder)
    return page, both, make_many(page, folder)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--screenshot"]:
        picture(*sys.argv[2:4])
    else:
        tap.run(TESTS, make)
