/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process_mounts.h - decides whether files can be opened through a process of another user.
 * Layer: base.  In a user namespace, any user can mount a file system that this user serves.
 * If the server does not answer, the caller waits and not even a signal ends it.  The decision
 * itself does not wait for any file system.  Thread-safe. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Returns whether to open files below /proc/PID/root: the process belongs to the caller or root,
 * or the caller or root made its mounts. */
bool process_mounts_may_search(int32_t pid);
/* Returns whether to open the file of a link of the process, such as /proc/PID/exe: also if the
 * file is on a disk or in memory, which no user can mount who serves it. */
bool process_mounts_may_follow(int32_t pid, const char *link);
