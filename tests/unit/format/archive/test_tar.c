/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/archive/tar.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/err.h"
#include "base/sanitized.h"
#include "unit.h"

enum {
	BLOCK = 512,
	SIZE_AT = 124,
	SUM_AT = 148,
	TYPE_AT = 156,
	MAGIC_AT = 257,
	PREFIX_AT = 345
};

struct bytes {
	const uint8_t *at;
	size_t left;
};

static ssize_t take(void *ctx, void *out, size_t len)
{
	struct bytes *b = ctx;
	size_t n = b->left < len ? b->left : len;

	memcpy(out, b->at, n);
	b->at += n;
	b->left -= n;
	return (ssize_t)n;
}

static void put_text(uint8_t *at, const char *text)
{
	for (; *text; text++)
		*at++ = (uint8_t)*text;
}

/* Writes a header after POSIX's table, at `block`. */
static void put_header(uint8_t *block, const char *name, char type, unsigned int bytes)
{
	unsigned int sum = 0;

	memset(block, 0, BLOCK);
	put_text(block, name);
	snprintf((char *)block + SIZE_AT, 12, "%011o", bytes);
	memset(block + SUM_AT, ' ', 8);
	block[TYPE_AT] = (uint8_t)type;
	memcpy(block + MAGIC_AT, "ustar", 6);
	put_text(block + MAGIC_AT + 6, "00");
	put_text(block + PREFIX_AT, type == 'P' ? "pre" : "");
	if (type == 'P')
		block[TYPE_AT] = '0';
	for (unsigned int i = 0; i < BLOCK; i++)
		sum += block[i];
	snprintf((char *)block + SUM_AT, 8, "%06o", sum);
}

static void reads_posix_tar(void **state)
{
	static uint8_t tar[10 * BLOCK];
	struct bytes b = { tar, sizeof(tar) };
	struct tar_reader *t;
	struct tar_member m;
	char content[16];

	(void)state;
	put_header(tar, "file", '0', 5);
	put_text(tar + BLOCK, "hello");
	put_header(tar + 2 * BLOCK, "dir", '5', 0);
	put_header(tar + 3 * BLOCK, "link", '2', 0);
	put_header(tar + 4 * BLOCK, "null", '3', 0);
	put_header(tar + 5 * BLOCK, "post", 'P', 0);
	put_header(tar + 6 * BLOCK, "pax", 'x', 17);
	put_text(tar + 7 * BLOCK, "17 path=longname\n");
	put_header(tar + 8 * BLOCK, "short", '0', 0);
	assert_int_equal(
		tar_reader_new((struct tar_source){ take, &b }, sizeof(tar), &t), 0);
	assert_int_equal(tar_reader_next(t, &m, NULL), 0);
	assert_string_equal(m.name, "file");
	assert_int_equal(m.bytes, 5);
	assert_int_equal(tar_reader_get(t, content, sizeof(content), NULL), 5);
	assert_memory_equal(content, "hello", 5);
	assert_int_equal(tar_reader_get(t, content, sizeof(content), NULL), 0);
	assert_int_equal(tar_reader_next(t, &m, NULL), 0);
	assert_int_equal(m.kind, TAR_FOLDER);
	assert_int_equal(tar_reader_next(t, &m, NULL), 0);
	assert_int_equal(m.kind, TAR_LINK);
	assert_int_equal(tar_reader_next(t, &m, NULL), 0);
	assert_int_equal(m.kind, TAR_DEVICE);
	assert_int_equal(tar_reader_next(t, &m, NULL), 0);
	assert_string_equal(m.name, "pre/post");
	assert_int_equal(tar_reader_next(t, &m, NULL), 0);
	assert_string_equal(m.name, "longname");
	assert_int_equal(tar_reader_next(t, &m, NULL), 1);
	tar_reader_free(t);
}

static void rejects_other_files(void **state)
{
	static uint8_t tar[2 * BLOCK];
	struct bytes b = { tar, BLOCK };
	struct err err = { 0 };
	struct tar_reader *t;
	struct tar_member m;

	(void)state;
	put_header(tar, "file", '0', 5);
	tar[0] = 'g';
	assert_int_equal(
		tar_reader_new((struct tar_source){ take, &b }, sizeof(tar), &t), 0);
	assert_int_equal(tar_reader_next(t, &m, &err), -EBADMSG);
	assert_string_equal(err.text, "not a tar file, or damaged");
	tar_reader_free(t);

	put_header(tar, "file", '0', 5);
	b = (struct bytes){ tar, BLOCK + 3 };
	assert_int_equal(
		tar_reader_new((struct tar_source){ take, &b }, sizeof(tar), &t), 0);
	assert_int_equal(tar_reader_next(t, &m, &err), 0);
	assert_int_equal(tar_reader_next(t, &m, &err), -EBADMSG);
	assert_string_equal(err.text, "truncated");
	tar_reader_free(t);
}

