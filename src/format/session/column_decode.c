/* SPDX-License-Identifier: GPL-2.0-or-later */
/* column_decode.c - decodes a column of numbers. */
#include "format/session/column.h"

#include <errno.h>
#include <string.h>
#include <zstd.h>

enum {
	CLASS_MAX = 64,
	/* the bits that an 8-byte load provides at any bit offset in a byte */
	BITS_AT_ONCE = 56
};

int column_decoder_init(struct column_decoder *d)
{
	*d = (struct column_decoder){ 0 };
	d->zstd = ZSTD_createDCtx();
	return d->zstd ? 0 : -ENOMEM;
}

void column_decoder_done(struct column_decoder *d)
{
	ZSTD_freeDCtx(d->zstd);
	d->zstd = NULL;
	buf_done(&d->plane);
	vec_done(&d->run_lens);
	vec_done(&d->run_values);
	vec_done(&d->steps);
}

/* Returns the `len` bytes of a plane, borrowed from the input or unpacked into `room`, or NULL if
 * it is malformed. */
static const uint8_t *take_plane(struct column_decoder *d, struct cursor *in,
				 uint8_t *room, size_t len)
{
	uint8_t kind = cursor_u8(in);
	uint64_t packed_len;
	const uint8_t *packed;

	if (kind == PLANE_RAW)
		return cursor_take(in, len);
	if (kind == PLANE_FILL) {
		memset(room, cursor_u8(in), len);
		return in->failed ? NULL : room;
	}
	if (kind != PLANE_ZSTD)
		return NULL;
	packed_len = cursor_varint(in);
	packed = cursor_take(in, packed_len);
	if (!packed ||
	    ZSTD_decompressDCtx(d->zstd, room, len, packed, packed_len) != len)
		return NULL;
	return room;
}

int column_decode_bytes(struct column_decoder *d, struct cursor *in, uint8_t *bytes,
			size_t len)
{
	const uint8_t *plane;

	if (!len)
		return 0;
	plane = take_plane(d, in, bytes, len);
	if (!plane)
		return -EBADMSG;
	if (plane != bytes)
		memcpy(bytes, plane, len);
	return 0;
}

/* Where decoded values are stored; narrow ones modulo 2^32. */
struct column_decode_sink {
	bool is_narrow;
	union {
		uint64_t *wide;
		uint32_t *narrow;
	};
};

static void column_decode_fill(const struct column_decode_sink *to, uint64_t value,
			       size_t nr)
{
	if (to->is_narrow) {
		for (size_t i = 0; i < nr; i++)
			to->narrow[i] = (uint32_t)value;
	} else {
		for (size_t i = 0; i < nr; i++)
			to->wide[i] = value;
	}
}

static void add_plane(const struct column_decode_sink *to, const uint8_t *bytes,
		      unsigned int shift, size_t nr)
{
	if (!to->is_narrow) {
		for (size_t i = 0; i < nr; i++)
			to->wide[i] += (uint64_t)bytes[i] << shift;
	} else if (shift < 32) {
		for (size_t i = 0; i < nr; i++)
			to->narrow[i] += (uint32_t)bytes[i] << shift;
	}
}

static int get_planes(struct column_decoder *d, struct cursor *in, uint64_t base,
		      const struct column_decode_sink *to, size_t nr)
{
	unsigned int width = cursor_u8(in);

	if (in->failed || width > 8)
		return -EBADMSG;
	column_decode_fill(to, base, nr);
	for (unsigned int plane = 0; plane < width; plane++) {
		const uint8_t *bytes = take_plane(d, in, d->plane.data, nr);

		if (!bytes)
			return -EBADMSG;
		add_plane(to, bytes, 8 * plane, nr);
	}
	return 0;
}

/* Loads 8 bytes at offset `at` as a little-endian number. Bytes after `len` read as zero. */
static uint64_t load_le(const uint8_t *bytes, size_t at, size_t len)
{
	uint64_t v = 0;

	if (len - at >= sizeof(v))
		memcpy(&v, bytes + at, sizeof(v));
	else
		memcpy(&v, bytes + at, len - at);
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? v : __builtin_bswap64(v);
}

/* Loads a value whose bits are too many for a single load. */
static uint64_t load_wide(const uint8_t *bytes, uint64_t bit, unsigned int nr,
			  size_t len)
{
	uint64_t low = load_le(bytes, bit / 8, len) >> (bit % 8) & 0xffffffff;
	uint64_t high = load_le(bytes, (bit + 32) / 8, len) >> (bit % 8);

	return low | (high & ((1ULL << (nr - 32)) - 1)) << 32;
}

/* Returns how many bits follow the classes in total, and stores the largest class. The class of a
 * value is its number of significant bits. */
static uint64_t count_bits(const uint8_t *classes, size_t nr, uint8_t *ret_widest)
{
	uint64_t sum = 0;
	uint8_t widest = 0;

	for (size_t i = 0; i < nr; i++) {
		uint8_t class = classes[i];

		sum += class - (class != 0);
		widest = class > widest ? class : widest;
	}
	*ret_widest = widest;
	return sum;
}

/* Decodes values from their classes and bits. The caller has checked that no class exceeds
 * CLASS_MAX and that `len` bytes contain all bits. */
static inline __attribute__((always_inline)) void
unpack_bits(const uint8_t *classes, const uint8_t *bytes, size_t len, uint64_t base,
	    struct column_decode_sink to, size_t nr)
{
	uint64_t bit = 0;

