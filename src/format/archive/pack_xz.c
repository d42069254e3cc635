/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pack_xz.c - decompresses xz; streams can follow each other. */
#include <errno.h>
#include <lzma.h>
#include <stdlib.h>

#include "base/err.h"
#include "format/archive/pack_priv.h"

enum {
	MEMORY_MAX_BYTES = 128 << 20 /* the best compression, xz -9, needs half of it */
};

static int unxz_new(void **ret_state)
{
	static const lzma_stream empty = LZMA_STREAM_INIT;
	lzma_stream *s = malloc(sizeof(*s));

	if (!s)
		return -ENOMEM;
	*s = empty;
	if (lzma_stream_decoder(s, MEMORY_MAX_BYTES, LZMA_CONCATENATED) != LZMA_OK) {
		free(s);
		return -ENOMEM;
	}
	*ret_state = s;
	return 0;
}

static void unxz_free(void *state)
{
	lzma_stream *s = state;

	if (s)
		lzma_end(s);
	free(s);
}

static int unxz_step(void *state, struct pack_span *in, struct pack_span *out,
		     struct err *err)
{
	size_t in_len = in->size - in->pos, out_len = out->size - out->pos;
	lzma_stream *s = state;
	lzma_ret r;

	s->next_in = in->at + in->pos;
	s->avail_in = in_len;
	s->next_out = out->at + out->pos;
	s->avail_out = out_len;
	r = lzma_code(s, LZMA_RUN);
	in->pos += in_len - s->avail_in;
	out->pos += out_len - s->avail_out;
	if (r == LZMA_MEM_ERROR)
		return err_set(err, -ENOMEM, "out of memory");
	if (r == LZMA_MEMLIMIT_ERROR)
		return err_set(err, -EBADMSG,
			       "decompression needs more than %d MB of memory",
			       MEMORY_MAX_BYTES >> 20);
	return r == LZMA_OK ? 0 : err_set(err, -EBADMSG, "damaged: invalid xz data");
}

static bool unxz_is_whole(void *state)
{
	uint8_t rest;
	lzma_stream *s = state;

	s->next_in = NULL;
	s->avail_in = 0;
	s->next_out = &rest;
	s->avail_out = sizeof(rest);
	return lzma_code(s, LZMA_FINISH) == LZMA_STREAM_END;
}

const struct pack_ops pack_xz = {
	.unpack_new = unxz_new,
	.step = unxz_step,
	.is_whole = unxz_is_whole,
	.unpack_free = unxz_free,
};
