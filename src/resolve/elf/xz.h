/* xz.h - unpacks an xz stream.
 * Layer: resolve.  A build without liblzma has xz_none.c instead of xz_lzma.c. */
#pragma once
#include <stddef.h>

struct buf;

/* Appends what the stream holds to `out`, at most `max` bytes.  0, -EBADMSG (malformed or
 * cut short), -EFBIG (more than `max`, or it wants more than XZ_MEMORY_MAX to unpack),
 * -ENOMEM, or -EOPNOTSUPP without liblzma. */
enum {
	XZ_MEMORY_MAX = 128 << 20 /* the best compression, xz -9, needs half */
};
int xz_unpack(const void *bytes, size_t len, size_t max, struct buf *out);
/* The library's version, NULL in a build without it. */
const char *xz_version(void);
