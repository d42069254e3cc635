# SPDX-License-Identifier: GPL-2.0-or-later
"""gdb_callers.py - run by gdb: finds the callers of FUNCTIONS when each is first entered.

  FUNCTIONS="NAME..." gdb -nx -batch -x gdb_callers.py --args PROGRAM... >OUT

Prints one line for each function: its name and the return addresses of its callers as perf prints
them, as addresses in their files.
"""
import os
import re

import gdb


def mappings(pid):
    with open(f"/proc/{pid}/maps", encoding="ascii") as lines:
        for line in lines:
            m = re.match(r"(\w+)-(\w+) (\S+) (\w+)", line)
            if "x" in m[3]:
                yield int(m[1], 16), int(m[2], 16), int(m[4], 16)


def in_file(pc, maps):
    """Returns the address in the file. With current linkers, code has the same address and file
    offset."""
    return next((pc - start + offset for start, end, offset in maps if start <= pc < end), pc)


def main():
    names = os.environ["FUNCTIONS"].split()
    for line in ("set pagination off", "set confirm off", "set backtrace past-main on",
                 "set backtrace past-entry on", "set debuginfod enabled off",
                 "set print thread-events off"):
        gdb.execute(line, to_string=True)
    for name in names:
        gdb.Breakpoint(name, temporary=True)
    gdb.execute("run", to_string=True)
    for _ in names:
        maps = list(mappings(gdb.selected_inferior().pid))
        frame = gdb.newest_frame()
        name, callers = frame.name(), []
        while frame.older() is not None:
            frame = frame.older()
            if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
                callers.append(f"{in_file(frame.pc(), maps):x}")
        print("callers", name, *callers, flush=True)
        if len(names) == 1:
            break
        gdb.execute("continue", to_string=True)
    gdb.execute("kill", to_string=True)


main()
