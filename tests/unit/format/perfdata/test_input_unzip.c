/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads compressed records: fragments of one stream, with records that straddle them. */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/array.h"
#include "format/perfdata/input.h"
#include "format/perfdata/perf_maker.h"
#include "unit.h"

enum {
	SAMPLE = PERF_RECORD_SAMPLE,
	ROUND = 68,
	AUXTRACE = 71,
	COMPRESSED = 81,
	COMPRESSED2 = 83,
	DATA_MAX = 65519 /* bytes in a compressed record, as in perf */
};

struct zipper {
	ZSTD_CStream *stream;
	uint8_t out[1 << 18];
	size_t len;
};

/* Like zstd_compress_stream_to_records(): writes the next fragment of the stream, flushed. */
static void squeeze(struct zipper *z, const uint8_t *bytes, size_t len)
{
	ZSTD_inBuffer in = { bytes, len, 0 };
	ZSTD_outBuffer out = { z->out, sizeof(z->out), 0 };

	if (!z->stream) {
		z->stream = ZSTD_createCStream();
		ZSTD_initCStream(z->stream, 1);
	}
	while (in.pos < in.size)
		assert_false(ZSTD_isError(ZSTD_compressStream(z->stream, &out, &in)));
	assert_int_equal(ZSTD_flushStream(z->stream, &out), 0);
	z->len = out.pos;
}

static void put_frame(struct perf_maker *m, uint32_t type, const uint8_t *bytes,
		      size_t len)
{
	size_t pad = type == COMPRESSED ? 0 : -len & 7;

	put_head(m, type, 0, 8 + (type == COMPRESSED ? 0 : 8) + len + pad);
	if (type == COMPRESSED2)
		put8(m, len);
	buf_put(&m->out, bytes, len);
	for (size_t i = 0; i < pad; i++)
		buf_put_u8(&m->out, 0xaa);
}

/* Makes 4000 records of 24 to 1000 bytes. */
static void make_plain(struct perf_maker *plain)
{
	for (unsigned int i = 0; i < 4000; i++)
		put_record(plain, SAMPLE, 24 + i * 8 % 984, (uint8_t)(i * 7));
}

/* Writes the same records in frames that unpack to `piece` bytes, with a round after every fifth
 * frame. */
static void make_zipped(struct perf_maker *m, const struct perf_maker *plain,
			uint32_t type, size_t piece, unsigned int *ret_rounds)
{
	static struct zipper z;
	size_t len = plain->out.len;
	unsigned int nr = 0;

	maker_front(m, 128);
	*ret_rounds = 0;
	for (size_t at = 0; at < len; at += piece) {
		squeeze(&z, plain->out.data + at, len - at < piece ? len - at : piece);
		put_frame(m, type, z.out, z.len);
		if (++nr % 5)
			continue;
		put_record(m, ROUND, 8, 0);
		++*ret_rounds;
	}
	maker_data_end(m, 0);
	ZSTD_freeCStream(z.stream);
	z.stream = NULL;
}

/* Checks that the samples are those of `plain`; the rounds between them are ignored. */
static void assert_same_samples(const struct seen *seen, const struct perf_maker *plain,
				bool swap)
{
	struct buf samples = { 0 };

	for (size_t pos = 0; pos < seen->bytes;) {
		struct perf_event_header h;

		memcpy(&h, seen->all.data + pos, sizeof(h));
		if (swap) {
			h.type = __builtin_bswap32(h.type);
			h.size = __builtin_bswap16(h.size);
		}
		if (h.type == SAMPLE)
			buf_put(&samples, seen->all.data + pos, h.size);
		pos += h.size;
	}
	assert_int_equal(samples.len, plain->out.len);
	assert_memory_equal(samples.data, plain->out.data, samples.len);
	buf_done(&samples);
}

