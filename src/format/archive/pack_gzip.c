/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pack_gzip.c - decompresses gzip (RFC 1952); members can follow each other. */
#include <errno.h>
#include <stdlib.h>
#define ZLIB_CONST /* makes zlib's input pointers const */
#include <zlib.h>

#include "base/err.h"
#include "format/archive/pack_priv.h"

enum {
	/* zlib's windowBits for data with a gzip header. */
	GZIP_WINDOW = 16 + MAX_WBITS,
	STEP_MAX_BYTES = 1 << 30
};

static int ungzip_new(void **ret_state)
{
	z_stream *z = calloc(1, sizeof(*z));

	if (!z || inflateInit2(z, GZIP_WINDOW) != Z_OK) {
		free(z);
		return -ENOMEM;
	}
	*ret_state = z;
	return 0;
}

static void ungzip_free(void *state)
{
	z_stream *z = state;

	if (z)
		inflateEnd(z);
	free(z);
}

static unsigned int ungzip_span_left(const struct pack_span *s)
{
	size_t left = s->size - s->pos;

	return left > STEP_MAX_BYTES ? STEP_MAX_BYTES : (unsigned int)left;
}

static int ungzip_step(void *state, struct pack_span *in, struct pack_span *out,
		       struct err *err)
{
	unsigned int in_len = ungzip_span_left(in), out_len = ungzip_span_left(out);
	z_stream *z = state;
	int r;

	z->next_in = in->at + in->pos;
	z->avail_in = in_len;
	z->next_out = out->at + out->pos;
	z->avail_out = out_len;
	r = inflate(z, Z_NO_FLUSH);
	in->pos += in_len - z->avail_in;
	out->pos += out_len - z->avail_out;
	if (r == Z_STREAM_END)
		r = inflateReset(z);
	if (r == Z_MEM_ERROR)
		return err_set(err, -ENOMEM, "out of memory");
	return r == Z_OK ? 0 : err_set(err, -EBADMSG, "damaged: invalid gzip data");
}

/* Returns whether the input so far ends between two members. Then total_in is 0, because it counts
 * only the input of the current member. */
static bool ungzip_is_whole(void *state)
{
	const z_stream *z = state;

	return !z->total_in;
}

const struct pack_ops pack_gzip = {
	.unpack_new = ungzip_new,
	.step = ungzip_step,
	.is_whole = ungzip_is_whole,
	.unpack_free = ungzip_free,
};
