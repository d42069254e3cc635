/* gzip.h - packs and unpacks gzip files (RFC 1952).
 * Layer: resolve. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct buf;

/* Appends what the file's members hold to `out`, at most `max` bytes.  0, -EBADMSG (malformed
 * or cut short), -EFBIG (more than `max`) or -ENOMEM; then `out` is as it was. */
int gzip_unpack(const void *bytes, size_t len, size_t max, struct buf *out);

/* Packs a file of one member, without a name or time, of bytes that come in pieces.  How they are cut
 * makes no difference. */
struct gzip_packing;
struct gzip_packing *gzip_pack_new(void); /* NULL: memory is short */
/* Appends what is packed of it all so far to `out`, and with `last` the rest; nothing is packed behind
 * that.  0 or -ENOMEM. */
int gzip_pack(struct gzip_packing *g, const void *bytes, size_t len, bool last,
	      struct buf *out);
void gzip_pack_free(struct gzip_packing *g); /* NULL is fine */
