/* SPDX-License-Identifier: GPL-2.0-or-later */
/* column_encode.c - encodes a column of numbers in the smallest form. */
#define ZSTD_STATIC_LINKING_ONLY /* for ZSTD_c_literalCompressionMode */
#include "format/session/column.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <zstd.h>

enum {
	/* Measured on recordings: levels up to 9 save no bytes, and short matches need more bytes
	 * than entropy coding. Only long matches are useful. */
	ZSTD_LEVEL = 1,
	ZSTD_MIN_MATCH = 7,
	ZSTD_WORTH_BYTES = 24, /* the overhead of a zstd frame is about 12 bytes */
	ZSTD_SKIP =
		/* the maximum number of bytes that the match search can skip */
		1 << 17,
	ZSTD_LITERALS_PACKED = 1, /* ZSTD_ps_enable, or ZSTD_lcm_huffman before 1.5 */
	ZSTD_HASH_LOG_LEAST = 6,
	RUNS_LEAST = 8, /* minimum average length of runs, in bytes */
	CLASS_COUNT = 65,
	/* Planes of wider values were never smaller than octaves. */
	PLANES_WIDTH_MAX = 4,
	STEPS_BITS = 32, /* of the unit */
	LOG2_ONE = 256   /* fixed-point unit of the estimates */
};

/* The approximate size of the values when encoded as `kind`. */
struct estimate {
	uint64_t base; /* the minimum (signed), which is subtracted from each value */
	unsigned int width; /* bytes of the largest value after the subtraction */
	enum column_kind kind;
	uint64_t bits;
};

int column_encoder_init(struct column_encoder *e)
{
	*e = (struct column_encoder){ 0 };
	e->zstd = ZSTD_createCCtx();
	if (!e->zstd)
		return -ENOMEM;
	if (ZSTD_isError(ZSTD_CCtx_setParameter(e->zstd, ZSTD_c_compressionLevel,
						ZSTD_LEVEL)) ||
	    ZSTD_isError(
		    ZSTD_CCtx_setParameter(e->zstd, ZSTD_c_minMatch, ZSTD_MIN_MATCH))) {
		column_encoder_done(e);
		return -ENOMEM;
	}
	return 0;
}

void column_encoder_done(struct column_encoder *e)
{
	ZSTD_freeCCtx(e->zstd);
	e->zstd = NULL;
	buf_done(&e->packed);
	buf_done(&e->plane);
	vec_done(&e->run_lens);
	vec_done(&e->run_values);
	vec_done(&e->steps);
}

static unsigned int class_of(uint64_t v)
{
	return v ? 64 - (unsigned int)__builtin_clzll(v) : 0;
}

/* Returns log2 in units of 1/LOG2_ONE. Interpolates with a parabola between powers of 2; the
 * error is less than 0.01. */
static uint64_t log2_fixed(uint64_t v)
{
	unsigned int whole = class_of(v | 1) - 1;
	uint64_t part = (v << 8 >> whole) - LOG2_ONE;

	if (!v)
		return 0;
	return (uint64_t)whole * LOG2_ONE + part +
	       (part * (LOG2_ONE - part) * 88 >> 16);
}

/* Returns how many bits an entropy coder needs for symbols with these counts, including its
 * table. */
static uint64_t entropy_bits(const uint32_t *counts, size_t nr_symbols, size_t nr)
{
	uint64_t sum = nr * log2_fixed(nr);
	uint64_t used = 0;
	uint64_t bits;

	for (size_t i = 0; i < nr_symbols; i++) {
		if (!counts[i])
			continue;
		used++;
		sum -= counts[i] * log2_fixed(counts[i]);
	}
	if (used == 1)
		return 16;
	bits = sum / LOG2_ONE;
	if (bits < nr)
		bits = nr; /* a Huffman code has at least one bit */
	bits += 16 * 8 + used * 5;
	return bits < nr * 8 ? bits : nr * 8 + 8;
}

/* Turns zstd's match search on or off. The lower bytes of numbers repeat only by chance; such
 * matches need more space than entropy-coded bytes, and more time. Returns false if this zstd
 * version cannot compress without matches. */
