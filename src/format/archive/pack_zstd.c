/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pack_zstd.c - zstd compression. */
#include <errno.h>
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/err.h"
#include "base/files/io.h"
#include "format/archive/pack_priv.h"

enum {
	/* Makes binaries 10% smaller than level 3, in a quarter of the time of bzip2. */
	LEVEL = 7,
	/* Searches for matches in the previous 64 MB. This saves 5% at no cost, because the
	 * programs of an archive share code. Every zstd can read values up to 27. */
	WINDOW_LOG = 26,
	OUTPUT_BYTES = 1 << 17
};

struct zstd_packer {
	int fd;
	ZSTD_CCtx *zstd;
	uint8_t output[OUTPUT_BYTES];
};

static void zstd_free(void *state)
{
	struct zstd_packer *z = state;

	ZSTD_freeCCtx(z->zstd);
	free(z);
}

static int zstd_new(int fd, void **ret_state)
{
	struct zstd_packer *z = calloc(1, sizeof(*z));

	if (!z)
		return -ENOMEM;
	z->fd = fd;
	z->zstd = ZSTD_createCCtx();
	if (!z->zstd) {
		zstd_free(z);
		return -ENOMEM;
	}
	ZSTD_CCtx_setParameter(z->zstd, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(z->zstd, ZSTD_c_windowLog, WINDOW_LOG);
	ZSTD_CCtx_setParameter(z->zstd, ZSTD_c_enableLongDistanceMatching, 1);
	ZSTD_CCtx_setParameter(z->zstd, ZSTD_c_checksumFlag, 1);
	/* Do not use worker threads (ZSTD_c_nbWorkers): with them, libzstd 1.5.4 crashes if memory
	 * is short. */
	*ret_state = z;
	return 0;
}

static int pack_zstd_pack(struct zstd_packer *z, const void *bytes, size_t len,
			  ZSTD_EndDirective how)
{
	ZSTD_inBuffer in = { .src = bytes, .size = len };
	size_t left;
	int r = 0;

	do {
		ZSTD_outBuffer out = { .dst = z->output, .size = sizeof(z->output) };

		left = ZSTD_compressStream2(z->zstd, &out, &in, how);
		if (ZSTD_isError(left))
			return -ENOMEM; /* no other error can occur here */
		r = io_write_all(z->fd, z->output, out.pos);
	} while (!r && (how == ZSTD_e_end ? left != 0 : in.pos < in.size));
	return r;
}

static int zstd_put(void *state, const void *bytes, size_t len)
{
	return pack_zstd_pack(state, bytes, len, ZSTD_e_continue);
}

static int zstd_finish(void *state)
{
	return pack_zstd_pack(state, NULL, 0, ZSTD_e_end);
}

struct zstd_unpacker {
	ZSTD_DCtx *ctx;
	bool begun; /* the input so far ends in the middle of a frame */
};

static void unzstd_free(void *state)
{
	struct zstd_unpacker *u = state;

	if (u)
		ZSTD_freeDCtx(u->ctx);
	free(u);
}

static int unzstd_new(void **ret_state)
{
	struct zstd_unpacker *u = calloc(1, sizeof(*u));

	if (u)
		u->ctx = ZSTD_createDCtx();
	if (!u || !u->ctx) {
		unzstd_free(u);
		return -ENOMEM;
	}
	*ret_state = u;
	return 0;
}

static int unzstd_step(void *state, struct pack_span *in, struct pack_span *out,
		       struct err *err)
{
	ZSTD_inBuffer from = { .src = in->at, .size = in->size, .pos = in->pos };
	ZSTD_outBuffer to = { .dst = out->at, .size = out->size, .pos = out->pos };
	struct zstd_unpacker *u = state;
	size_t n = ZSTD_decompressStream(u->ctx, &to, &from);

	u->begun = n;
	in->pos = from.pos;
	out->pos = to.pos;
	if (!ZSTD_isError(n))
		return 0;
	/* zstd allocates its window after it has read the first frame header. */
	if (ZSTD_getErrorCode(n) == ZSTD_error_memory_allocation)
		return err_set(err, -ENOMEM, "out of memory");
	return err_set(err, -EBADMSG, "damaged: %s", ZSTD_getErrorName(n));
}

static bool unzstd_is_whole(void *state)
{
	const struct zstd_unpacker *u = state;

	return !u->begun;
}

const struct pack_ops pack_zstd = {
	.pack_new = zstd_new,
	.put = zstd_put,
	.finish = zstd_finish,
	.pack_free = zstd_free,
	.unpack_new = unzstd_new,
	.step = unzstd_step,
	.is_whole = unzstd_is_whole,
	.unpack_free = unzstd_free,
};
