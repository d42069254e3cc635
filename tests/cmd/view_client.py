#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""view_client.py CASE [ARGUMENT...]: starts `oprofile view`, and checks its answers.

The program is $OPROFILE. Prints nothing if all is well.
"""
import base64
import gzip
import http.client
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time

SLOW = float(os.environ.get("VIEW_SLOW", "1"))


class View:
    """A running server."""

    def __init__(self, *words, command="view", **how):
        self.process = subprocess.Popen(
            [os.environ["OPROFILE"], command, "--no-browser", *words], stdout=subprocess.PIPE,
            text=True, **how)
        line = self.process.stdout.readline()
        match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/(#\S*)?\n", line)
        assert match, (line, self.process.wait())
        self.port, self.token, self.fragment = int(match[1]), match[2], match[3]
        self.host = f"127.0.0.1:{self.port}"

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.end()

    def end(self, status=0):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        assert self.process.wait(30) == status, self.process.returncode

    def request(self, path, method="GET", body=None, headers=None):
        """Returns (status, body, headers); `path` is below the token unless it begins with /."""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        whole = {"Host": self.host}
        whole.update(headers or {})
        path = path if path.startswith("/") else f"/{self.token}/{path}"
        c.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        if body is not None:
            whole["Content-Length"] = str(len(body))
        for name, value in whole.items():
            if value is not None:
                c.putheader(name, value)
        c.endheaders()
        if body is not None:
            c.send(body)
        answer = c.getresponse()
        text = answer.read()
        c.close()
        return answer.status, text, answer.headers

    def get(self, query):
        status, text, _ = self.request("api/1/" + query)
        assert status == 200, (query, status, text)
        return json.loads(text)

    def post(self, name, value, expected=200):
        status, text, _ = self.request(
            "api/1/" + name, "POST", json.dumps(value).encode(),
            {"Origin": "http://" + self.host, "Content-Type": "application/json"})
        answer = json.loads(text)
        assert status == expected, (name, value, status, answer)
        assert status == 200 or answer["error"]
        return answer

    def wait_for(self, query, condition):
        end = time.monotonic() + 30 * SLOW
        while True:
            answer = self.get(query)
            if condition(answer):
                return answer
            assert time.monotonic() < end, answer
            time.sleep(0.2)


def source(recording):
    """The source and code of a function have its samples; the quality has all samples."""
    with View(recording) as v:
        info = v.get("info")
        rows = v.get("table?by=symbol,image&top=1000")["rows"]
        spin = [r for r in rows if r["values"][0] == "spin"][0]
        answer = v.get("source?symbol=spin&image=" + spin["values"][1])
        assert answer["samples"] == spin["self"] > 0, (answer["samples"], spin)
        assert sum(i["samples"] for i in answer["code"]) == spin["self"]
        assert sum(l["samples"] for l in answer["lines"]) == spin["self"]
        hottest = [l for l in answer["lines"] if l["line"] == answer["hottest"]][0]
        assert "for (int i" in hottest["text"] and hottest["samples"] > 0, hottest
        jumps = [i for i in answer["code"] if "target" in i]
        assert jumps and all(any(i["address"] == j["target"] for i in answer["code"]) for j in jumps)
        quality = v.get("quality")
        total = sum(e["samples"] for e in info["events"])
        assert [r["value"] for r in quality["rows"] if r["what"] == "samples"] == [total]


def answers(source):
    """All queries of the API answer, with the headers that protect the page."""
    with View(source) as v:
        info = v.get("info")
        assert info["version"] == 1 and info["samples"] > 0 and info["record"]
        for query in ("values?of=comm", "timeline?bins=100&tracks=thread", "heat?columns=10&rows=10",
                      "tree?min=0.001", "tree?by=callers", "tree?by=time",
                      "table?by=symbol,image"):
            assert v.get(query), query
        for of in ("folded", "csv", "text"):
            status, text, headers = v.request("api/1/text?of=" + of)
            assert status == 200 and headers["Content-Type"].startswith("text/plain")
            lines = text.decode().splitlines()
            field = {"folded": lambda x: x.rsplit(" ", 1)[1], "csv": lambda x: x.split(",")[0],
                     "text": lambda x: x.split()[0]}[of]
            counts = [int(field(x)) for x in lines[of != "folded":]]
            assert sum(counts) == info["samples"], (of, lines[:3])
        for path, status in (("", 200), ("app.js", 200), ("api/1/info", 200), ("nothing", 404),
                             ("api/1/nothing", 404), ("api/1/values?of=nothing", 400)):
            got, _, headers = v.request(path)
            assert got in (status, 404 if path in ("", "app.js") else status), (path, got)
            policy = headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
            assert "unsafe" not in policy
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert headers["Cache-Control"] == "no-store"
            assert headers["Referrer-Policy"] == "no-referrer"
            assert headers["Access-Control-Allow-Origin"] is None
        status, text, _ = v.request("api/1/info", "HEAD")
        assert status == 200 and not text


def sums(source, report):
    """The table by function is that of opreport; `report` is its CSV."""
    with open(report, encoding="utf-8") as f:
        lines = f.read().splitlines()
    with View(source) as v:
        table = v.get("table?by=image&top=1000")
        mine = {row["values"][0]: row["self"] for row in table["rows"] if row["self"]}
    theirs = {}
    for line in lines[1:]:
        image, samples = line.rsplit(",", 3)[0].strip('"'), int(line.rsplit(",", 3)[1])
        theirs[image] = theirs.get(image, 0) + samples
    assert sum(mine.values()) == table["samples"] == sum(theirs.values()), (mine, theirs)
    assert mine == theirs, (mine, theirs)


def refuses(source):
    """Requests without the token, or from the pages of other sites, get nothing."""
    with View(source) as v:
        own = "http://" + v.host
        json_type = {"Content-Type": "application/json"}
        wrong = "0" * 32
        for path in ("/", "//", f"/{wrong}/", f"/{wrong}/api/1/info", "/api/1/info",
                     f"/{v.token}", f"/{v.token[:-1]}/api/1/info", f"/{v.token}0/api/1/info",
                     f"/{v.token.upper()}x/", f"/x/{v.token}/api/1/info",
                     "/" + "%00" * 32 + "/", f"/?{v.token}/"):
            status, text, _ = v.request(path)
            assert status == 403 and v.token.encode() not in text, (path, status, text)
        for headers in ({"Host": None}, {"Host": "evil.example"}, {"Host": "127.0.0.1"},
                        {"Host": f"127.0.0.1:{v.port + 1}"}, {"Host": f"evil.example:{v.port}"},
                        {"Origin": "null"}, {"Origin": "http://evil.example"},
                        {"Origin": f"https://{v.host}"}, {"Origin": f"http://localhost:{v.port}"},
                        {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}):
            status, text, _ = v.request("api/1/info", headers=headers)
            assert status in (400, 403) and b"samples" not in text, (headers, status, text)
        for headers in ({}, {"Origin": own}, json_type, {"Origin": "null", **json_type},
                        {"Origin": own, "Content-Type": "text/plain"},
                        {"Origin": own, "Content-Type": "application/x-www-form-urlencoded"}):
            status, text, _ = v.request("api/1/record/settings", "POST", b"{}", headers)
            assert status == 403, (headers, status, text)
        for host in (f"localhost:{v.port}", f"[::1]:{v.port}"):
            assert v.request("api/1/info", headers={"Host": host})[0] == 200
        for method in ("PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"):
            assert v.request("api/1/info", method)[0] in (403, 405), method
        assert v.request("api/1/info", "POST", b"{}", {"Origin": own, **json_type})[0] == 405


def paths(source):
    """No path leads to a file."""
    with View(source) as v:
        for path in ("../", "../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "..%2f..%2fetc/passwd",
                     "/etc/passwd", "//etc/passwd", "./index.html", "index.html/", "APP.JS", "api/1/../../index.html", "api//1/info",
                     "api/1/", "api/1/record/", "api/1/record/../info", "offline-head", "file:///",
                     "api/1/source?symbol=main&image=/etc/passwd",
                     "api/1/source?symbol=/etc/passwd&image=/etc/shadow",
                     "api/1/function?symbol=x&image=../../etc/passwd"):
            whole = path if path.startswith("/") else f"/{v.token}/{path}"
            status, text, _ = v.request(whole)
            assert status in (400, 403, 404), (path, status, text)
            assert b"root:" not in text, path


def large(source):
    """Large and malformed requests are refused, and do not disturb others."""
    with View(source) as v:
        own = {"Origin": "http://" + v.host, "Content-Type": "application/json"}
        for path, headers in (("api/1/info?" + "a=b&" * 20000, {}), ("api/1/info", {"X": "y" * 90000}),
                              ("api/1/info", {f"X-{i}": "y" * 400 for i in range(200)})):
            status = v.request(path, headers=headers)[0]
            assert status >= 400, status
        assert v.request("api/1/record/settings", "POST", b" " * 70000, own)[0] == 413
        assert v.request("api/1/record/settings", "POST", b"{" * 60000, own)[0] == 400
        for text in (b"\0" * 1000, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\r\n" * 1000,
                     b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
                     b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
                     b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n"):
            with socket.create_connection(("127.0.0.1", v.port), 30) as s:
                s.sendall(text)
                s.shutdown(socket.SHUT_WR)
                while s.recv(4096):
                    pass
        assert v.get("info")["samples"]


def slow(source):
    """Clients that send nothing, or read nothing, do not keep others from the page."""
    with View(source) as v:
        idle = []
        for _ in range(200):
            s = socket.create_connection(("127.0.0.1", v.port), 30)
            s.sendall(b"GET /")
            idle.append(s)
        begin = time.monotonic()
        assert v.get("info")["samples"]
        assert time.monotonic() - begin < 20 * SLOW
        for s in idle:
            s.close()
        assert v.get("info")["samples"]


def storm(source):
    """Many requests at once and random ones; the server then still ends well."""
    rnd = random.Random(41)
    queries = ["info", "tree?min=0", "tree?by=callers&limit=3", "table?by=symbol&top=5", "heat",
               "values?of=image", "timeline?bins=7", "record/status", "record/events", "quality",
               "function?symbol=main", "source?symbol=main", "text?of=folded", "live"]
    with View(source) as v:
        open_sockets = []
        for i in range(400):
            query = rnd.choice(queries)
            if rnd.random() < 0.5:
                at = rnd.randrange(len(query))
                query = query[:at] + rnd.choice(["%", "&", "=", "?", "-1", "%ff", "9" * 30, "\xe9"]) \
                    + query[at:]
            text = f"GET /{v.token}/api/1/{query} HTTP/1.1\r\nHost: {v.host}\r\n\r\n"
            s = socket.create_connection(("127.0.0.1", v.port), 30)
            s.sendall(text.encode("latin-1")[:rnd.randrange(20, len(text) + 1)])
            open_sockets.append(s)
            if len(open_sockets) > 20:
                open_sockets.pop(rnd.randrange(20)).close()
            if i % 50 == 0:
                assert v.get("info")["samples"]
        for s in open_sockets:
            s.close()
        assert v.get("info")["samples"]


def live(source):
    """A stream sends an event each second, and too many streams are refused."""
    with View(source) as v:
        streams = []
        for _ in range(17):
            s = socket.create_connection(("127.0.0.1", v.port), 30)
            s.sendall(f"GET /{v.token}/api/1/live HTTP/1.1\r\nHost: {v.host}\r\n\r\n".encode())
            streams.append(s)
        texts = [b""] * len(streams)
        end = time.monotonic() + 4 * SLOW
        while time.monotonic() < end:
            for i, s in enumerate(streams):
                s.settimeout(0.05)
                try:
                    texts[i] += s.recv(65536)
                except TimeoutError:
                    pass
        refused = [t for t in texts if t.startswith(b"HTTP/1.1 503")]
        assert len(refused) == 1, len(refused)
        for text in texts:
            if text not in refused:
                assert b"text/event-stream" in text
                events = re.findall(rb"data: (\{.*\})\n\n", text)
                assert len(events) >= 2, text
                assert json.loads(events[0])["samples"] > 0


def record(program):
    """Starts, watches, saves and resets a recording by the API."""
    with View(command="start") as v:
        assert v.fragment == "#tab=record"
        assert v.get("info")["samples"] == 0 and v.request("api/1/tree")[0] == 404
        events = v.get("record/events")
        assert any(e["name"] == "TIMER" and e["about"] for e in events["software"])
        processes = {p["pid"]: p for p in v.get("record/processes")}
        assert processes[os.getpid()]["command"].count("view_client.py")
        assert v.get("record/settings") == {}
        v.post("record/settings", {"rate": 99, "name": "\u00e4"})
        assert v.get("record/settings") == {"rate": 99, "name": "\u00e4"}
        v.post("record/settings", [1], 400)
        assert v.get("record/status")["state"] == "idle"
        v.post("record/stop", {}, 409)
        v.post("record/save", {"name": "x"}, 409)
        v.post("record/start", {"target": "program", "argv": ["/nonexistent"]}, 400)
        v.post("record/start", {"target": "program", "argv": ["true"],
                                "events": [{"name": "NOTHING", "count": 1}]}, 400)
        form = {"target": "program", "argv": [program, "a b", "$(touch made)"], "callgraph": "fp",
                "events": [{"name": "TIMER", "rate": 997}]}
        assert v.post("record/start", form)["state"] == "recording"
        v.post("record/start", form, 409)
        v.wait_for("info", lambda x: x["samples"] > 50 and x["live"])
        first = v.get("info")["generation"]
        v.wait_for("info", lambda x: x["generation"] > first)
        v.post("record/save", {"name": "monday"}, 409)
        v.post("record/flush", {})
        v.post("record/stop", {})
        v.wait_for("record/status", lambda x: x["state"] == "finished")
        v.wait_for("info", lambda x: x["samples"] > 50 and not x["live"])
        assert not os.path.exists("made")
        v.post("record/save", {"name": "../monday"}, 400)
        v.post("record/save", {"name": "monday"})
        assert os.listdir("oprofile_data/samples/monday")
        assert not os.path.exists("oprofile_data/samples/current")
        v.wait_for("info", lambda x: x["samples"] > 50)
        v.post("record/start", form)
        v.wait_for("info", lambda x: 0 < x["samples"])
        v.post("record/stop", {})
        v.wait_for("record/status", lambda x: x["state"] == "finished")
        v.post("record/reset", {})
        assert os.listdir("oprofile_data/samples/monday")
        assert not os.path.exists("oprofile_data/samples/current")


def rights():
    """A refusal for lack of rights contains the command that lifts it."""
    with View(command="start") as v:
        level = int(open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii").read())
        if level > 0:
            answer = v.post("record/start", {"target": "system"}, 403)
            assert "perf_event_paranoid" in answer["error"], answer
            assert answer["fix"] == "sudo sysctl kernel.perf_event_paranoid=0", answer
        answer = v.post("record/start", {"target": "process", "pid": 1}, 403)
        assert answer["fix"], answer
        answer = v.post("record/start", {"target": "daemon"}, 403)
        assert answer["fix"] == "sudo opcontrol --start", answer
        assert v.get("record/processes")


def orphan(program):
    """The end of the server, even by SIGKILL, ends the recording."""
    for how in (signal.SIGINT, signal.SIGKILL):
        v = View(command="start")
        v.post("record/start", {"target": "program", "argv": [program]})
        children = subprocess.run(["pgrep", "-P", str(v.process.pid)], capture_output=True,
                                  text=True, check=True).stdout.split()
        assert children
        v.process.send_signal(how)
        v.process.wait(30)
        end = time.monotonic() + 20 * SLOW
        while any(os.path.exists(f"/proc/{pid}") for pid in children):
            assert time.monotonic() < end
            time.sleep(0.1)


def watch(*command):
    """`oprofile view COMMAND` records it, and shows it."""
    with View("-g", *command, start_new_session=True) as v:
        v.wait_for("info", lambda x: x["samples"] > 50)
        os.killpg(v.process.pid, signal.SIGINT)  # as the terminal does
        v.wait_for("record/status", lambda x: x["state"] == "finished")
        v.wait_for("info", lambda x: x["samples"] > 50 and not x["live"])
    assert os.listdir("oprofile_data/samples/current")


def compare(base, new):
    """Two recordings are a comparison."""
    for words in ((base, new), (base, "--", new)):
        with View(*words) as v:
            info = v.get("info")
            assert info["compare"], info
            row = v.get("table?by=symbol&top=1")["rows"][0]
            assert "base" in row and "new" in row, row


def export(source, *options):
    """An exported page contains all samples, and nothing that is loaded from elsewhere."""
    log = subprocess.run([os.environ["OPROFILE"], "view", "--export", "page.html", *options, source],
                         check=True, capture_output=True, text=True).stderr
    with open("page.html", encoding="utf-8") as f:
        page = f.read()
    match = re.search(r'<script type="text/plain" id="oprofile-data">([A-Za-z0-9+/=]*)</script>', page)
    data = json.loads(gzip.decompress(base64.b64decode(match[1])))
    with View(source) as v:
        info = v.get("info")
    assert data["version"] == 1 and not data["info"]["live"] and not data["info"]["record"]
    counts = data["cells"]["count"]
    assert data["info"]["samples"] == info["samples"] == sum(counts), (info, data["info"])
    assert {e["name"] for e in data["info"]["events"]} == {e["name"] for e in info["events"]}
    spin = [f for name, f in data["functions"].items() if name.split("\0")[1] == "spin"][0]
    assert spin["samples"] == sum(i["samples"] for i in spin["code"]) > 0
    assert any("for (int i" in l["text"] for l in spin["lines"]), spin["lines"]
    assert data["quality"]["rows"] and "functions" in data["cut"]
    assert "default-src 'none'" in page and "unsafe" not in page.split("<style>")[0]
    assert not re.search(r"(src|href)=.?https?:", page)
    private = os.stat("page.html").st_mode & 0o77 == 0
    assert private == ("readable only for you" in log), (private, log)
    assert f"{len(page.encode()) / 1e3:.1f} kB" in log or " MB" in log, log


def users(source):
    """Another user cannot read the page, nor find its token."""
    with View(source) as v:
        code = f"""
