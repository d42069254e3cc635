/* gzip.h - packs and unpacks gzip files (RFC 1952).
 * Layer: resolve. */
#pragma once
#include <stddef.h>

struct buf;

/* Appends what the file's members hold to `out`, at most `max` bytes.  0, -EBADMSG (malformed
 * or cut short), -EFBIG (more than `max`) or -ENOMEM; then `out` is as it was. */
int gzip_unpack(const void *bytes, size_t len, size_t max, struct buf *out);
/* Appends a file of one member, without a name or time, which holds the bytes.  0 or -ENOMEM. */
int gzip_pack(const void *bytes, size_t len, struct buf *out);