static void written_is_read_again(enum packing packing)
{
	static char long_name[300], content[3000], got[3000];
	static uint8_t file[1 << 16];
	int fd = memfd_create("tar", MFD_CLOEXEC);
	struct err err = { 0 };
	struct tar_writer *w;
	struct tar_reader *t;
	struct tar_member m;
	struct bytes b;

	if (!packing_available(packing))
		return;
	memset(long_name, 'n', sizeof(long_name) - 1);
	memset(content, 'c', sizeof(content));
	assert_int_equal(tar_writer_new(fd, packing, &w), 0);
	assert_int_equal(tar_writer_begin(w, long_name, sizeof(content), 1), 0);
	assert_int_equal(tar_writer_put(w, content, 1000), 0);
	assert_int_equal(tar_writer_end(w), -EIO);
	assert_int_equal(tar_writer_put(w, content, 2000), 0);
	assert_int_equal(tar_writer_put(w, content, 1), -EFBIG);
	assert_int_equal(tar_writer_end(w), 0);
	assert_int_equal(tar_writer_link(w, "link", long_name), 0);
	assert_int_equal(tar_writer_finish(w), 0);
	tar_writer_free(w);
	b = (struct bytes){ file, (size_t)pread(fd, file, sizeof(file), 0) };
	close(fd);
	assert_int_equal(packing_of_bytes(file, b.left), packing);
	if (packing != PACKING_NONE)
		assert_true(b.left < sizeof(content));

	assert_int_equal(tar_reader_new((struct tar_source){ take, &b }, 1 << 16, &t),
			 0);
	assert_int_equal(tar_reader_next(t, &m, &err), 0);
	assert_string_equal(m.name, long_name);
	assert_int_equal(tar_reader_get(t, got, sizeof(got), &err), sizeof(got));
	assert_memory_equal(got, content, sizeof(got));
	assert_int_equal(tar_reader_next(t, &m, &err), 0);
	assert_string_equal(m.name, "link");
	assert_int_equal(m.kind, TAR_LINK);
	assert_int_equal(tar_reader_next(t, &m, &err), 1);
	tar_reader_free(t);

	/* The member is larger than the limit for unpacking. */
	b = (struct bytes){ file, sizeof(file) };
	assert_int_equal(tar_reader_new((struct tar_source){ take, &b }, 4000, &t), 0);
	assert_int_equal(tar_reader_next(t, &m, &err), 0);
	assert_int_equal(tar_reader_get(t, got, sizeof(got), &err), -EFBIG);
	tar_reader_free(t);
}

static void reads_what_it_wrote(void **state)
{
	(void)state;
	for (int i = 0; i < PACKING_COUNT; i++)
		written_is_read_again((enum packing)i);
}

/* GNU tar's members that describe the next one: its name, and the target of a link. */
static void reads_gnu_long_names(void **state)
{
	static uint8_t tar[8 * BLOCK];
	struct bytes b = { tar, sizeof(tar) };
	struct tar_reader *t;
	struct tar_member m;

	(void)state;
	put_header(tar, "././@LongLink", 'K', 9);
	put_text(tar + BLOCK, "/far/away");
	put_header(tar + 2 * BLOCK, "././@LongLink", 'L', 4);
	put_text(tar + 3 * BLOCK, "name");
	put_header(tar + 4 * BLOCK, "na", '2', 0);
	assert_int_equal(
		tar_reader_new((struct tar_source){ take, &b }, sizeof(tar), &t), 0);
	assert_int_equal(tar_reader_next(t, &m, NULL), 0);
	assert_string_equal(m.name, "name");
	assert_int_equal(m.kind, TAR_LINK);
	assert_int_equal(tar_reader_next(t, &m, NULL), 1);
	tar_reader_free(t);
}

