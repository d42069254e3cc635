# SPDX-License-Identifier: GPL-2.0-or-later
"""A headless Chromium driven by Debian's chromedriver (W3C WebDriver: JSON over HTTP)."""
import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # W3C WebDriver, section 12.1
KEYS = {"Enter": "\ue007", "Shift": "\ue008", "Control": "\ue009", "Tab": "\ue004", "Escape": "\ue00c", "ArrowLeft": "\ue012",
        "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015"}


def is_there():
    return bool(shutil.which("chromium") and shutil.which("chromedriver"))


class Browser:
    """`with Browser() as b:` starts a browser whose files are in a temporary directory."""

    def __init__(self, dark=False, width=1200, height=800, loopback=False):
        self.dark = dark
        self.loopback = loopback
        self.size = f"{width},{height}"

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        env = dict(os.environ, HOME=self.folder.name, TMPDIR=self.folder.name)
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True, env=env)
        port = None
        for line in self.driver.stdout:
            match = re.search(r"successfully on port (\d+)", line)
            if match:
                port = match[1]
                break
        self.base = f"http://127.0.0.1:{port}/session"
        self.session = ""
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        args = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                f"--window-size={self.size}", f"--user-data-dir={self.folder.name}/profile",
                # Allow only files and, with loopback, this machine: other requests of a page fail.
                "--host-resolver-rules=MAP * ~NOTFOUND" + self.loopback * ", EXCLUDE 127.0.0.1",
                "--no-proxy-server"]
        if self.dark:
            args.append("--blink-settings=preferredColorScheme=0")
        made = self.call("POST", "", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:loggingPrefs": {"browser": "ALL"},
            "goog:chromeOptions": {"binary": shutil.which("chromium"), "args": args}}}})
        self.session = "/" + made["sessionId"]
        return self

    def __exit__(self, *_):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.folder.cleanup()

    def call(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.base + self.session + path, data, method=method,
                                         headers={"Content-Type": "application/json"})
        try:
            with self.opener.open(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from error

    def open(self, url):
        self.call("POST", "/url", {"url": url})

    def url(self):
        return self.call("GET", "/url")

    def title(self):
        return self.call("GET", "/title")

    def run(self, script, *args):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(args)})

    def wait(self, script, *args):
        """Runs `script`, which ends by calling its last argument."""
        return self.call("POST", "/execute/async", {"script": script, "args": list(args)})

    def until(self, script, *args):
        """Waits until `script` returns something true; fails after ten seconds."""
        end = time.monotonic() + 10
        while not self.run(script, *args):
            assert time.monotonic() < end, script
            time.sleep(0.02)

    def find(self, selector):
        return self.call("POST", "/element",
                         {"using": "css selector", "value": selector})[ELEMENT]

    def text(self, selector):
        return self.call("GET", f"/element/{self.find(selector)}/text")

    def click(self, selector):
        self.call("POST", f"/element/{self.find(selector)}/click", {})

    def press(self, *keys):
        """Presses the last key while the others are held down."""
        values = [KEYS.get(key, key) for key in keys]
        self.call("POST", "/actions", {"actions": [{
            "type": "key", "id": "keyboard",
            "actions": [{"type": "keyDown", "value": v} for v in values] +
                       [{"type": "keyUp", "value": v} for v in reversed(values)]}]})

    def drag(self, begin, end):
        """Drags the mouse from one point of the window to another."""
        def move(point):
            return {"type": "pointerMove", "duration": 50, "x": round(point[0]), "y": round(point[1])}
        self.call("POST", "/actions", {"actions": [{
            "type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"},
            "actions": [move(begin), {"type": "pointerDown", "button": 0}, move(end),
                        {"type": "pointerUp", "button": 0}]}]})

    def click_at(self, point, times=1):
        """Moves the mouse to a position in the window."""
        press = [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self.call("POST", "/actions", {"actions": [{
            "type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"},
            "actions": [{"type": "pointerMove", "duration": 50, "x": round(point[0]),
                         "y": round(point[1])}] + press * times}]})

    def messages(self):
        """Returns the new messages of the console: errors of scripts and of the content security
        policy."""
        return [entry["message"] for entry in self.call("POST", "/se/log", {"type": "browser"})]

    def resize(self, width, height):
        """Sets the size of the page; a window cannot be as narrow as a telephone."""
        self.call("POST", "/goog/cdp/execute", {
            "cmd": "Emulation.setDeviceMetricsOverride",
            "params": {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}})

    def screenshot(self, path):
        with open(path, "wb") as out:
            out.write(base64.b64decode(self.call("GET", "/screenshot")))
