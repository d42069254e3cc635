/* SPDX-License-Identifier: GPL-2.0-or-later */
/* private_copy.h - copies a file to an unnamed one, which a recorder holds instead of a file on a
 * removable mount.
 * Layer: record. A thread reads the file; if that takes too long, the caller does not wait for it
 * (base/async_call.h). */
#pragma once
#include <stdint.h>
#include <sys/stat.h>

enum {
	PRIVATE_COPY_MAX_BYTES = 256 << 20 /* larger files take too long */
};

/* Copies the file open at `fd` to an unlinked file in directory `dir`.  Always takes ownership of
 * `fd`; `st` is its state, and
 * `user` as in async_call.h.  The copy has the same size, time and read permission for others.
 * Returns its descriptor, or a negative errno: -EFBIG (too large, or nearly all holes), -ESTALE
 * (modified meanwhile), -ETIMEDOUT, ... */
/* -EDQUOT: the user has used up the bytes that may be copied for this user, which increase with
 * time. */
int private_copy_take(int fd, const struct stat *st, uint64_t user, const char *dir);
/* Returns the CPU time of this process for all copies, also those of copy_list.h. Users cause
 * copies, so this time is not a cost of sampling. */
uint64_t copies_cpu_ns(void);
/* Adds the CPU time of the calling thread since CLOCK_THREAD_CPUTIME_ID was `since_ns`. */
void copies_add_cpu(uint64_t since_ns);