static void check_pieces(bool big, uint32_t type, size_t piece)
{
	struct perf_maker plain = { .big = big };
	struct perf_maker m = { .big = big };
	struct perf_input *in = NULL;
	struct seen seen, again = { 0 };
	unsigned int rounds;

	make_plain(&plain);
	make_zipped(&m, &plain, type, piece, &rounds);
	maker_read(maker_fd(&m), &seen, &in);
	assert_int_equal(seen.result, 1);
	assert_int_equal(seen.types[SAMPLE], 4000);
	assert_int_equal(seen.types[ROUND], rounds);
	assert_int_equal(seen.types[type], 0);
	assert_int_equal(seen.damage.cut_bytes, 0);
	assert_int_equal(seen.damage.bad_bytes, 0);
	assert_same_samples(&seen, &plain, big);
	assert_int_equal(perf_input_rewind(in, NULL), 0);
	maker_read_all(in, &again);
	assert_same_samples(&again, &plain, big);
	perf_input_close(in);
	buf_done(&seen.all);
	buf_done(&again.all);
	buf_done(&plain.out);
	buf_done(&m.out);
}

static void records_can_straddle_frames(void **state)
{
	static const size_t pieces[] = { 5, 100, 777, 65536, 300000 };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(pieces); i++) {
		check_pieces(false, COMPRESSED, pieces[i]);
		check_pieces(false, COMPRESSED2, pieces[i]);
	}
	check_pieces(true, COMPRESSED, 777);
	check_pieces(true, COMPRESSED2, 777);
}

/* Reads a frame that unpacks to more than fits into a window. */
static void reads_more_than_a_window(void **state)
{
	static struct zipper z;
	struct perf_maker plain = { 0 };
	struct perf_maker m = { 0 };
	struct seen seen;

	(void)state;
	while (plain.out.len < 5 << 20)
		put_record(&plain, SAMPLE, 4096, 0);
	squeeze(&z, plain.out.data, plain.out.len);
	assert_in_range(z.len, 10, 60000);
	maker_front(&m, 128);
	put_frame(&m, COMPRESSED, z.out, z.len);
	maker_data_end(&m, 0);
	maker_read(maker_fd(&m), &seen, NULL);
	assert_int_equal(seen.bytes, plain.out.len);
	assert_same_samples(&seen, &plain, false);
	ZSTD_freeCStream(z.stream);
	buf_done(&seen.all);
	buf_done(&plain.out);
	buf_done(&m.out);
}

/* Writes a fragment as perf 6.16 did, with a size that overflows 16 bits, for a fragment that
 * compresses to `len` bytes. If two records are needed, the first one has the size of both. */
static void put_overflown(struct perf_maker *m, const uint8_t *zipped, size_t len)
{
	size_t first = len < DATA_MAX ? len : DATA_MAX;
	size_t all = first == len ? len : len + 16;

	put_head(m, COMPRESSED2, 0, (16 + all + 7) & ~7UL);
	put8(m, all);
	buf_put(&m->out, zipped, first);
	if (first == len)
		return;
	put_head(m, COMPRESSED2, 0, 16 + len - first);
	put8(m, 0x123456789);
	buf_put(&m->out, zipped + first, len - first);
}

/* Writes records whose bytes cannot be compressed. */
static void put_noise(struct perf_maker *m, size_t record_bytes, unsigned int nr)
{
	uint64_t v = 88172645463325252ULL;

	while (nr--) {
		put_head(m, SAMPLE, 0, record_bytes);
		for (size_t i = 8; i < record_bytes; i += 8) {
			v ^= v << 13;
			v ^= v >> 7;
			v ^= v << 17;
			put8(m, v);
		}
	}
}

static void check_overflow(size_t record_bytes, unsigned int nr, size_t least,
			   size_t most)
{
	static struct zipper z;
	struct perf_maker plain = { 0 };
	struct perf_maker m = { 0 };
	struct seen seen;
	size_t one;

	put_noise(&plain, record_bytes, nr);
	squeeze(&z, plain.out.data, plain.out.len);
	assert_in_range(z.len, least, most);
	maker_front(&m, 128);
	put_overflown(&m, z.out, z.len);
	put_record(&m, ROUND, 8, 0);
	one = plain.out.len;
	put_noise(&plain, 400, 10);
	squeeze(&z, plain.out.data + one, plain.out.len - one);
	put_frame(&m, COMPRESSED2, z.out, z.len);
	maker_data_end(&m, 0);
	maker_read(maker_fd(&m), &seen, NULL);
	assert_int_equal(seen.damage.bad_bytes, 0);
	assert_int_equal(seen.types[ROUND], 1);
	assert_same_samples(&seen, &plain, false);
	ZSTD_freeCStream(z.stream);
	z.stream = NULL;
	buf_done(&seen.all);
	buf_done(&plain.out);
	buf_done(&m.out);
}

