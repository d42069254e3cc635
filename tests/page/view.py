#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""view.py LINKS WRITE_SESSION: tests the page of `oprofile view` and of `oprofile view --export` in a
headless Chromium, with a session of known samples.

Prints TAP; skips all cases without Debian's chromium and chromium-driver (scripts/deps.sh page)."""
import atexit
import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402

HOSTILE = "</script><script>window.pwned=1</script><img src=x onerror='window.pwned=2'>\n\"\\;`${1}"
MS = 1000000
# (thread, CPU, ms since the start, stack, samples); thread 1 is "<b>second".
SAMPLES = ((0, 0, 5, "leaf;mid;outer", 50), (0, 1, 530, "mid;outer", 10), (1, 0, 1030, "outer", 15),
           (1, 1, 1510, "mid;outer", 5), (1, 1, 1990, "leaf;outer", 20))
STATE = "const v = window.oprofileView, s = v.store;"


def make(folder):
    """Returns the address of a server and of an exported page of the same session, and the address
    of a server that compares two sessions."""
    links, writer = sys.argv[1:3]
    binary, build_id, places = tap.library(folder, HOSTILE)
    place = dict(zip(("leaf", "mid", "outer"), places))
    head = [f"info|0||{os.uname().nodename}||1000000000|0||", "event|TIMER|time|7|1000000|0|0",
            f"image|1|{binary}|{build_id}", "thread|7|7|first|0|0|/", "thread|9|9|<b>second|0|0|/"]
    sessions = [os.path.join(folder, name) for name in ("before", "after")]
    for session, factor in zip(sessions, (1, 3)):
        tap.write_session(writer, session, head + [
            f"sample|{thread}|0|{cpu}|{(1000 + ms) * MS}|1|{';'.join(place[n] for n in stack.split(';'))}|"
            f"{nr * (factor if stack == 'outer' else 1)}" for thread, cpu, ms, stack, nr in SAMPLES])
    view = [os.path.join(links, "oprofile"), "view"]
    exported = os.path.join(folder, "report.html")
    tap.sh(*view, f"--export={exported}", "--session-dir", sessions[0])
    return (serve(view + ["--no-browser", "--session-dir", sessions[0]]), "file://" + exported,
            serve(view + ["--no-browser", *sessions]))


def serve(argv):
    server = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    atexit.register(server.terminate)
    for line in server.stdout:
        match = re.search(r"http://127\.0\.0\.1:\d+/\w+/", line)
        if match:
            return match[0]
    raise AssertionError("no address was printed")


def load(b, url, state=""):
    b.open("about:blank")
    b.messages()
    b.open(url + state)
    b.until("return document.documentElement.dataset.ready === '1'")


def flames(b, url, state=""):
    load(b, url, state)
    b.until("const g = oprofileView.flame.graph; return g.model && document.querySelector"
            "('.flame-tab').dataset.ready === '1'")


def total(b):
    return b.run("return oprofileView.flame.graph.model.total[0]")


def until_total(b, number):
    b.until("return oprofileView.flame.graph.model.total[0] === arguments[0]", number)


def node(b, name):
    """The number of the widest frame of a function."""
    return b.run("const m = oprofileView.flame.graph.model; let best = -1; for (let i = 0; i < m.n; i++)"
                 "if (m.id(i) === arguments[0] && (best < 0 || m.total[i] > m.total[best])) best = i;"
                 "return best", name)


def click_frame(b, name, times=1):
    point = b.run("const g = oprofileView.flame.graph, i = arguments[0], [x, w] = g.span(i);"
                  "const box = g.canvas.getBoundingClientRect();"
                  "return [box.left + x + w / 2, box.top + g.yOf(g.model.depth[i]) + 8]", node(b, name))
    b.click_at(point, times)


def silent(b):
    said = b.messages()
    assert said == [], said


def both(test):
    """Runs a test with the server's page and with the exported page."""
    def twice(b, server, exported, _):
        for url in (server, exported):
            test(b, url)
    twice.__doc__ = test.__doc__ + " (served and exported)"
    return twice