static bool set_matches(struct column_encoder *e, bool wanted)
{
	ZSTD_CCtx *zstd = e->zstd;

	if (e->no_matches == !wanted)
		return true;
#ifdef ZSTD_c_literalCompressionMode
	if (ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_literalCompressionMode,
						wanted ? 0 : ZSTD_LITERALS_PACKED)))
		return false;
#else
	return false;
#endif
	(void)ZSTD_CCtx_setParameter(zstd, ZSTD_c_targetLength, wanted ? 0 : ZSTD_SKIP);
	(void)ZSTD_CCtx_setParameter(zstd, ZSTD_c_hashLog,
				     wanted ? 0 : ZSTD_HASH_LOG_LEAST);
	e->no_matches = !wanted;
	return true;
}

static bool has_runs(const uint8_t *bytes, size_t len)
{
	size_t nr_runs = 1;

	for (size_t i = 1; i < len; i++)
		nr_runs += bytes[i] != bytes[i - 1];
	return nr_runs <= len / RUNS_LEAST;
}

static int put_plane(struct column_encoder *e, const uint8_t *bytes, size_t len,
		     bool is_text, struct buf *out)
{
	size_t packed_len;

	if (len && !memcmp(bytes, bytes + 1, len - 1)) {
		buf_put_u8(out, PLANE_FILL);
		buf_put_u8(out, bytes[0]);
		return out->failed ? -ENOMEM : 0;
	}
	packed_len = len;
	if (len >= ZSTD_WORTH_BYTES) {
		(void)set_matches(e, is_text || has_runs(bytes, len));
		buf_clear(&e->packed);
		if (!buf_reserve(&e->packed, ZSTD_compressBound(len)))
			return -ENOMEM;
		packed_len = ZSTD_compress2(e->zstd, e->packed.data, e->packed.cap,
					    bytes, len);
		/* The buffer is large enough, so this is the only possible error. */
		if (ZSTD_isError(packed_len))
			return -ENOMEM;
	}
	if (packed_len + 3 < len) {
		buf_put_u8(out, PLANE_ZSTD);
		buf_put_varint(out, packed_len);
		buf_put(out, e->packed.data, packed_len);
	} else {
		buf_put_u8(out, PLANE_RAW);
		buf_put(out, bytes, len);
	}
	return out->failed ? -ENOMEM : 0;
}

int column_encode_bytes(struct column_encoder *e, const uint8_t *bytes, size_t len,
			struct buf *out)
{
	return len ? put_plane(e, bytes, len, true, out) : 0;
}

/* Returns the estimated bits of the values as planes. Stops when the sum reaches `enough`. */
static uint64_t planes_bits(const uint64_t *v, size_t nr, uint64_t base,
			    unsigned int width, uint64_t enough)
{
	uint64_t bits = 0;

	for (unsigned int plane = width; plane-- > 0 && bits < enough;) {
		uint32_t counts[256] = { 0 };

		for (size_t i = 0; i < nr; i++)
			counts[(v[i] - base) >> (8 * plane) & 0xff]++;
		bits += entropy_bits(counts, 256, nr);
	}
	return bits;
}

/* Estimates the size of the values as OCTAVES and as PLANES with this base, and returns the
 * smaller estimate. */
static struct estimate estimate_over(const uint64_t *v, size_t nr, uint64_t base)
{
	struct estimate est = { .kind = COLUMN_OCTAVES, .base = base };
	uint32_t counts[CLASS_COUNT] = { 0 };
	uint64_t all = 0;
	uint64_t planes;

	for (size_t i = 0; i < nr; i++) {
		uint64_t rest = v[i] - base;
		unsigned int class = class_of(rest);

		all |= rest;
		counts[class]++;
		est.bits += class ? class - 1 : 0;
	}
	est.width = (class_of(all) + 7) / 8;
	if (!est.width) {
		est.kind = COLUMN_CONST;
		return est;
	}
	est.bits += entropy_bits(counts, CLASS_COUNT, nr);
	if (est.width > PLANES_WIDTH_MAX)
		return est;
	planes = planes_bits(v, nr, base, est.width, est.bits);
	if (planes < est.bits) {
		est.kind = COLUMN_PLANES;
		est.bits = planes;
	}
	return est;
}