static void rejects_overflowing_sizes(void **state)
{
	(void)state;
	check_overflow(1000, 100, DATA_MAX + 1, 131072);
	check_overflow(65504, 1, 65513, DATA_MAX);
}

/* After a broken frame the rest of the stream is lost, but not uncompressed data. */
static void reports_a_broken_stream(void **state)
{
	static struct zipper z;
	struct perf_maker plain = { 0 };
	struct perf_maker m = { 0 };
	struct seen seen;

	(void)state;
	for (int i = 0; i < 10; i++)
		put_record(&plain, SAMPLE, 24, (uint8_t)i);
	maker_front(&m, 128);
	for (int i = 0; i < 3; i++) {
		squeeze(&z, plain.out.data, plain.out.len);
		if (i == 1) /* a block of the reserved type */
			memset(z.out, 0xff, z.len);
		put_frame(&m, COMPRESSED, z.out, z.len);
		put_record(&m, ROUND, 8, 0);
	}
	maker_data_end(&m, 0);
	maker_read(maker_fd(&m), &seen, NULL);
	assert_int_equal(seen.result, 1);
	assert_int_equal(seen.types[SAMPLE], 10);
	assert_int_equal(seen.types[ROUND], 3);
	assert_true(seen.damage.bad_bytes > z.len);
	ZSTD_freeCStream(z.stream);
	buf_done(&seen.all);
	buf_done(&plain.out);
	buf_done(&m.out);
}

/* Reads three frames of ten samples, the last of which has lost its last bytes: its samples are
 * missing, and that is counted. */
static void reports_a_cut_frame(void **state)
{
	(void)state;
	for (size_t cut = 0; cut < 30; cut += 3) {
		struct zipper *z = calloc(1, sizeof(*z));
		struct perf_maker plain = { 0 };
		struct perf_maker m = { 0 };
		struct seen seen;

		assert_non_null(z);
		put_noise(&plain, 80, 30);
		maker_front(&m, 128);
		for (int i = 0; i < 3; i++) {
			squeeze(z, plain.out.data + (size_t)i * 800, 800);
			assert_true(z->len > 40);
			put_frame(&m, COMPRESSED2, z->out, z->len - (i == 2 ? cut : 0));
		}
		put_record(&m, ROUND, 8, 0);
		maker_data_end(&m, 0);
		maker_read(maker_fd(&m), &seen, NULL);
		assert_int_equal(seen.result, 1);
		assert_int_equal(seen.types[ROUND], 1);
		/* zstd gives no bytes of a block before it is complete. */
		assert_true(seen.types[SAMPLE] == (cut ? 20 : 30));
		assert_int_equal(seen.damage.cut_bytes > 0, cut > 0);
		ZSTD_freeCStream(z->stream);
		free(z);
		buf_done(&seen.all);
		buf_done(&plain.out);
		buf_done(&m.out);
	}
}

/* Writes a zstd block: `type` 0 contains the bytes, 1 repeats one byte `size` times. */
static void put_block(struct buf *out, unsigned int type, uint32_t size,
		      const uint8_t *bytes)
{
	uint32_t head = type << 1 | size << 3;

	for (unsigned int i = 0; i < 3; i++)
		buf_put_u8(out, (uint8_t)(head >> (8 * i)));
	buf_put(out, bytes, type ? 1 : size);
}

/* Returns how many samples are read after that many blocks of 128 KB of zeros, which need four
 * bytes each. */
static unsigned int samples_behind(unsigned int nr_blocks)
{
	static const uint8_t head[] = { 0x28, 0xb5, 0x2f, 0xfd, 0, 0x58 };
	static const uint8_t zero;
	struct perf_maker plain = { 0 };
	struct perf_maker m = { 0 };
	struct buf stream = { 0 };
	struct seen seen;

	for (int i = 0; i < 10; i++)
		put_record(&plain, SAMPLE, 24, 1);
	buf_put(&stream, head, sizeof(head));
	for (unsigned int i = 0; i < nr_blocks; i++)
		put_block(&stream, 1, 1 << 17, &zero);
	put_block(&stream, 0, (uint32_t)plain.out.len, plain.out.data);
	maker_front(&m, 128);
	put_frame(&m, COMPRESSED, stream.data, stream.len);
	maker_data_end(&m, 0);
	maker_read(maker_fd(&m), &seen, NULL);
	assert_int_equal(seen.result, 1);
	assert_true(seen.damage.bad_bytes > 0);
	buf_done(&seen.all);
	buf_done(&plain.out);
	buf_done(&stream);
	buf_done(&m.out);
	return (unsigned int)seen.types[SAMPLE];
}

