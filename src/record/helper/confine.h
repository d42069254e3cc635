/* SPDX-License-Identifier: GPL-2.0-or-later */
/* confine.h - drops every privilege that reading untrusted files does not need.
 * Layer: record. */
#pragma once
#include <stdbool.h>

/* For a child process: drops all capabilities and every way to regain them, and disables core dumps
 * and tracing.  Changes to an unused user id, or to nobody; where neither is possible, keeps the
 * id.  Closes all files except `keep_fd`, which becomes `as_fd`; the standard streams become
 * /dev/null.  Returns 0 or a negative errno; on failure, the process must not continue. */
int confine_rights(int keep_fd, int as_fd);
/* Allows only system calls on open descriptors, for memory and time, and to exit; forbids
 * executable memory.  Returns false if the kernel or a container does not support seccomp
 * filters. */
bool confine_calls(void);
