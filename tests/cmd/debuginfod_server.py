#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""debuginfod_server.py MODE FOLDER: a debuginfod server for tests, on a free port of the
loopback interface.  Prints the port on the first line, then a line for each request.

Serves FOLDER/BUILD-ID/executable and the like.  MODE: files (works), never (accepts
connections and sends nothing), drip (sends a byte every tenth of a second), garbage
(sends a web page for every request), other (sends FOLDER/other for every request),
short (closes the connection in the middle),
cut (the same, without having sent the length), cut-size (likewise, with X-DEBUGINFOD-SIZE), error (500), late (replies after two
seconds).
"""
import http.server
import os
import sys
import time


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        os.write(1, (self.path + "\n").encode())  # one write(2), so that lines of threads do not mix
        mode, folder = sys.argv[1:]
        path = os.path.join(folder, self.path.removeprefix("/buildid/"))
        if mode == "other":
            path = os.path.join(folder, "other")
        if mode == "never":
            time.sleep(3600)
        if mode == "late":
            time.sleep(2)
        if mode == "error":
            self.send_error(500)
        elif mode == "garbage":
            self.send(b"<html>Welcome to the hotel! Please log in.</html>")
        elif os.path.isfile(path):
            with open(path, "rb") as file:
                self.send(file.read())
        else:
            self.send_error(404)

    def send(self, body):
        self.send_response(200)
        if sys.argv[1] == "cut-size":
            self.send_header("x-debuginfod-size", str(len(body)))
        if not sys.argv[1].startswith("cut"):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if sys.argv[1] == "short" or sys.argv[1].startswith("cut"):
            self.wfile.write(body[:len(body) // 2])
        elif sys.argv[1] == "drip":
            for byte in body:
                self.wfile.write(bytes([byte]))
                time.sleep(0.1)
        else:
            self.wfile.write(body)

    def log_message(self, *args):
        pass


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