/* Writes the size at `field`, in GNU tar's form for 8 GB and more. */
static void put_base_256(uint8_t *block, const uint8_t field[12])
{
	unsigned int sum = 0;

	memcpy(block + SIZE_AT, field, 12);
	memset(block + SUM_AT, ' ', 8);
	for (unsigned int i = 0; i < BLOCK; i++)
		sum += block[i];
	snprintf((char *)block + SUM_AT, 8, "%06o", sum);
}

static void reads_sizes_in_base_256(void **state)
{
	static const struct {
		uint8_t field[12];
		int result;
		uint64_t bytes;
	} rows[] = {
		{ { 0x80, [11] = 5 }, 0, 5 },
		{ { 0x80, [7] = 2, [11] = 1 }, 0, (UINT64_C(2) << 32) + 1 },
		{ { 0x80, [4] = 0x7f, [11] = 1 }, 0, (UINT64_C(0x7f) << 56) + 1 },
		{ { 0x80, [4] = 0x80 }, -EBADMSG, 0 }, /* beyond 63 bits */
		{ { 0x80, 1 }, -EBADMSG, 0 },
		{ { 0x81 }, -EBADMSG, 0 },
		{ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		    0xff },
		  -EBADMSG,
		  0 }, /* negative */
	};
	static uint8_t tar[2 * BLOCK];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct bytes b = { tar, sizeof(tar) };
		struct tar_member m = { 0 };
		struct tar_reader *t;

		put_header(tar, "file", '0', 0);
		put_base_256(tar, rows[i].field);
		assert_int_equal(
			tar_reader_new((struct tar_source){ take, &b }, UINT64_MAX, &t),
			0);
		assert_int_equal(tar_reader_next(t, &m, NULL), rows[i].result);
		assert_int_equal(m.bytes, rows[i].bytes);
		/* The size puts the next member after the end of the input. */
		if (rows[i].bytes > BLOCK)
			assert_int_equal(tar_reader_next(t, &m, NULL), -EBADMSG);
		tar_reader_free(t);
	}
}

static void skips_content_of_unknown_members(void **state)
{
	static uint8_t tar[6 * BLOCK];
	struct bytes b = { tar, sizeof(tar) };
	struct tar_reader *t;
	struct tar_member m;

	(void)state;
	put_header(tar, "new", 'Z', BLOCK + 1);
	put_header(tar + BLOCK, "hidden", '0', 0);
	put_header(tar + 3 * BLOCK, "file", '0', 0);
	assert_int_equal(
		tar_reader_new((struct tar_source){ take, &b }, sizeof(tar), &t), 0);
	assert_int_equal(tar_reader_next(t, &m, NULL), 0);
	assert_int_equal(m.kind, TAR_UNKNOWN);
	assert_int_equal(m.bytes, 0);
	assert_int_equal(tar_reader_next(t, &m, NULL), 0);
	assert_string_equal(m.name, "file");
	assert_int_equal(tar_reader_next(t, &m, NULL), 1);
	tar_reader_free(t);
}

/* A prefix of an archive is never complete, with any compression. */
static void prefixes_are_incomplete(void **state)
{
	static uint8_t file[1 << 16];

	(void)state;
	for (int i = 0; i < PACKING_COUNT; i++) {
		int fd = memfd_create("tar", MFD_CLOEXEC);
		size_t size;
		struct tar_writer *w;

		if (!packing_available((enum packing)i)) {
			close(fd);
			continue;
		}
		assert_int_equal(tar_writer_new(fd, (enum packing)i, &w), 0);
		assert_int_equal(tar_writer_begin(w, "file", 5, 1), 0);
		assert_int_equal(tar_writer_put(w, "hello", 5), 0);
		assert_int_equal(tar_writer_end(w), 0);
		assert_int_equal(tar_writer_finish(w), 0);
		tar_writer_free(w);
		size = (size_t)pread(fd, file, sizeof(file), 0);
		close(fd);
		/* Omits the second zero block and the end of the compressed data. */
		size -= i == PACKING_NONE ? BLOCK : 20;
		for (size_t len = 0; len < size; len++) {
			struct bytes b = { file, len };
			struct tar_reader *t;
			struct tar_member m;
			int r;

			assert_int_equal(tar_reader_new((struct tar_source){ take, &b },
							1 << 16, &t),
					 0);
			while (!(r = tar_reader_next(t, &m, NULL)))
				;
			assert_int_equal(r, -EBADMSG);
			tar_reader_free(t);
		}
	}
}

