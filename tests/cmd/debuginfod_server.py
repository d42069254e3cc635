#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""debuginfod_server.py MODE FOLDER: a debuginfod server for tests, on a free port of the
loopback, which is the first line that it prints; a line for each request follows.

FOLDER/BUILD-ID/executable and the like are what it has.  MODE: files (all is well), never
(takes connections and says nothing), drip (a byte each tenth of a second), garbage (a page
for whatever is asked), other (FOLDER/other for whatever is asked), short (hangs up in the
middle), error (500), late (answers after two seconds).
"""
import http.server
import os
import sys
import time


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        os.write(1, (self.path + "\n").encode())  # in one piece, whatever thread
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
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if sys.argv[1] == "short":
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
