/* SPDX-License-Identifier: GPL-2.0-or-later */
/* private_copy.h - a copy of a file that has no name: what a recorder holds in place of a file on a mount that
 * could go away.
 * Layer: record.  Like base/errand.h: a file that takes too long to read is left to a thread. */
#pragma once
#include <stdint.h>
#include <sys/stat.h>

enum {
	PRIVATE_COPY_MAX_BYTES = 256 << 20 /* larger files take too long */
};

/* Copies the file open at `fd`, which it takes in any case and whose `st` is given, to an unlinked file in the
 * folder `dir`, of the same size, time and right to be read by others.  The file's descriptor, or a negative
 * errno: -EFBIG (too large, or nearly all holes), -ESTALE (it was written to meanwhile), -ETIMEDOUT, ... */
int private_copy_take(int fd, const struct stat *st, const char *dir);
