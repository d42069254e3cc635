/* SPDX-License-Identifier: GPL-2.0-or-later */
/* column.h - compresses sequences of integers and bytes, and decompresses them.
 * Layer: format, private to it.  The codecs are described in docs/format.md, section 4. The
 * decoder is bounded by the number of values that the caller requests. The input never decides
 * how much memory is used. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/containers/vec.h"
#include "base/cursor.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

enum {
	COLUMN_VALUES_MAX = 1 << 20 /* maximum number of values of a column */
};

enum column_kind {
	COLUMN_CONST, /* all values are equal */
	COLUMN_PLANES, /* first byte 0 of all values, then byte 1 of all values, and so on */
	/* first the number of significant bits of each value, then all bits below the highest
	 * one */
	COLUMN_OCTAVES,
	COLUMN_RUNS,  /* runs of equal values: first their lengths, then their values */
	COLUMN_STEPS, /* all values are multiples of a unit, positive or negative */
	COLUMN_KIND_COUNT
};

enum plane_kind {
	PLANE_FILL, /* all bytes are equal */
	PLANE_RAW,
	PLANE_ZSTD,
	PLANE_KIND_COUNT
};

struct column_encoder {
	struct ZSTD_CCtx_s *zstd;
	bool no_matches;   /* the match search of zstd is currently off */
	struct buf packed; /* output of zstd */
	struct buf plane;  /* input of zstd */
	VEC(uint64_t) run_lens;
	VEC(uint64_t) run_values;
	VEC(uint64_t) steps;
};

struct column_decoder {
	struct ZSTD_DCtx_s *zstd;
	struct buf plane;
	VEC(uint64_t) run_lens;
	VEC(uint64_t) run_values;
	VEC(uint64_t) steps;
};

/* Initializes an encoder. Returns 0 or -ENOMEM. */
int column_encoder_init(struct column_encoder *e);
void column_encoder_done(struct column_encoder *e);
/* Encode `nr` values (at most COLUMN_VALUES_MAX) and append them to `out`; append nothing if `nr`
 * is 0. Return 0 or -ENOMEM. */
int column_encode(struct column_encoder *e, const uint64_t *v, size_t nr,
		  struct buf *out);
int column_encode_bytes(struct column_encoder *e, const uint8_t *bytes, size_t len,
			struct buf *out);

int column_decoder_init(struct column_decoder *d);
void column_decoder_done(struct column_decoder *d);
/* Reads exactly `nr` values into `v`. Returns 0, -EBADMSG or -ENOMEM. */
int column_decode(struct column_decoder *d, struct cursor *in, uint64_t *v, size_t nr);
/* Like column_decode(), but stores the low 32 bits of each value. */
int column_decode_u32(struct column_decoder *d, struct cursor *in, uint32_t *v,
		      size_t nr);
int column_decode_bytes(struct column_decoder *d, struct cursor *in, uint8_t *bytes,
			size_t len);

static inline uint64_t zigzag(uint64_t v)
{
	return v << 1 ^ -(v >> 63);
}

static inline uint64_t unzigzag(uint64_t v)
{
	return v >> 1 ^ -(v & 1);
}
