# SPDX-License-Identifier: GPL-2.0-or-later
"""swap_loop.py USER A B: as user USER, the owner of their directory, exchanges two names
continuously until it is killed."""
import ctypes
import os
import sys

RENAME_EXCHANGE = 2
AT_FDCWD = -100
libc = ctypes.CDLL(None)
one, other = (name.encode() for name in sys.argv[2:4])
os.setgroups([])
os.setgid(int(sys.argv[1]))
os.setuid(int(sys.argv[1]))
while True:
    libc.renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE)