@both
def test_numbers(b, url):
    """the flame graph and the header show the samples"""
    flames(b, url)
    assert total(b) == 100, total(b)
    widths = b.run("const m = oprofileView.flame.graph.model; return [...m.total].map((t, i) => "
                   "[m.id(i), t])")
    assert ["outer", 100] in widths and ["mid", 65] in widths and [HOSTILE, 50] in widths, widths
    assert "100" in b.text(".facts"), b.text(".facts")
    silent(b)


@both
def test_hostile(b, url):
    """names are shown as text, and no request leaves the page"""
    flames(b, url)
    click_frame(b, HOSTILE)
    b.until("return document.querySelector('.panel h2').title === arguments[0]", HOSTILE)
    for tab in ("table", "function", "flame"):
        b.click(f"#tab-{tab}")
        b.until("return document.getElementById('view-' + arguments[0]).dataset.ready === '1'", tab)
    assert b.run("return window.pwned === undefined && !document.querySelector('img, iframe, #app b b')")
    hosts = b.run("return performance.getEntriesByType('resource').map((e) => new URL(e.name).hostname)")
    assert set(hosts) <= {"127.0.0.1"}, hosts
    assert url.startswith("http") or not hosts, hosts
    silent(b)


@both
def test_brush(b, url):
    """dragging over the timeline selects a range, and Escape clears it"""
    flames(b, url)
    b.until("return document.querySelector('.timeline').dataset.ready === '1'")
    x, y, w = b.run("const r = document.querySelector('.plot > canvas').getBoundingClientRect();"
                    "return [r.left, r.top + 20, r.width]")
    b.drag((x + w / 3, y), (x + w + 6, y))
    until_total(b, 40)
    assert "Time" in b.text(".chips")
    b.press("Escape")
    until_total(b, 100)


@both
def test_filter(b, url):
    """a filter of the menu becomes a chip that can be removed"""
    flames(b, url)
    b.click("#add-filter")
    b.until("return document.querySelectorAll('.filters .values li label').length === 2")
    b.run("[...document.querySelectorAll('.filters .values label')].find((l) => l.title === '<b>second')"
          ".querySelector('input').click()")
    until_total(b, 40)
    b.press("Escape")
    assert "<b>second" in b.text(".chips")
    b.click(".chip button")
    until_total(b, 100)


@both
def test_text(b, url):
    """the text filter selects stacks"""
    flames(b, url)
    b.run("const t = document.getElementById('text'); t.value = 'MID'; t.dispatchEvent(new Event('input'))")
    until_total(b, 65)


@both
def test_search(b, url):
    """the search shows the share of matches"""
    flames(b, url)
    b.press("/")
    for letter in "^mid$":
        b.press(letter)
    b.until("return document.querySelector('.found').textContent.startsWith('65.00 %')")
    b.press("Escape")
    b.until("return document.querySelector('.found').textContent === ''")


@both
def test_zoom_back(b, url):
    """a double click zooms, the address has the state, and back returns"""
    flames(b, url)
    click_frame(b, "mid", 2)
    b.until("return location.hash.includes('zoom=')")
    b.until("const g = oprofileView.flame.graph; return Math.abs(g.span(g.zoomNode)[1] - g.width) < 2")
    shared = b.url()
    b.run("history.back()")
    b.until("return !location.hash.includes('zoom=') && oprofileView.flame.graph.zoomNode === 0")
    flames(b, shared)
    assert b.run("const g = oprofileView.flame.graph; return g.model.name(g.zoomNode)") == "mid"


@both
def test_share(b, url):
    """an address with filters shows the same samples"""
    flames(b, url, "#comm=first&tab=flame&by=callers")
    assert total(b) == 60, total(b)
    assert b.run("return document.getElementById('order').value") == "callers"
    assert b.run("const m = oprofileView.flame.graph.model; return m.id(m.heaviestCallee(0))") == HOSTILE


