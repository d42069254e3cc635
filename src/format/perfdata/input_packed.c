/* SPDX-License-Identifier: GPL-2.0-or-later */
/* input_packed.c - opens perf.data files that are compressed as a whole, such as attachments of
 * bug reports. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files/io.h"
#include "base/files/spool.h"
#include "format/archive/pack.h"
#include "format/perfdata/input_priv.h"

enum {
	PIECE_BYTES = 1 << 18,
	MAGIC_BYTES = 8,
	/* Limits for the unpacked size, against decompression bombs. Recordings with stacks, which
	 * are mostly zeros, legitimately expand fifty times. */
	UNPACKED_FREE_BYTES = 1 << 30,
	UNPACKED_RATIO = 200
};

bool perf_input_is_packed(const void *bytes, size_t len)
{
	return packing_of_bytes(bytes, len) != PACKING_NONE;
}

bool perf_input_is_packed_magic(uint8_t *bytes, size_t len)
{
	enum packing packing = packing_of_bytes(bytes, len);
	size_t most = len < PERF_PACKED_HEAD_BYTES ? len : PERF_PACKED_HEAD_BYTES;
	uint8_t magic[MAGIC_BYTES];
	struct pack_span in = { bytes, most, 0 };
	struct pack_span out = { magic, sizeof(magic), 0 };
	struct unpacker *u;
	int r = 0;

	if (packing == PACKING_NONE || unpacker_new(packing, &u))
		return false;
	while (!r && in.pos < in.size && out.pos < out.size)
		r = unpacker_step(u, &in, &out, NULL);
	unpacker_free(u);
	return perf_input_is_perf(magic, out.pos);
}

/* State of the copy from a compressed source to a file. */
struct source_unpacking {
	struct perf_input *in;
	struct unpacker *unpacker;
	int to;
	uint64_t taken, written; /* bytes */
	uint8_t magic[MAGIC_BYTES];
	uint8_t *piece; /* room for the output */
};

/* Writes `len` unpacked bytes to the file. Returns 0, -EBADMSG if it is not a perf.data file,
 * -EFBIG if it exceeds the limits, or an error of write(2). */
static int write_unpacked(struct source_unpacking *u, size_t len)
{
	for (size_t i = 0; i < len && u->written + i < MAGIC_BYTES; i++)
		u->magic[u->written + i] = u->piece[i];
	u->written += len;
	if (u->written >= MAGIC_BYTES && !perf_input_is_perf(u->magic, MAGIC_BYTES))
		return -EBADMSG;
	if (u->written > UNPACKED_FREE_BYTES && u->written / UNPACKED_RATIO > u->taken)
		return -EFBIG;
	return io_write_all(u->to, u->piece, len);
}

/* Decompresses some bytes and writes them. Returns 0, 1 if they are damaged, or a negative
 * errno. */
static int unpack_some(struct source_unpacking *u, uint8_t *bytes, size_t len)
{
	struct pack_span in = { bytes, len, 0 };
	bool more = true;
	int r = 0;

	u->taken += len;
	while (!r && (in.pos < in.size || more)) {
		struct pack_span out = { u->piece, PIECE_BYTES, 0 };
		int bad = in.pos < in.size ? unpacker_step(u->unpacker, &in, &out, NULL)
					   : 0;

		more = out.pos == out.size;
		if (out.pos)
			r = write_unpacked(u, out.pos);
		if (!r && bad == -ENOMEM)
			return bad;
		if (!r && bad) {
			u->in->packed_bad += in.size - in.pos + 1;
			return 1;
		}
	}
	return r;
}

static int unpack_source(struct source_unpacking *u, const void *front, size_t len,
			 struct err *err)
{
	uint8_t *packed = malloc(PIECE_BYTES);
	ssize_t n = (ssize_t)len;
	int r = 0;

	if (!packed)
		return -ENOMEM;
	memcpy(packed, front, len);
	while (!r && n > 0) {
		r = unpack_some(u, packed, (size_t)n);
		if (!r)
			n = perf_source_read(u->in, packed, PIECE_BYTES, err);
	}
	free(packed);
	return n < 0 ? (int)n : r < 0 ? r : 0;
}

static int report_unpacking(const struct perf_input *in,
			    const struct source_unpacking *u, enum packing packing,
			    int r, struct err *err)
{
	if (r == -EBADMSG)
		return err_set(err, r,
			       "'%s' is compressed by %s, but is not a perf.data file",
			       in->name, packing_name(packing));
	if (r == -EOPNOTSUPP)
		return err_set(
			err, r,
			"'%s' is compressed by %s, which this build does not support: decompress it first",
			in->name, packing_name(packing));
	if (r == -EFBIG)
		return err_set(
			err, r,
			"'%s' decompresses to more than %d times its size: decompress it first",
			in->name, UNPACKED_RATIO);
	return err_sys(
		err, r,
		"'%s' cannot be decompressed to $TMPDIR or /var/tmp (after %llu bytes)",
		in->name, (unsigned long long)u->written);
}

int perf_source_unpack(struct perf_input *in, const void *front, size_t len,
		       struct err *err)
{
	enum packing packing = packing_of_bytes(front, len);
	struct source_unpacking u = { .in = in,
				      .to = -1,
				      .piece = malloc(PIECE_BYTES) };
	const char *dir;
	int r = u.piece ? unpacker_new(packing, &u.unpacker) : -ENOMEM;

	if (!r) {
		u.to = spool_open(&dir);
		r = u.to < 0 ? u.to : unpack_source(&u, front, len, err);
	}
	if (!r && u.written < MAGIC_BYTES)
		r = -EBADMSG;
	unpacker_free(u.unpacker);
	free(u.piece);
	if (r) {
		if (u.to >= 0)
			(void)close(u.to);
		return report_unpacking(in, &u, packing, r, err);
	}
	(void)close(in->main_fd);
	in->main_fd = u.to;
	in->main_size = u.written;
	in->source = (struct perf_input_source){ .fd = u.to,
						 .seekable = true,
						 .end = UINT64_MAX };
	return 0;
}
