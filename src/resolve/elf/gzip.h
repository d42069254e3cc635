/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gzip.h - compresses and decompresses gzip files (RFC 1952).
 * Layer: resolve. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct buf;

/* Appends the content of all members to `out`, at most `max` bytes. Returns 0, -EBADMSG
 * (malformed or truncated), -EFBIG (more than `max`, or `len` exceeds UINT_MAX) or -ENOMEM.
 * After an error, `out` is unchanged. */
int gzip_unpack(const void *bytes, size_t len, size_t max, struct buf *out);

/* Compresses data that arrives in chunks to a file of a single member, without a name or time. The
 * output does not depend on the sizes of the chunks. */
struct gzip_packing;
struct gzip_packing *gzip_pack_new(void); /* NULL: out of memory */
/* Compresses the next chunk and appends the available output to `out`. `last` finishes the
 * member; no further call may follow. Returns 0 or -ENOMEM. */
int gzip_pack(struct gzip_packing *g, const void *bytes, size_t len, bool last,
	      struct buf *out);
void gzip_pack_free(struct gzip_packing *g); /* accepts NULL */