@both
def test_orders(b, url):
    """the orders by callers and by time have all samples"""
    for by in ("callers", "time"):
        flames(b, url, f"#by={by}")
        assert total(b) == 100, (by, total(b))


@both
def test_table(b, url):
    """the table has self and total samples, and other keys"""
    load(b, url, "#tab=table")
    rows = "return [...document.querySelectorAll('.table-tab tbody tr')].map((r) => [...r.cells].map((c) => " \
        "c.title || c.textContent))"
    b.until("return document.querySelectorAll('.table-tab tbody tr').length === 3")
    found = {row[2]: row[:2] for row in b.run(rows)}
    assert found["outer"] == ["15", "100"] and found["mid"] == ["15", "65"], found
    b.run("const k = document.getElementById('keys'); k.value = 'comm'; k.dispatchEvent(new Event('change'))")
    b.until("return document.querySelectorAll('.table-tab tbody tr').length === 2")
    assert {row[2]: row[0] for row in b.run(rows)} == {"first": "60", "<b>second": "40"}
    b.click("[data-sort=name]")
    b.until("return location.hash.includes('sort=name')")


@both
def test_sandwich(b, url):
    """a frame leads to the callers and callees of its function"""
    flames(b, url)
    click_frame(b, "mid")
    b.click("[data-go=function]")
    b.until("return document.getElementById('view-function').dataset.ready === '1'")
    b.until("return document.querySelector('.callers tbody').textContent.includes('outer')")
    assert b.run("return document.querySelector('.callees tbody button').title").startswith(HOSTILE)
    assert "65" in b.text(".function-head"), b.text(".function-head")
    b.run("history.back()")
    b.until("return !document.getElementById('view-flame').hidden")


@both
def test_keys(b, url):
    """the flame graph, the tabs and the timeline can be used by keyboard"""
    flames(b, url)
    b.run("oprofileView.flame.graph.canvas.focus()")
    name = "const g = oprofileView.flame.graph; return g.model.name(g.at)"
    b.press("ArrowDown")
    assert b.run(name) == "outer", b.run(name)
    b.press("ArrowDown")
    assert b.run(name) == "mid", b.run(name)
    assert "mid" in b.run("return document.querySelector('[role=status][aria-live=polite]').textContent")
    b.press("Enter")
    b.until("return location.hash.includes('zoom=')")
    b.press("Escape")
    b.until("return !location.hash.includes('zoom=')")
    b.press("2")
    b.until("return !document.getElementById('view-table').hidden")
    b.press("?")
    b.until("return document.querySelector('dialog[open]')")
    b.press("Escape")
    b.until("return !document.querySelector('dialog[open]')")
    b.run("document.querySelector('.plot > canvas').focus()")
    b.press("ArrowRight")
    b.until("return location.hash.includes('from=')")


@both
def test_names(b, url):
    """every control has a name, and every tab a panel"""
    flames(b, url)
    unnamed = b.run("""return [...document.querySelectorAll('button, select, input, canvas[tabindex], [tabindex="0"]')]
.filter((e) => !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length || e.title)).map((e) => e.outerHTML)""")
    assert unnamed == [], unnamed
    lost = b.run("return [...document.querySelectorAll('[role=tab]')].filter((t) => "
                 "!document.getElementById(t.getAttribute('aria-controls'))).length")
    assert lost == 0


@both
def test_narrow(b, url):
    """a page of 360 pixels does not scroll sideways, and the toolbar has one line at 1400"""
    for width in (360, 1400):
        b.resize(width, 800)
        flames(b, url)
        assert b.run("return document.documentElement.scrollWidth") <= width
        assert b.run("return document.querySelector('.flame canvas').clientWidth") > width / 2
        assert b.run("return document.querySelector('.flame-tab .toolbar').offsetHeight") < 50
    b.resize(1200, 800)


@both
def test_status(b, url):
    """the graph does not move when the description of a frame is long"""
    flames(b, url)
    top = "return JSON.stringify(oprofileView.flame.graph.root.getBoundingClientRect())"
    before = b.run(top)
    click_frame(b, HOSTILE)
    assert b.run(top) == before