import glob, http.client
c = http.client.HTTPConnection('127.0.0.1', {v.port}, timeout=30)
c.request('GET', '/')
r = c.getresponse()
assert r.status == 403 and {v.token!r} not in r.read().decode()
"""
        subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "python3",
                        "-c", code], check=True)
        for name in os.listdir("/proc"):
            try:
                with open(f"/proc/{name}/cmdline", "rb") as f:
                    text = f.read()
            except OSError:
                continue
            assert v.token.encode() not in text, text


def browser(source):
    """The browser gets a private file instead of the address, and the file disappears."""
    with open("xdg-open", "w", encoding="ascii") as f:
        f.write("#!/bin/sh\nstat -c '%a %u' \"$1\" >$OUT.stat; cp \"$1\" $OUT; "
                "tr '\\0' ' ' </proc/$$/cmdline >$OUT.argv; mv $OUT $OUT.done\n")
    os.chmod("xdg-open", 0o755)
    out = os.path.abspath("opened")
    environment = {**os.environ, "PATH": os.getcwd() + ":" + os.environ["PATH"], "DISPLAY": ":9",
                   "OUT": out, "XDG_RUNTIME_DIR": os.getcwd(), "SUDO_UID": ""}
    process = subprocess.Popen([os.environ["OPROFILE"], "view", source], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, env=environment)
    url = process.stdout.readline().strip()
    if os.geteuid() == 0:
        # Root has no browser of its own.
        process.send_signal(signal.SIGINT)
        assert "no browser" in process.communicate(timeout=30)[1]
        assert not os.path.exists(out + ".done")
        return
    end = time.monotonic() + 20 * SLOW
    while not os.path.exists(out + ".done"):
        assert time.monotonic() < end
        time.sleep(0.1)
    with open(out + ".done", encoding="utf-8") as f:
        assert url in f.read()
    with open(out + ".argv", encoding="utf-8") as f:
        assert url.split("/")[3] not in f.read()
    with open(out + ".stat", encoding="utf-8") as f:
        assert f.read().split() == ["600", str(os.geteuid())]
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 0
    assert not [x for x in os.listdir(".") if x.startswith("oprofile-view-")]


def timeout(source):
    """The server ends by itself without requests."""
    v = View("--timeout", "1", source)
    assert v.process.wait(20 * SLOW) == 0


CASES = {f.__name__: f for f in (answers, source, export, sums, refuses, paths, large, slow, storm,
                                 live, record, rights, orphan, watch, compare, users, browser,
                                 timeout)}
CASES[sys.argv[1]](*sys.argv[2:])