/* Estimates the size of the values without runs or steps. The base is the smallest value as a
 * signed or as an unsigned number, whichever is better. These differ only if the values have
 * different signs: small numbers around 0 need the signed minimum, small and a few huge unsigned
 * numbers the unsigned one. */
static struct estimate estimate_plain(const uint64_t *v, size_t nr)
{
	int64_t least = INT64_MAX;
	uint64_t unsigned_least = UINT64_MAX;
	uint64_t differ = 0;
	struct estimate est;
	struct estimate other;

	for (size_t i = 0; i < nr; i++) {
		least = (int64_t)v[i] < least ? (int64_t)v[i] : least;
		unsigned_least = v[i] < unsigned_least ? v[i] : unsigned_least;
		differ |= v[i] ^ v[0];
	}
	if (!differ)
		return (struct estimate){ .kind = COLUMN_CONST,
					  .base = (uint64_t)least };
	est = estimate_over(v, nr, (uint64_t)least);
	if ((uint64_t)least == unsigned_least)
		return est;
	other = estimate_over(v, nr, unsigned_least);
	return other.bits < est.bits ? other : est;
}

static int put_planes(struct column_encoder *e, const uint64_t *v, size_t nr,
		      const struct estimate *est, struct buf *out)
{
	buf_put_u8(out, (uint8_t)est->width);
	for (unsigned int plane = 0; plane < est->width; plane++) {
		int r;

		for (size_t i = 0; i < nr; i++)
			e->plane.data[i] = (uint8_t)((v[i] - est->base) >> (8 * plane));
		r = put_plane(e, e->plane.data, nr, false, out);
		if (r)
			return r;
	}
	return 0;
}

/* Appends bits to a little-endian bit string, low bits first. */
struct bit_sink {
	uint8_t *at;
	uint64_t held;
	unsigned int nr_held; /* less than 8 between calls */
};

static void column_encode_put_bits(struct bit_sink *s, uint64_t v, unsigned int nr)
{
	if (nr > 32) {
		column_encode_put_bits(s, v & 0xffffffff, 32);
		v >>= 32;
		nr -= 32;
	}
	s->held |= v << s->nr_held;
	s->nr_held += nr;
	while (s->nr_held >= 8) {
		*s->at++ = (uint8_t)s->held;
		s->held >>= 8;
		s->nr_held -= 8;
	}
}

static int put_octaves(struct column_encoder *e, const uint64_t *v, size_t nr,
		       const struct estimate *est, struct buf *out)
{
	struct bit_sink sink = { 0 };
	uint64_t nr_bits = 0;
	int r;

	for (size_t i = 0; i < nr; i++) {
		unsigned int class = class_of(v[i] - est->base);

		e->plane.data[i] = (uint8_t) class;
		nr_bits += class ? class - 1 : 0;
	}
	r = put_plane(e, e->plane.data, nr, false, out);
	if (r || !buf_reserve(out, nr_bits / 8 + 1))
		return -ENOMEM;
	sink.at = out->data + out->len;
	for (size_t i = 0; i < nr; i++) {
		unsigned int class = e->plane.data[i];

		if (class > 1)
			column_encode_put_bits(&sink,
					       (v[i] - est->base) ^ 1ULL << (class - 1),
					       class - 1);
	}
	if (sink.nr_held)
		*sink.at++ = (uint8_t)sink.held;
	out->len += (nr_bits + 7) / 8;
	return 0;
}

static int put_plain(struct column_encoder *e, const uint64_t *v, size_t nr,
		     const struct estimate *est, struct buf *out)
{
	buf_clear(&e->plane);
	if (!buf_reserve(&e->plane, nr))
		return -ENOMEM;
	buf_put_u8(out, (uint8_t)est->kind);
	buf_put_svarint(out, (int64_t)est->base);
	if (est->kind == COLUMN_PLANES)
		return put_planes(e, v, nr, est, out);
	if (est->kind == COLUMN_OCTAVES)
		return put_octaves(e, v, nr, est, out);
	return out->failed ? -ENOMEM : 0;
}

