/* SPDX-License-Identifier: GPL-2.0-or-later */
/* xz.h - decompresses an xz stream.
 * Layer: resolve. A build without liblzma compiles xz_none.c instead of xz_lzma.c. */
#pragma once
#include <stddef.h>

struct buf;

/* Appends the content of the stream to `out`, at most `max` bytes. Returns 0, -EBADMSG
 * (malformed or truncated), -EFBIG (more than `max`, or decompression needs more than
 * XZ_MEMORY_MAX bytes), -ENOMEM, or -EOPNOTSUPP without liblzma. */
enum {
	XZ_MEMORY_MAX = 128 << 20 /* limit for the memory of the decompressor; the best
				   * compression, xz -9, needs half of it */
};
int xz_unpack(const void *bytes, size_t len, size_t max, struct buf *out);
/* Returns liblzma's version, or NULL in a build without liblzma. */
const char *xz_version(void);
