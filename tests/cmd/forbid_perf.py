#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""forbid_perf.py COMMAND [ARGUMENT]...: runs it under a seccomp filter that refuses
perf_event_open(2) with EPERM, like that of container engines for processes without CAP_PERFMON.
Exit status 77: the system call number of this CPU is unknown."""
import ctypes
import errno
import os
import struct
import sys

CALLS = {"x86_64": 298, "aarch64": 241, "s390x": 331} # __NR_perf_event_open
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06 # BPF_LD | BPF_W | BPF_ABS, BPF_JMP | BPF_JEQ | BPF_K, BPF_RET | BPF_K
RET_ERRNO, RET_ALLOW = 0x00050000, 0x7FFF0000

call = CALLS.get(os.uname().machine)
if call is None:
    sys.exit(77)
code = b"".join(struct.pack("=HBBI", *one) for one in (
    (LOAD, 0, 0, 0), (EQUAL, 0, 1, call), (RETURN, 0, 0, RET_ERRNO | errno.EPERM), (RETURN, 0, 0, RET_ALLOW)))
held = ctypes.create_string_buffer(code, len(code))
program = ctypes.create_string_buffer(struct.pack("@HP", len(code) // 8, ctypes.addressof(held)))
prctl = ctypes.CDLL(None, use_errno=True).prctl
if prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program):
    sys.exit("forbid_perf: " + os.strerror(ctypes.get_errno()))
os.execvp(sys.argv[1], sys.argv[1:])
