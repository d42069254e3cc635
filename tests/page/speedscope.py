#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""speedscope.py LINKS WRITE_SESSION: opens the output of `oprofile export speedscope` in speedscope
itself, in a headless Chromium, with a session of known samples.

Prints TAP; skips all cases without Chromium (scripts/deps.sh page) or if npm cannot get the
package, which must have exactly the expected hash and is kept in the build directory. speedscope.py
--screenshot BUILD PROFILE FUNCTION FILE: takes a picture of the callers and callees of a function."""
import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser as chromium  # noqa: E402
import tap  # noqa: E402

VERSION = "1.25.0"
INTEGRITY = "cpf9HWTZf1ijLXBJrk87Ve/54tnYx6rlf0gUThvn3ook6h63hLXVOQiMf44PT+XoV503cPfvfiT5gP5vojp6Ag=="
HOSTILE = "</script><script>window.pwned=1</script>;\"`${1}"


class NotHere(Exception):
    pass


def fetch(build):
    """Returns the package, from the build directory or from npm."""
    path = os.path.join(build, "tests", "page", f"speedscope-{VERSION}.tgz")
    if not os.path.exists(path):
        if not shutil.which("npm"):
            raise NotHere("npm is not here")
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(["npm", "pack", "--loglevel=error", f"speedscope@{VERSION}"], cwd=folder,
                                  capture_output=True, text=True, timeout=120, check=False)
            made = os.path.join(folder, os.path.basename(path))
            if not os.path.exists(made):
                said = (done.stderr.strip().splitlines() or ["nothing"])[0]
                raise NotHere(f"npm did not get speedscope {VERSION}, and said: {said}")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            shutil.copyfile(made, path + f".{os.getpid()}")
            os.rename(path + f".{os.getpid()}", path)
    with open(path, "rb") as file:
        found = base64.b64encode(hashlib.sha512(file.read()).digest()).decode()
    if found != INTEGRITY:
        os.unlink(path)
        sys.exit(f"speedscope.py: speedscope {VERSION} is another file than it was: sha512-{found}")
    return path


def unpack(build, folder):
    with tarfile.open(fetch(build)) as tar:
        for member in tar.getmembers():
            if member.isfile() and member.name.startswith("package/dist/release/"):
                member.name = os.path.basename(member.name)
                tar.extract(member, folder)
    return os.path.join(folder, "index.html")


def load(b, page, profile, folder):
    """Opens the file as speedscope's own command does: a script passes it to the page."""
    with open(profile, "rb") as file:
        text = base64.b64encode(file.read()).decode()
    script = os.path.join(folder, "given.js")
    with open(script, "w", encoding="utf-8") as file:
        file.write(f"speedscope.loadFileFromBase64({json.dumps(os.path.basename(profile))},"
                   f"{json.dumps(text)})")
    b.open("about:blank")
    b.open(f"file://{page}#localProfilePath={urllib.parse.quote(script)}")
    b.until("return [...document.querySelectorAll('div')].some(d => d.textContent === '🥪Sandwich')"
            " && document.querySelector('canvas')")


def tab(b, name):
    b.run("""const all = [...document.querySelectorAll('div')].filter(d => d.textContent === arguments[0]);
all[all.length - 1].click();""", name)


def make(folder):
    """Makes a profile in which outer calls mid, which calls HOSTILE."""
    binary, build_id, (leaf, mid, outer) = tap.library(folder, HOSTILE)
    session, profile = os.path.join(folder, "session"), os.path.join(folder, "profile.json")
    tap.write_session(sys.argv[2], session, [
        f"info|0||{os.uname().nodename}||1000000000|0||", "event|TIMER|time|15|1000000|0|0",
        f"image|1|{binary}|{build_id}", "thread|7|7|first|0|0|/", "thread|9|9|second|0|0|/",
        f"sample|0|0|0|2000|1|{leaf};{mid};{outer}|50", f"sample|0|0|0|2000|1|{mid};{outer}|10",
        f"sample|0|0|0|2000|1|{outer}|20", f"sample|1|0|0|2000|1|{mid};{outer}|7"])
    tap.sh(os.path.join(sys.argv[1], "oprofile"), "export", "speedscope", "--session-dir", session,
           "-o", profile)
    build = os.path.dirname(os.path.abspath(sys.argv[1]))
    return unpack(build, os.path.join(folder, "speedscope")), profile, folder


def fresh(b, page, profile, folder):
    load(b, page, profile, folder)
    tab(b, "🕰Time Order")


def said(b, text):
    b.until("return document.body.innerText.replace(/\\s+/g, ' ').includes(arguments[0])", text)


