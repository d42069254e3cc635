/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/elf/gzip.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#define ZLIB_CONST /* makes zlib's input pointers const */
#include <zlib.h>

#include "base/buf.h"

enum {
	STEP = 256 << 10,
	GZIP_WINDOW = 16 + MAX_WBITS, /* with gzip's header */
	GZIP_MEMORY = 8,              /* zlib's own default */
	GZIP_LEVEL = 3 /* takes half the time of the default, for 10 % more bytes */
};

/* Decompresses into the free space of `out`, which it extends. Returns 1 at the end of a
 * member. */
static int gzip_step(z_stream *z, size_t start, size_t max, struct buf *out)
{
	int status;

	if (!buf_reserve(out, STEP))
		return -ENOMEM;
	z->next_out = out->data + out->len;
	z->avail_out = STEP;
	status = inflate(z, Z_NO_FLUSH);
	out->len += STEP - z->avail_out;
	if (out->len - start > max)
		return -EFBIG;
	if (status == Z_STREAM_END)
		return 1;
	if (status == Z_MEM_ERROR)
		return -ENOMEM;
	/* Z_BUF_ERROR: the input is truncated. */
	return status == Z_OK ? 0 : -EBADMSG;
}

int gzip_unpack(const void *bytes, size_t len, size_t max, struct buf *out)
{
	z_stream z = { 0 };
	size_t start = out->len;
	int r;

	if (len > UINT_MAX)
		return -EFBIG;
	if (inflateInit2(&z, GZIP_WINDOW) != Z_OK)
		return -ENOMEM;
	z.next_in = bytes;
	z.avail_in = (uInt)len;
	do {
		r = gzip_step(&z, start, max, out);
		if (r == 1 && z.avail_in)
			r = inflateReset(&z) == Z_OK ? 0 : -EBADMSG;
	} while (!r);
	inflateEnd(&z);
	if (r < 0)
		out->len = start;
	return r < 0 ? r : 0;
}

struct gzip_packing {
	z_stream z;
};

struct gzip_packing *gzip_pack_new(void)
{
	struct gzip_packing *g = calloc(1, sizeof(*g));

	if (g && deflateInit2(&g->z, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
			      Z_DEFAULT_STRATEGY) == Z_OK)
		return g;
	free(g);
	return NULL;
}

void gzip_pack_free(struct gzip_packing *g)
{
	if (g)
		deflateEnd(&g->z);
	free(g);
}

/* Compresses bytes. deflate() accepts at most UINT_MAX bytes at once, so the input is passed in
 * steps. */
int gzip_pack(struct gzip_packing *g, const void *bytes, size_t len, bool last,
	      struct buf *out)
{
	z_stream *z = &g->z;

	z->next_in = bytes;
	do {
		size_t some = len < STEP ? len : STEP;

		z->avail_in = (uInt)some;
		len -= some;
		do {
			if (!buf_reserve(out, STEP))
				return -ENOMEM;
			z->next_out = out->data + out->len;
			z->avail_out = STEP;
			(void)deflate(z, last && !len ? Z_FINISH : Z_NO_FLUSH);
			out->len += STEP - z->avail_out;
		} while (!z->avail_out);
	} while (len);
	return 0;
}
