#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""view_live.py OPROFILE [SECONDS]: the cost of recording the whole system at 999 Hz with call stacks
from the page of oprofile view, while a page is open that loads its data after each update.

Prints each half minute: CPU time of the server and of the recorder in percent of one CPU, memory of
the server, samples and updates. Needs root.
"""
import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import time

QUERIES = ("info", "tree?min=0.001&limit=4000", "timeline?bins=1000&tracks=thread&top=20",
           "table?by=symbol,image&top=200")
FORM = {"target": "system", "callgraph": "fp", "events": [{"name": "TIMER", "rate": 999}]}


def request(host, path, body=None):
    c = http.client.HTTPConnection(host, timeout=60)
    headers = {"Origin": "http://" + host, "Content-Type": "application/json"} if body else {}
    c.request("POST" if body else "GET", path, body, headers)
    answer = c.getresponse()
    text = answer.read()
    assert answer.status == 200, text
    return json.loads(text)


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mb(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as f:
        return next(int(x.split()[1]) for x in f if x.startswith("VmRSS")) // 1024


def events(host, path):
    """Yields the events of a stream."""
    with socket.create_connection(host.split(":")) as s:
        s.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        for line in s.makefile("rb"):
            if line.startswith(b"data: "):
                yield json.loads(line[6:])


def watch(server, seconds):
    url = server.stdout.readline().split("#")[0].strip()
    host, base = url.split("/")[2], "/" + url.split("/")[3] + "/api/1/"
    request(host, base + "record/start", json.dumps(FORM))
    child = int(subprocess.run(["pgrep", "-P", str(server.pid)], check=True, capture_output=True,
                               text=True).stdout.split()[0])
    pids = (server.pid, child)
    begin = last = time.monotonic()
    before = [cpu_seconds(x) for x in pids]
    generation = updates = 0
    for event in events(host, base + "live"):
        if event["samples"] and event["generation"] != generation:
            generation = event["generation"]
            updates += 1
            for query in QUERIES:
                request(host, base + query)
        now = time.monotonic()
        if now - last < 30 and now - begin < seconds:
            continue
        used = [cpu_seconds(x) for x in pids]
        share = [100 * (a - b) / (now - last) for a, b in zip(used, before)]
        print(f"{now - begin:4.0f} s: server {share[0]:.2f} %, recorder {share[1]:.2f} %, "
              f"{resident_mb(server.pid)} MB, {event['samples']} samples, {updates} updates",
              flush=True)
        before, last = used, now
        if now - begin >= seconds:
            return


def main():
    program = os.path.abspath(sys.argv[1])
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 120
    with tempfile.TemporaryDirectory() as folder:
        with subprocess.Popen([program, "start", "--no-browser"], stdout=subprocess.PIPE, text=True,
                              cwd=folder) as server:
            try:
                watch(server, seconds)
            finally:
                server.terminate()


main()