static void rejects_decompression_bombs(void **state)
{
	(void)state;
	assert_int_equal(samples_behind(1), 10);
	assert_int_equal(samples_behind(2000), 10);
	assert_int_equal(samples_behind(2100), 0);
}

/* The stream is valid, but a record in it is not. */
static void reports_a_bad_record_in_a_stream(void **state)
{
	(void)state;
	for (size_t piece = 50; piece < 1000000; piece *= 20) {
		struct perf_maker plain = { 0 };
		struct perf_maker m = { 0 };
		struct seen seen;
		unsigned int rounds;

		for (unsigned int i = 0; i < 5000; i++) {
			if (i == 10 || i == 20 || i == 4000)
				put_head(&plain, SAMPLE, 0, 0);
			put_record(&plain, SAMPLE, 24 + i % 10 * 8, 0x55);
		}
		make_zipped(&m, &plain, COMPRESSED, piece, &rounds);
		maker_read(maker_fd(&m), &seen, NULL);
		assert_int_equal(seen.result, 1);
		assert_int_equal(seen.types[SAMPLE], 5000);
		assert_int_equal(seen.types[ROUND], rounds);
		assert_int_equal(seen.damage.bad_bytes, 3 * 8);
		assert_int_equal(seen.damage.cut_bytes, 0);
		buf_done(&seen.all);
		buf_done(&plain.out);
		buf_done(&m.out);
	}
}

static void survives_every_prefix(void **state)
{
	struct perf_maker plain = { 0 };
	struct perf_maker m = { 0 };
	unsigned int rounds;
	uint64_t last = 0;

	(void)state;
	for (unsigned int i = 0; i < 60; i++)
		put_record(&plain, SAMPLE, 24 + i % 3 * 8, (uint8_t)(i * 7));
	make_zipped(&m, &plain, COMPRESSED, 100, &rounds);
	for (size_t len = MAKER_ATTRS + 144; len <= m.out.len; len++) {
		struct seen seen;

		maker_read(maker_fd_of(m.out.data, len), &seen, NULL);
		assert_int_equal(seen.result, 1);
		assert_int_equal(seen.damage.bad_bytes, 0);
		assert_int_equal(seen.damage.missing_bytes, m.out.len - len);
		assert_true(seen.types[SAMPLE] >= last);
		last = seen.types[SAMPLE];
		buf_done(&seen.all);
	}
	assert_int_equal(last, 60);
	buf_done(&plain.out);
	buf_done(&m.out);
}

/* A payload within the compressed stream, across frames. */
static void reads_payload_in_the_stream(void **state)
{
	struct perf_maker plain = { 0 };
	struct perf_maker m = { 0 };
	struct seen seen;
	unsigned int rounds;

	(void)state;
	put_record(&plain, SAMPLE, 24, 1);
	put_head(&plain, AUXTRACE, 0, 48);
	put8(&plain, 500);
	put_text(&plain, "", 32);
	put_text(&plain, "payload", 500);
	put_record(&plain, SAMPLE, 24, 1);
	make_zipped(&m, &plain, COMPRESSED, 64, &rounds);
	maker_read(maker_fd(&m), &seen, NULL);
	assert_int_equal(seen.types[SAMPLE], 2);
	assert_int_equal(seen.types[AUXTRACE], 1);
	assert_int_equal(seen.damage.aux_bytes, 500);
	assert_int_equal(seen.damage.bad_bytes, 0);
	buf_done(&seen.all);
	buf_done(&plain.out);
	buf_done(&m.out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_can_straddle_frames),
		cmocka_unit_test(reads_more_than_a_window),
		cmocka_unit_test(rejects_overflowing_sizes),
		cmocka_unit_test(reports_a_broken_stream),
		cmocka_unit_test(reports_a_cut_frame),
		cmocka_unit_test(rejects_decompression_bombs),
		cmocka_unit_test(reports_a_bad_record_in_a_stream),
		cmocka_unit_test(survives_every_prefix),
		cmocka_unit_test(reads_payload_in_the_stream),
	};

	return UNIT_RUN(tests);
}
