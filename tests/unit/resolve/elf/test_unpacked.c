/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/elf/unpacked.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/buf.h"
#include "base/files/io.h"
#include "resolve/elf/gzip.h"
#include "unit.h"

enum {
	TEXT_BYTES = 300000,
	PACKED_MAX = 400000,
	GZIP_WINDOW = 16 + MAX_WBITS
};

static uint8_t *make_text(void)
{
	uint8_t *text = malloc(TEXT_BYTES);
	uint32_t x = 1;

	assert_non_null(text);
	for (size_t i = 0; i < TEXT_BYTES; i++) {
		x = x * 1664525 + 1013904223;
		text[i] = "module"[(x >> 24) % 6];
	}
	return text;
}

static size_t gzip_text(const uint8_t *text, size_t len, uint8_t *out)
{
	z_stream z = { 0 };
	size_t packed;

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, GZIP_WINDOW, 8, 0), Z_OK);
	z.next_in = (uint8_t *)text;
	z.avail_in = (uInt)len;
	z.next_out = out;
	z.avail_out = PACKED_MAX / 2;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	packed = z.total_out;
	deflateEnd(&z);
	return packed;
}

static void reads_gzip_members(void **state)
{
	uint8_t *text = make_text(), *packed = malloc(PACKED_MAX);
	struct buf out = { 0 };
	size_t first, both;

	(void)state;
	first = gzip_text(text, 1000, packed);
	both = first + gzip_text(text + 1000, TEXT_BYTES - 1000, packed + first);
	buf_put_u8(&out, 'x');
	assert_int_equal(gzip_unpack(packed, both, TEXT_BYTES, &out), 0);
	assert_int_equal(out.len, TEXT_BYTES + 1);
	assert_memory_equal(out.data + 1, text, TEXT_BYTES);
	out.len = 1;
	assert_int_equal(gzip_unpack(packed, both, TEXT_BYTES - 1, &out), -EFBIG);
	assert_int_equal(out.len, 1);
	assert_int_equal(gzip_unpack(packed, both - 1, TEXT_BYTES, &out), -EBADMSG);
	assert_int_equal(gzip_unpack(packed, 12, TEXT_BYTES, &out), -EBADMSG);
	assert_int_equal(gzip_unpack(packed, 0, TEXT_BYTES, &out), -EBADMSG);
	packed[first - 6] ^= 1; /* the first one's CRC */
	assert_int_equal(gzip_unpack(packed, both, TEXT_BYTES, &out), -EBADMSG);
	assert_int_equal(out.len, 1);
	buf_done(&out);
	free(text);
	free(packed);
}

/* Packs the text, `step` bytes at a time. */
static void pack_in_pieces(const uint8_t *text, size_t step, struct buf *out)
{
	struct gzip_packing *g = gzip_pack_new();

	assert_non_null(g);
	for (size_t at = 0; at < TEXT_BYTES; at += step) {
		size_t left = TEXT_BYTES - at;

		assert_int_equal(
			gzip_pack(g, text + at, left < step ? left : step, false, out),
			0);
	}
	assert_int_equal(gzip_pack(g, NULL, 0, true, out), 0);
	gzip_pack_free(g);
}

static void result_does_not_depend_on_chunk_sizes(void **state)
{
	uint8_t *text = make_text();
	struct buf whole = { 0 }, out = { 0 };
	struct gzip_packing *g = gzip_pack_new();

	(void)state;
	assert_non_null(g);
	assert_int_equal(gzip_pack(g, text, TEXT_BYTES, true, &whole), 0);
	gzip_pack_free(g);
	gzip_pack_free(NULL);
	assert_int_equal(gzip_unpack(whole.data, whole.len, TEXT_BYTES, &out), 0);
	assert_int_equal(out.len, TEXT_BYTES);
	assert_memory_equal(out.data, text, TEXT_BYTES);
	for (size_t step = 1; step <= TEXT_BYTES; step *= 7) {
		buf_clear(&out);
		pack_in_pieces(text, step, &out);
		assert_int_equal(out.len, whole.len);
		assert_memory_equal(out.data, whole.data, whole.len);
	}
	buf_done(&whole);
	buf_done(&out);
	free(text);
}

