/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lasting_mounts.h - mounts whose files a recorder may hold open (docs/decisions/0016): those that
 * cannot be unmounted while it runs anyway.
 * Layer: record.  Filled once, then read by any thread. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/vec.h"

#define MOUNT_UNKNOWN UINT64_MAX

struct lasting_mounts {
	VEC(uint64_t) lasting; /* numbers of mounts */
	VEC(uint64_t) first;   /* of all that were there in the beginning */
};

/* Finds them: the mounts of the root directory and of /usr, also as process 1 sees them, of the current
 * directory, of `dir` (the session's), of this program and its libraries, and those that are mounted
 * nowhere (memfd).  `m` starts as zeros.  A mount that cannot be looked up, or that there is no
 * memory for, does not count as lasting. */
void lasting_mounts_init(struct lasting_mounts *m, const char *dir);
void lasting_mounts_done(struct lasting_mounts *m);
/* The number of the mount that `fd` was opened on, from /proc/self/fdinfo, or MOUNT_UNKNOWN. */
uint64_t lasting_mounts_of(int fd);
/* Whether a descriptor on that mount keeps nobody from unmounting it. */
bool lasting_mounts_has(const struct lasting_mounts *m, uint64_t mount);
/* Whether it is the root of a process, which cannot be unmounted while that lives. */
bool lasting_mounts_is_root_of(uint64_t mount, int32_t pid);
/* Whether a mount of our own namespace was there when the recording began. */
bool lasting_mounts_was_there(const struct lasting_mounts *m, uint64_t mount);
