#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""on_terminal.py [--press KEYS --after TEXT] [--stderr FILE] COLUMNS COMMAND...

Runs a command on a terminal of COLUMNS by 50 characters and copies the terminal's output to
standard output.  The exit status is the command's, or 128+N after signal N.  KEYS are pressed
once TEXT has appeared ("^C" is Ctrl-C).  With --stderr the standard error is that file instead
of the terminal.
"""

import argparse
import fcntl
import os
import pty
import struct
import sys
import termios
import time


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("columns", type=int)
    parser.add_argument("--press", default="")
    parser.add_argument("--after", default="")
    parser.add_argument("--stderr")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    return parser.parse_args()


def run_command(args):
    if args.stderr:
        fd = os.open(args.stderr, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(fd, 2)
    try:
        os.execvp(args.command[0], args.command)
    except OSError as error:
        print(error, file=sys.stderr)
        os._exit(127)


def prepare(fd, columns):
    """Sets the terminal's size, and turns off output processing and the echo of keys."""
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    mode = termios.tcgetattr(fd)
    mode[1] &= ~termios.OPOST
    mode[3] &= ~termios.ECHO
    termios.tcsetattr(fd, termios.TCSANOW, mode)


def copy(fd, args):
    keys = args.press.replace("^C", "\x03").encode()
    seen = b""
    left = 0
    while True:
        try:
            chunk = os.read(fd, 65536)
        except OSError:
            # EIO: no process has the terminal open any more. The last output can still be on its
            # way through the kernel (seen on a busy machine).
            left += 1
            if left > 3:
                return
            time.sleep(0.02)
            continue
        if not chunk:
            return
        sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()
        seen += chunk
        if keys and args.after.encode() in seen:
            os.write(fd, keys)
            keys = b""


def main():
    args = parse()
    os.environ.pop("COLUMNS", None)
    ready, go = os.pipe()
    pid, fd = pty.fork()
    if pid == 0:
        os.close(go)
        os.read(ready, 1)
        os.close(ready)
        run_command(args)
    prepare(fd, args.columns)
    os.close(ready)
    os.close(go)
    copy(fd, args)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    sys.exit(status if status >= 0 else 128 - status)


main()
