/* SPDX-License-Identifier: GPL-2.0-or-later */
/* xz_lzma.c - decompresses xz with liblzma. */
#include <errno.h>
#include <lzma.h>

#include "base/buf.h"
#include "resolve/elf/xz.h"

enum {
	FIRST_STEP = 64 << 10
};

static int error_of(lzma_ret r)
{
	if (r == LZMA_MEM_ERROR)
		return -ENOMEM;
	return r == LZMA_MEMLIMIT_ERROR ? -EFBIG : -EBADMSG;
}

/* Decompresses into `out`, which it extends: each step doubles its size. */
static int xz_lzma_run(lzma_stream *s, size_t max, struct buf *out)
{
	size_t start = out->len;

	for (;;) {
		size_t have = out->len - start;
		size_t step = have ? have : FIRST_STEP;
		lzma_ret r;

		/* One byte above the limit shows whether the content is larger. */
		if (step > max - have + 1)
			step = max - have + 1;
		if (!buf_reserve(out, step))
			return -ENOMEM;
		s->next_out = out->data + out->len;
		s->avail_out = step;
		r = lzma_code(s, LZMA_FINISH);
		out->len += step - s->avail_out;
		if (out->len - start > max)
			return -EFBIG;
		if (r == LZMA_STREAM_END)
			return 0;
		if (r != LZMA_OK)
			return error_of(r);
		/* LZMA_OK with free output space: the input is truncated */
		if (s->avail_out)
			return -EBADMSG;
	}
}

int xz_unpack(const void *bytes, size_t len, size_t max, struct buf *out)
{
	lzma_stream s = LZMA_STREAM_INIT;
	lzma_ret made = lzma_stream_decoder(&s, XZ_MEMORY_MAX, 0);
	size_t start = out->len;
	int r;

	if (made != LZMA_OK)
		return error_of(made);
	s.next_in = bytes;
	s.avail_in = len;
	r = xz_lzma_run(&s, max, out);
	lzma_end(&s);
	if (r)
		out->len = start;
	return r;
}

const char *xz_version(void)
{
	return lzma_version_string();
}
