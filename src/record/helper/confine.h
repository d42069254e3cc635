/* SPDX-License-Identifier: GPL-2.0-or-later */
/* confine.h - a process gives up all that reading hostile bytes does not take.
 * Layer: record. */
#pragma once
#include <stdbool.h>

/* Of a child: no capabilities and no way to gain any, nobody's user where it may become that, no core
 * dump and no tracing, no other file than `keep_fd`, which becomes `as_fd`, and /dev/null for the
 * standard ones.  0 or a negative errno: then it must not go on. */
int confine_rights(int keep_fd, int as_fd);
/* No system calls but those on open descriptors, memory, time, and the process' end; no memory with
 * code.  False: this kernel, or who contains us, has no seccomp filters. */
bool confine_calls(void);