	for (size_t i = 0; i < nr; i++) {
		unsigned int class = classes[i];
		unsigned int nr_bits = class - (class != 0);
		uint64_t top = (uint64_t)(class != 0) << nr_bits;
		uint64_t low;

		if (nr_bits <= BITS_AT_ONCE)
			low = load_le(bytes, bit / 8, len) >> (bit % 8) &
			      ((1ULL << nr_bits) - 1);
		else
			low = load_wide(bytes, bit, nr_bits, len);
		if (to.is_narrow)
			to.narrow[i] = (uint32_t)(base + (top | low));
		else
			to.wide[i] = base + (top | low);
		bit += nr_bits;
	}
}

static int get_octaves(struct column_decoder *d, struct cursor *in, uint64_t base,
		       const struct column_decode_sink *to, size_t nr)
{
	const uint8_t *classes = take_plane(d, in, d->plane.data, nr);
	const uint8_t *bytes;
	uint8_t widest;
	size_t len;

	if (!classes)
		return -EBADMSG;
	len = (count_bits(classes, nr, &widest) + 7) / 8;
	bytes = cursor_take(in, len);
	if (!bytes || widest > CLASS_MAX)
		return -EBADMSG;
	/* Use two loops, so that the width of the destination is not tested for each value. */
	if (to->is_narrow)
		unpack_bits(classes, bytes, len, base,
			    (struct column_decode_sink){ .is_narrow = true,
							 .narrow = to->narrow },
			    nr);
	else
		unpack_bits(classes, bytes, len, base,
			    (struct column_decode_sink){ .wide = to->wide }, nr);
	return 0;
}

static int get_plain(struct column_decoder *d, struct cursor *in, uint8_t kind,
		     const struct column_decode_sink *to, size_t nr)
{
	uint64_t base = (uint64_t)cursor_svarint(in);

	if (in->failed)
		return -EBADMSG;
	buf_clear(&d->plane);
	if (!buf_reserve(&d->plane, nr))
		return -ENOMEM;
	if (kind == COLUMN_PLANES)
		return get_planes(d, in, base, to, nr);
	if (kind == COLUMN_OCTAVES)
		return get_octaves(d, in, base, to, nr);
	if (kind != COLUMN_CONST)
		return -EBADMSG;
	column_decode_fill(to, base, nr);
	return 0;
}

static int take_runs(struct column_decoder *d, struct cursor *in, size_t nr_runs)
{
	const struct column_decode_sink lens = { .wide = d->run_lens.at };
	const struct column_decode_sink values = { .wide = d->run_values.at };
	int r = get_plain(d, in, cursor_u8(in), &lens, nr_runs);

	return r ? r : get_plain(d, in, cursor_u8(in), &values, nr_runs);
}

static int get_runs(struct column_decoder *d, struct cursor *in,
		    const struct column_decode_sink *to, size_t nr)
{
	uint64_t nr_runs = cursor_varint(in);
	size_t filled = 0;
	int r;

	if (in->failed || !nr_runs || nr_runs > nr)
		return -EBADMSG;
	if (!vec_reserve(&d->run_lens, nr_runs) ||
	    !vec_reserve(&d->run_values, nr_runs))
		return -ENOMEM;
	r = take_runs(d, in, nr_runs);
	if (r)
		return r;
	for (size_t run = 0; run < nr_runs; run++) {
		uint64_t more = d->run_lens.at[run]; /* length of the run minus 1 */
		struct column_decode_sink rest = { .is_narrow = to->is_narrow };

		if (more >= nr - filled)
			return -EBADMSG;
		if (to->is_narrow)
			rest.narrow = to->narrow + filled;
		else
			rest.wide = to->wide + filled;
		column_decode_fill(&rest, d->run_values.at[run], more + 1);
		filled += more + 1;
	}
	return filled == nr ? 0 : -EBADMSG;
}

static int get_steps(struct column_decoder *d, struct cursor *in,
		     const struct column_decode_sink *to, size_t nr)
{
	uint64_t unit = cursor_varint(in);
	struct column_decode_sink steps = { 0 };
	int r;

	if (!vec_reserve(&d->steps, nr))
		return -ENOMEM;
	steps.wide = d->steps.at;
	r = get_plain(d, in, cursor_u8(in), &steps, nr);
	if (r)
		return r;
	for (size_t i = 0; i < nr; i++) {
		uint64_t value = unzigzag(steps.wide[i]) * unit;

		if (to->is_narrow)
			to->narrow[i] = (uint32_t)value;
		else
			to->wide[i] = value;
	}
	return 0;
}

static int column_decode_one(struct column_decoder *d, struct cursor *in,
			     const struct column_decode_sink *to, size_t nr)
{
	uint8_t kind;

	if (!nr)
		return 0;
	if (nr > COLUMN_VALUES_MAX)
		return -EBADMSG;
	kind = cursor_u8(in);
	if (kind == COLUMN_RUNS)
		return get_runs(d, in, to, nr);
	if (kind == COLUMN_STEPS)
		return get_steps(d, in, to, nr);
	return get_plain(d, in, kind, to, nr);
}

int column_decode(struct column_decoder *d, struct cursor *in, uint64_t *v, size_t nr)
{
	const struct column_decode_sink to = { .wide = v };

	return column_decode_one(d, in, &to, nr);
}

int column_decode_u32(struct column_decoder *d, struct cursor *in, uint32_t *v,
		      size_t nr)
{
	const struct column_decode_sink to = { .is_narrow = true, .narrow = v };

	return column_decode_one(d, in, &to, nr);
}
