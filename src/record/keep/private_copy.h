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
 * `fd`; `st` is its state, and `user` as in async_call.h.  The copy has the same size, time and
 * read permission for others.  Copies of one user's files are limited in bytes at once and per
 * second.  Returns its descriptor, or a negative errno: -EDQUOT (that limit), -EFBIG (too large, or
 * nearly all holes), -ESTALE (modified meanwhile), -ETIMEDOUT, ... */
int private_copy_take(int fd, const struct stat *st, uint64_t user, const char *dir);
