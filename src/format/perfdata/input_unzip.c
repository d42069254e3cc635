/* SPDX-License-Identifier: GPL-2.0-or-later */
/* input_unzip.c - unpacks compressed records. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "format/perfdata/input_priv.h"

enum {
	/* Limits against decompression bombs: FREE_BYTES may be unpacked from any input; beyond
	 * that, the ratio of unpacked to packed bytes is limited. Copies of 64 KB of the same
	 * stack compress to 50 bytes each, zeros by a factor of 30000, so a file of some megabytes
	 * could keep a reader busy for hours. */
	FREE_BYTES = 256 << 20,
	RATIO_MAX = 10000,
	/* Between two blocks of a frame, zstd expects this many bytes next. */
	BLOCK_HEADER_BYTES = 3
};

/* Compressed records are blocks of a single zstd stream. perf flushes the stream after each record
 * but does not end it, so no record can be read without the previous ones. */
struct perf_unzip {
	ZSTD_DStream *stream;
	ZSTD_inBuffer in;
	size_t expected; /* bytes that complete the current block, and the next header */
	bool full; /* the last call filled its window, so more output can follow */
	bool broken; /* an error was found; nothing is unpacked until a new stream begins */
	uint64_t packed_bytes, plain_bytes; /* bytes read and unpacked in this part */
};

static bool perf_input_unzip_is_bomb(const struct perf_unzip *unzip)
{
	return unzip->plain_bytes > FREE_BYTES &&
	       unzip->plain_bytes / RATIO_MAX > unzip->packed_bytes;
}

int perf_unzip_new(struct perf_unzip **ret_unzip)
{
	struct perf_unzip *unzip = calloc(1, sizeof(*unzip));

	if (!unzip)
		return -ENOMEM;
	unzip->stream = ZSTD_createDStream();
	if (!unzip->stream) {
		free(unzip);
		return -ENOMEM;
	}
	*ret_unzip = unzip;
	return 0;
}

void perf_unzip_free(struct perf_unzip *unzip)
{
	if (!unzip)
		return;
	ZSTD_freeDStream(unzip->stream);
	free(unzip);
}

static void restart(struct perf_unzip *unzip)
{
	(void)ZSTD_DCtx_reset(unzip->stream, ZSTD_reset_session_only);
	unzip->in = (ZSTD_inBuffer){ 0 };
	unzip->expected = 0;
	unzip->full = false;
	unzip->broken = false;
}

void perf_unzip_reset(struct perf_unzip *unzip)
{
	restart(unzip);
	unzip->packed_bytes = 0;
	unzip->plain_bytes = 0;
}

void perf_unzip_break(struct perf_unzip *unzip)
{
	unzip->in = (ZSTD_inBuffer){ 0 };
	unzip->full = false;
	unzip->broken = true;
}

void perf_unzip_feed(struct perf_unzip *unzip, const void *bytes, size_t len)
{
	static const uint8_t magic[4] = { 0x28, 0xb5, 0x2f, 0xfd };

	if (unzip->broken && len >= sizeof(magic) &&
	    memcmp(bytes, magic, sizeof(magic)) == 0)
		restart(unzip);
	unzip->in = (ZSTD_inBuffer){ .src = bytes, .size = len };
	unzip->packed_bytes += len;
}

bool perf_unzip_hungry(const struct perf_unzip *unzip)
{
	return unzip->in.pos == unzip->in.size && !unzip->full;
}

int perf_unzip_into(struct perf_unzip *unzip, struct perf_window *win,
		    uint64_t *ret_bad)
{
	ZSTD_outBuffer out = { .dst = win->own, .size = win->room, .pos = win->len };

	while (!unzip->broken && out.pos < out.size && !perf_unzip_hungry(unzip)) {
		size_t before = out.pos;
		size_t r = ZSTD_decompressStream(unzip->stream, &out, &unzip->in);

		unzip->plain_bytes += out.pos - before;
		unzip->broken = ZSTD_isError(r) || perf_input_unzip_is_bomb(unzip);
		unzip->expected = r;
		unzip->full = out.pos == out.size && out.pos > before;
	}
	win->len = out.pos;
	if (!unzip->broken)
		return 0;
	/* The error can be found at the end of the block that has it. */
	*ret_bad = unzip->in.size - unzip->in.pos;
	if (!*ret_bad)
		*ret_bad = unzip->in.size;
	unzip->in = (ZSTD_inBuffer){ 0 };
	unzip->full = false;
	return -EBADMSG;
}

size_t perf_unzip_unfinished(const struct perf_unzip *unzip)
{
	return !unzip->broken && unzip->expected > BLOCK_HEADER_BYTES ? unzip->in.size
								      : 0;
}