static size_t count_runs(const uint64_t *v, size_t nr)
{
	size_t nr_runs = 1;

	for (size_t i = 1; i < nr; i++)
		nr_runs += v[i] != v[i - 1];
	return nr_runs;
}

static bool split_runs(struct column_encoder *e, const uint64_t *v, size_t nr,
		       size_t nr_runs)
{
	size_t run = 0;
	size_t begin = 0;

	if (!vec_reserve(&e->run_lens, nr_runs) ||
	    !vec_reserve(&e->run_values, nr_runs))
		return false;
	for (size_t i = 1; i <= nr; i++) {
		if (i < nr && v[i] == v[begin])
			continue;
		e->run_lens.at[run] = i - begin - 1;
		e->run_values.at[run++] = v[begin];
		begin = i;
	}
	return true;
}

/* Encodes the values as runs if the estimate is smaller than `plain`. Returns 1 if it did, 0 if
 * not, or -ENOMEM. */
static int try_runs(struct column_encoder *e, const uint64_t *v, size_t nr,
		    const struct estimate *plain, struct buf *out)
{
	size_t nr_runs = count_runs(v, nr);
	struct estimate lens;
	struct estimate values;
	int r;

	if (nr_runs > nr / 2)
		return 0;
	if (!split_runs(e, v, nr, nr_runs))
		return -ENOMEM;
	lens = estimate_plain(e->run_lens.at, nr_runs);
	values = estimate_plain(e->run_values.at, nr_runs);
	if (lens.bits + values.bits >= plain->bits)
		return 0;
	buf_put_u8(out, COLUMN_RUNS);
	buf_put_varint(out, nr_runs);
	r = put_plain(e, e->run_lens.at, nr_runs, &lens, out);
	if (!r)
		r = put_plain(e, e->run_values.at, nr_runs, &values, out);
	return r ? r : 1;
}

static uint64_t magnitude(uint64_t v)
{
	return (int64_t)v < 0 ? -v : v;
}

/* Returns the greatest common divisor of all values, taken as signed. For most columns it is 1,
 * which is detected early. */
static uint64_t common_unit(const uint64_t *v, size_t nr)
{
	uint64_t unit = 0;

	for (size_t i = 0; i < nr && unit != 1; i++) {
		uint64_t rest = magnitude(v[i]);

		while (rest) {
			uint64_t next = unit % rest;

			unit = rest;
			rest = next;
		}
	}
	return unit;
}

/* Encodes the values as multiples of a unit if the estimate is smaller than `plain`. Returns 1
 * if it did, 0 if not, or -ENOMEM. */
static int try_steps(struct column_encoder *e, const uint64_t *v, size_t nr,
		     const struct estimate *plain, struct buf *out)
{
	uint64_t unit = common_unit(v, nr);
	struct estimate steps;
	int r;

	if (unit <= 1 || unit > INT64_MAX)
		return 0;
	if (!vec_reserve(&e->steps, nr))
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		e->steps.at[i] = zigzag((uint64_t)((int64_t)v[i] / (int64_t)unit));
	steps = estimate_plain(e->steps.at, nr);
	if (steps.bits + STEPS_BITS >= plain->bits)
		return 0;
	buf_put_u8(out, COLUMN_STEPS);
	buf_put_varint(out, unit);
	r = put_plain(e, e->steps.at, nr, &steps, out);
	return r ? r : 1;
}

int column_encode(struct column_encoder *e, const uint64_t *v, size_t nr,
		  struct buf *out)
{
	struct estimate est;
	int r;

	if (!nr)
		return 0;
	est = estimate_plain(v, nr);
	if (est.kind != COLUMN_CONST) {
		r = try_runs(e, v, nr, &est, out);
		if (!r)
			r = try_steps(e, v, nr, &est, out);
		if (r)
			return r < 0 ? r : 0;
	}
	return put_plain(e, v, nr, &est, out);
}