/* Limits the address space to the current size plus `more` bytes. Returns the old limit. */
static struct rlimit limit_memory(uint64_t more)
{
	unsigned long pages = 0;
	FILE *statm = fopen("/proc/self/statm", "re");
	struct rlimit was, now;

	assert_non_null(statm);
	assert_int_equal(fscanf(statm, "%lu", &pages), 1);
	fclose(statm);
	assert_int_equal(getrlimit(RLIMIT_AS, &was), 0);
	now = was;
	now.rlim_cur = pages * (uint64_t)sysconf(_SC_PAGESIZE) + more;
	assert_int_equal(setrlimit(RLIMIT_AS, &now), 0);
	return was;
}

/* zstd allocates the window after it has read the frame's header. */
static void allocation_failure_is_not_damage(void **state)
{
	/* RFC 8878: magic number; a window of 128 MB; a last raw block of 1 byte */
	static const uint8_t frame[] = {
		0x28, 0xb5, 0x2f, 0xfd, 0, 0x88, 9, 0, 0, 'x'
	};
	struct bytes b = { frame, sizeof(frame) };
	struct err err = { 0 };
	struct tar_reader *t;
	struct tar_member m;
	struct rlimit was;
	int r;

	(void)state;
	if (IS_SANITIZED)
		skip();
	assert_int_equal(tar_reader_new((struct tar_source){ take, &b }, 1 << 16, &t),
			 0);
	was = limit_memory(64 << 20);
	r = tar_reader_next(t, &m, &err);
	assert_int_equal(setrlimit(RLIMIT_AS, &was), 0);
	tar_reader_free(t);
	assert_int_equal(r, -ENOMEM);
	assert_string_equal(err.text, "out of memory");
}

/* More than one block of bzip2, as consecutive streams. */
static void reads_concatenated_bzip2_streams(void **state)
{
	enum {
		BYTES = 5000000,
		STEP = 99991
	};
	uint8_t *content = malloc(BYTES), *got = malloc(BYTES);
	uint8_t *file = malloc(2 * BYTES);
	int fd = memfd_create("tar", MFD_CLOEXEC);
	uint32_t noise = 1;
	struct tar_writer *w;
	struct tar_reader *t;
	struct tar_member m;
	struct bytes b;

	(void)state;
	if (!packing_available(PACKING_BZIP2))
		skip();
	for (int i = 0; i < BYTES; i++) {
		noise = noise * 1664525 + 1013904223;
		content[i] = (uint8_t)(noise >> 28);
	}
	assert_int_equal(tar_writer_new(fd, PACKING_BZIP2, &w), 0);
	assert_int_equal(tar_writer_begin(w, "file", BYTES, 1), 0);
	for (size_t at = 0; at < BYTES; at += STEP)
		assert_int_equal(tar_writer_put(w, content + at,
						BYTES - at < STEP ? BYTES - at : STEP),
				 0);
	assert_int_equal(tar_writer_end(w), 0);
	assert_int_equal(tar_writer_finish(w), 0);
	tar_writer_free(w);
	b = (struct bytes){ file, (size_t)pread(fd, file, 2 * BYTES, 0) };
	close(fd);
	assert_int_equal(tar_reader_new((struct tar_source){ take, &b }, 2 * BYTES, &t),
			 0);
	assert_int_equal(tar_reader_next(t, &m, NULL), 0);
	assert_int_equal(tar_reader_get(t, got, BYTES, NULL), BYTES);
	assert_memory_equal(got, content, BYTES);
	assert_int_equal(tar_reader_next(t, &m, NULL), 1);
	tar_reader_free(t);
	/* One flipped bit: bzip2's checksum detects it. */
	file[1000] ^= 4;
	b = (struct bytes){ file, 2 * BYTES };
	assert_int_equal(tar_reader_new((struct tar_source){ take, &b }, 2 * BYTES, &t),
			 0);
	assert_int_equal(tar_reader_next(t, &m, NULL), -EBADMSG);
	tar_reader_free(t);
	free(content);
	free(got);
	free(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_posix_tar),
		cmocka_unit_test(rejects_other_files),
		cmocka_unit_test(reads_what_it_wrote),
		cmocka_unit_test(reads_gnu_long_names),
		cmocka_unit_test(reads_sizes_in_base_256),
		cmocka_unit_test(skips_content_of_unknown_members),
		cmocka_unit_test(prefixes_are_incomplete),
		cmocka_unit_test(allocation_failure_is_not_damage),
		cmocka_unit_test(reads_concatenated_bzip2_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