/* Checks that the content of `path` is read as `text`. */
static void expect(const char *path, const void *text, size_t len)
{
	struct buf got = { 0 };
	int fd = unpacked_open(path);

	assert_true(fd >= 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(io_read_fd(fd, &got, TEXT_BYTES + 1), 0);
	assert_int_equal(got.len, len);
	assert_memory_equal(got.data, text, len);
	buf_done(&got);
	close(fd);
}

static void reads_files_of_any_compression(void **state)
{
	uint8_t *text = make_text(), *packed = malloc(PACKED_MAX);
	char path[] = "/tmp/test_unpacked.XXXXXX";
	int fd = mkstemp(path);
	size_t len;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(io_write_file(path, text, TEXT_BYTES, 0600), 0);
	expect(path, text, TEXT_BYTES);
	assert_int_equal(io_write_file(path, "\x1f\x8b", 2, 0600), 0);
	expect(path, "\x1f\x8b", 2);
	len = gzip_text(text, TEXT_BYTES, packed);
	assert_int_equal(io_write_file(path, packed, len, 0600), 0);
	expect(path, text, TEXT_BYTES);
	assert_int_equal(io_write_file(path, packed, len - 1, 0600), 0);
	assert_int_equal(unpacked_open(path), -EBADMSG);
	len = ZSTD_compress(packed, PACKED_MAX, text, TEXT_BYTES, 1);
	assert_false(ZSTD_isError(len));
	assert_int_equal(io_write_file(path, packed, len, 0600), 0);
	expect(path, text, TEXT_BYTES);
	assert_int_equal(io_write_file(path, packed, len - 1, 0600), 0);
	assert_int_equal(unpacked_open(path), -EBADMSG);
	unlink(path);
	free(text);
	free(packed);
}

static void limits_the_output_by_the_input(void **state)
{
	const size_t mb = 1 << 20;

	(void)state;
	assert_int_equal(unpacked_limit(0, SIZE_MAX), 16 * mb);
	assert_int_equal(unpacked_limit(mb, 256 * mb), 116 * mb);
	assert_int_equal(unpacked_limit(3 * mb, 256 * mb), 256 * mb);
	assert_int_equal(unpacked_limit(SIZE_MAX, 256 * mb), 256 * mb);
	assert_int_equal(unpacked_limit(SIZE_MAX / 100, 7), 7);
}

/* Zeros: 20 MB in some kilobytes, in each compression format. */
static void rejects_decompression_bombs(void **state)
{
	enum {
		BOMB_BYTES = 20 << 20,
		GOOD_BYTES = 15 << 20
	};
	uint8_t *zeros = calloc(1, BOMB_BYTES), *room = malloc(PACKED_MAX);
	static const size_t sizes[] = { GOOD_BYTES, BOMB_BYTES };

	(void)state;
	assert_non_null(zeros);
	for (size_t i = 0; i < 2; i++) {
		struct buf packed = { 0 }, out = { 0 };
		int want = i ? -EFBIG : 0;

		buf_put(&packed, room, gzip_text(zeros, sizes[i], room));
		assert_int_equal(unpacked_bytes(&packed, &out), want);
		buf_clear(&packed);
		buf_clear(&out);
		buf_put(&packed, room,
			ZSTD_compress(room, PACKED_MAX, zeros, sizes[i], 1));
		assert_int_equal(unpacked_bytes(&packed, &out), want);
		buf_done(&packed);
		buf_done(&out);
	}
	free(zeros);
	free(room);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(reads_gzip_members),
		cmocka_unit_test(result_does_not_depend_on_chunk_sizes),
		cmocka_unit_test(reads_files_of_any_compression),
		cmocka_unit_test(limits_the_output_by_the_input),
		cmocka_unit_test(rejects_decompression_bombs),
	};

	return UNIT_RUN(cases);
}
