# SPDX-License-Identifier: GPL-2.0-or-later
"""Shared by the tests of pages: runs commands, and tests in a browser whose results are printed as
TAP."""
import os
import re
import subprocess
import sys
import tempfile
import traceback

import browser as chromium

ASSEMBLER = "\n".join(f".globl {f}\n.type {f},%function\n{f}: .fill 4096, 1, 0\n.size {f}, 4096"
                      for f in ("leaf", "mid", "outer")) + "\n"


def sh(*argv, **more):
    return subprocess.run(argv, check=True, capture_output=True, text=True, **more).stdout


def write_session(writer, session, lines):
    os.makedirs(os.path.join(session, "samples", "current"))
    subprocess.run([writer, os.path.join(session, "samples/current/segment-000001")],
                   input="\n".join(lines) + "\n", text=True, check=True)


def library(folder, leaf):
    """Makes a library of three functions, the first of which is called `leaf`. Returns its path,
    build-id, and the offset of each function for write_session."""
    binary = os.path.join(folder, "lib.so")
    sh("as", "-o", binary + ".o", input=ASSEMBLER)
    sh("ld", "-shared", "--build-id", "-o", binary, binary + ".o")
    sh("objcopy", "--redefine-sym", f"leaf={leaf}", binary)
    text = int(re.search(r" \.text +PROGBITS +\w+ (\w+)", sh("readelf", "-SW", binary))[1], 16)
    build_id = re.search(r"Build ID: (\w+)", sh("readelf", "-n", binary))[1]
    return binary, build_id, [f"0+{text + 4096 * i + 16}" for i in range(3)]


def run(tests, make, **browser):
    """make(folder) returns the arguments that each test gets after the browser."""
    if not chromium.is_there():
        print("1..0 # SKIP chromium and chromedriver are not here: scripts/deps.sh page")
        return
    failed = False
    print(f"1..{len(tests)}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        made = make(folder)
        with chromium.Browser(**browser) as b:
            for i, test in enumerate(tests):
                try:
                    test(b, *made)
                    print(f"ok {i + 1} - {test.__doc__}", flush=True)
                except Exception:  # any exception means that the page is broken
                    failed = True
                    print(f"not ok {i + 1} - {test.__doc__}")
                    print("# " + traceback.format_exc().replace("\n", "\n# "), flush=True)
    sys.exit(failed)
