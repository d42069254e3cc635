/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lasting_mounts.h - finds the mounts on which a recorder may hold files open
 * (docs/decisions/0016): those that could not be unmounted anyway while it runs.
 * Layer: record. Filled once, then readable by any thread. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/vec.h"

#define MOUNT_UNKNOWN UINT64_MAX

struct lasting_mounts {
	VEC(uint64_t) lasting; /* numbers of mounts */
	VEC(uint64_t) first;   /* mounts that existed at the start */
};

/* Finds the mounts of the root directory and of /usr (also as seen by process 1), of the current
 * directory, of `dir` (the session's), of this program and its libraries, and those without a
 * mount point (memfd).  `m` starts as zeros.  A mount that cannot be looked up or stored does not
 * count as permanent. */
void lasting_mounts_init(struct lasting_mounts *m, const char *dir);
void lasting_mounts_done(struct lasting_mounts *m);
/* Returns the number of the mount on which `fd` is open, from /proc/self/fdinfo, or
 * MOUNT_UNKNOWN. */
uint64_t lasting_mounts_of(int fd);
/* Returns whether the mount could not be unmounted anyway while this process runs, so that an open
 * file on it does no harm. */
bool lasting_mounts_has(const struct lasting_mounts *m, uint64_t mount);
/* Returns whether the mount is the root of a process, which cannot be unmounted while the process
 * lives. */
bool lasting_mounts_is_root_of(uint64_t mount, int32_t pid);
/* Returns whether the mount was in our mount namespace when lasting_mounts_init() was called. */
bool lasting_mounts_was_there(const struct lasting_mounts *m, uint64_t mount);