def rows_of(b):
    """Returns the table of functions, which appears after a moment."""
    b.until("return document.querySelectorAll('tr').length > 1")
    rows = b.run("return [...document.querySelectorAll('tr')].map(r => [...r.children].map("
                 "c => c.textContent))")
    return {name: (total.split()[0], own.split()[0]) for total, own, name in rows[1:]}


def click_row(b, name):
    b.run("""const row = [...document.querySelectorAll('tr')].find(r => r.lastChild.textContent === arguments[0]);
for (const what of ['mousedown', 'click'])
  row.dispatchEvent(new MouseEvent(what, {bubbles: true}));""", name)
    said(b, "Callers")
    said(b, "Callees")


def click_says(b, point, text):
    """Clicks until the selected frame has these samples, or with "" until nothing is selected:
    during a zoom the frames move for a moment."""
    for _ in range(40):
        b.press("Escape")
        time.sleep(0.6)  # two clicks must not count as a double click
        b.click_at(point)
        found = b.run("return document.body.innerText.replace(/\\s+/g, ' ')")
        if text in found if text else "Instance" not in found:
            return
    raise AssertionError(found)


def test_totals(b, *made):
    """the table has the self and total samples of each function"""
    fresh(b, *made)
    tab(b, "🥪Sandwich")
    rows = rows_of(b)
    assert rows == {HOSTILE: ("50", "50"), "outer": ("87", "20"), "mid": ("67", "17"),
                    "first": ("80", "0"), "second": ("7", "0")}, rows
    assert b.run("return window.pwned === undefined")


def test_search(b, *made):
    """a search leaves only matches"""
    fresh(b, *made)
    tab(b, "🥪Sandwich")
    rows_of(b)
    b.press("Control", "f")
    b.until("return document.activeElement.tagName === 'INPUT'")
    for letter in "outer":
        b.press(letter)
    b.until("return document.querySelectorAll('tr').length === 2")
    assert list(rows_of(b)) == ["outer"]


def test_callers(b, *made):
    """a click on a function shows its callers and callees"""
    fresh(b, *made)
    tab(b, "🥪Sandwich")
    rows_of(b)
    click_row(b, "mid")


def test_zoom(b, *made):
    """a click shows a frame's samples, a double click zooms to it, and a key zooms out"""
    fresh(b, *made)
    # As drawn: below the tabs, the overview and a ruler, with a line of 20 pixels for each depth.
    second, third, left, middle = 172, 192, 60, b.run("return innerWidth") / 2
    instances = "This Instance Total Self {} All Instances Total Self {}"
    mid = instances.format("60 10 69% 11%", "67 17 77% 20%")
    outer = instances.format("80 20 92% 23%", "87 20 100% 23%")
    click_says(b, (middle, third), mid)
    click_says(b, (left, second), outer)
    # A double click on mid shows it above the others.
    b.click_at((middle, third), 2)
    click_says(b, (left, second), mid)
    b.press("0")
    click_says(b, (left, second), "")
    click_says(b, (middle, second), mid)
    tab(b, "⬅️Left Heavy")
    said(b, "Left Heavy")


def test_schema(_, page, profile, *__):
    """the file matches the schema in the package"""
    try:
        import jsonschema
    except ImportError:
        print("# python3-jsonschema is not here: NOT TESTED", flush=True)
        return
    with open(os.path.join(os.path.dirname(page), "file-format-schema.json"), encoding="utf-8") as file:
        schema = json.load(file)
    with open(profile, encoding="utf-8") as file:
        data = json.load(file)
    jsonschema.validate(data, schema)
    del data["profiles"][0]["endValue"]  # the schema has requirements
    try:
        jsonschema.validate(data, schema)
    except jsonschema.ValidationError:
        return
    raise AssertionError("the schema takes anything")


TESTS = (test_schema, test_totals, test_search, test_callers, test_zoom)


def picture(build, profile, function, path):
    with tempfile.TemporaryDirectory() as folder, chromium.Browser(width=1200, height=640) as b:
        load(b, unpack(build, os.path.join(folder, "speedscope")), profile, folder)
        tab(b, "🥪Sandwich")
        rows_of(b)
        click_row(b, function)
        time.sleep(1)
        b.screenshot(path)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--screenshot"]:
        picture(*sys.argv[2:6])
        sys.exit(0)
    try:
        if chromium.is_there():
            fetch(os.path.dirname(os.path.abspath(sys.argv[1])))
    except NotHere as error:
        print(f"1..0 # SKIP {error}: NOT TESTED")
        sys.exit(0)
    tap.run(TESTS, make)