@both
def test_theme(b, url):
    """the key t changes between light and dark"""
    flames(b, url)
    background = "return getComputedStyle(document.body).backgroundColor"
    light = b.run(background)
    b.press("t")
    assert b.run(background) != light
    b.press("t")
    assert b.run(background) == light


@both
def test_heat(b, url):
    """the heat map fills the width of the page"""
    flames(b, url, "#heat=1&tracks=cpu")
    b.until("return /per column/.test(document.querySelector('.timeline .scale').textContent)")
    assert b.run("return document.querySelectorAll('.track').length") == 2
    assert b.run("return document.querySelector('.plot > canvas').clientWidth") > 800


def test_folded(b, _, exported, __):
    """the selection of an exported page can be copied as folded stacks and CSV"""
    flames(b, exported, "#comm=first")
    folded = b.wait("const done = arguments[0]; const v = oprofileView;"
                    "v.source.text(v.store.state.sel, 'folded', '').then(done, (e) => done(String(e)))")
    assert "outer;mid 10" in folded, folded
    csv = b.wait("const done = arguments[0]; const v = oprofileView;"
                 "v.source.text(v.store.state.sel, 'csv', 'comm').then(done, (e) => done(String(e)))")
    assert "first" in csv and "60" in csv, csv


def test_answers(b, server, exported, _):
    """an exported page computes the same trees and tables as the server"""
    got = []
    for url in (server, exported):
        load(b, url)
        got.append(b.wait("""
const done = arguments[0], v = oprofileView, all = [];
(async () => {
  for (const filters of [{}, {comm: ["first"]}, {cpu: ["1"]}, {through: ["mid"]}]) {
    const sel = {filters}, tree = await v.source.tree(sel, "calls", 0, 1000);
    all.push(tree.total, tree.total_of.slice().sort());
    const table = await v.source.table(sel, {by: "symbol,image", sort: "self", top: 9, from_row: 0});
    all.push(table.rows.map((r) => [r.values[0], r.self, r.total]).sort());
    const line = await v.source.timeline(sel, 50, "thread", 9);
    all.push(line.total.reduce((a, b) => a + b, 0), line.tracks.map((t) => [t.tid, t.samples]).sort());
  }
})().then(() => done(JSON.stringify(all)), (e) => done(String(e)));"""))
    assert got[0] == got[1], got
    assert json.loads(got[0])[0] == 100


def test_difference(b, _, __, compared):
    """two recordings are compared by colour, with a legend"""
    flames(b, compared)
    assert b.run("return document.getElementById('colours').value") == "change"
    assert "points" in b.text(".legend"), b.text(".legend")
    change = b.run("const m = oprofileView.flame.graph.model; return [...m.total.keys()].map((i) => "
                   "[m.name(i), m.change(i)])")
    assert dict(change)["mid"] < 0, change


def test_strangers(b, server, *_):
    """a request without the token is refused"""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for path in ("", "x/", "api/1/info", "x/api/1/info"):
        try:
            opener.open(re.sub(r"[^/]+/$", path, server))
            raise RuntimeError(f"'{path}' was answered")
        except urllib.error.HTTPError as error:
            assert error.code in (403, 404), error.code


def test_record(b, server, *_):
    """the form finds events and requires a program"""
    load(b, server, "#tab=record")
    b.until("return document.getElementById('view-record').dataset.ready === '1'")
    b.click("#start")
    b.until("return document.querySelector('.record-tab .error').textContent.includes('command line')")
    b.click("input[value=process]")
    b.until("return document.querySelectorAll('.processes input').length > 0")
    b.click("input[value=program]")


TESTS = (test_numbers, test_hostile, test_brush, test_filter, test_text, test_search, test_zoom_back,
         test_share, test_orders, test_table, test_sandwich, test_keys, test_names, test_narrow,
         test_status, test_theme, test_heat, test_folded, test_answers, test_difference, test_strangers,
         test_record)

if __name__ == "__main__":
    tap.run(TESTS, make, loopback=True)
