/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process_mounts.h - decides whether files can be opened through a process of another user.
 * Layer: base. In a user namespace, any user can mount a file system that a process of this user
 * serves. If the server does not answer, an open hangs, and not even a signal ends it. The
 * decision itself does not wait for any file system. Thread-safe. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Returns whether files below /proc/PID/root may be opened: the process belongs to the caller or
 * root, or the caller or root created its mount namespace. */
bool process_mounts_may_search(int32_t pid);
/* Returns whether the target of a link of the process, such as /proc/PID/exe, may be opened. It may
 * if the process belongs to the caller or root; if the target is on a mount of our mount namespace,
 * or of one that the caller or root created; or if it is on a disk or in memory, because no other
 * user serves these file systems. */
bool process_mounts_may_follow(int32_t pid, const char *link);
