#include "format/tar.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
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

/* A header by POSIX's table, at `block`. */
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

static void what_posix_describes_is_read(void **state)
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

static void what_is_no_tar_is_refused(void **state)
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
	assert_string_equal(err.text, "no tar file, or a damaged one");
	tar_reader_free(t);

	put_header(tar, "file", '0', 5);
	b = (struct bytes){ tar, BLOCK + 3 };
	assert_int_equal(
		tar_reader_new((struct tar_source){ take, &b }, sizeof(tar), &t), 0);
	assert_int_equal(tar_reader_next(t, &m, &err), 0);
	assert_int_equal(tar_reader_next(t, &m, &err), -EBADMSG);
	assert_string_equal(err.text, "cut short");
	tar_reader_free(t);
}

static void what_was_written_is_read_again(void **state)
{
	static char long_name[300], content[3000], got[3000];
	static uint8_t file[1 << 16];
	int fd = memfd_create("tar", MFD_CLOEXEC);
	struct err err = { 0 };
	struct tar_writer *w;
	struct tar_reader *t;
	struct tar_member m;
	struct bytes b;

	(void)state;
	memset(long_name, 'n', sizeof(long_name) - 1);
	memset(content, 'c', sizeof(content));
	assert_int_equal(tar_writer_new(fd, &w), 0);
	assert_int_equal(tar_writer_begin(w, long_name, sizeof(content), 1), 0);
	assert_int_equal(tar_writer_put(w, content, 1000), 0);
	assert_int_equal(tar_writer_end(w), -EIO);
	assert_int_equal(tar_writer_put(w, content, 2000), 0);
	assert_int_equal(tar_writer_put(w, content, 1), -EFBIG);
	assert_int_equal(tar_writer_end(w), 0);
	assert_int_equal(tar_writer_finish(w), 0);
	tar_writer_free(w);
	b = (struct bytes){ file, (size_t)pread(fd, file, sizeof(file), 0) };
	close(fd);
	assert_true(b.left < sizeof(content)); /* packed */

	assert_int_equal(tar_reader_new((struct tar_source){ take, &b }, 1 << 16, &t),
			 0);
	assert_int_equal(tar_reader_next(t, &m, &err), 0);
	assert_string_equal(m.name, long_name);
	assert_int_equal(tar_reader_get(t, got, sizeof(got), &err), sizeof(got));
	assert_memory_equal(got, content, sizeof(got));
	assert_int_equal(tar_reader_next(t, &m, &err), 1);
	tar_reader_free(t);

	/* More than may be unpacked. */
	b = (struct bytes){ file, sizeof(file) };
	assert_int_equal(tar_reader_new((struct tar_source){ take, &b }, 4000, &t), 0);
	assert_int_equal(tar_reader_next(t, &m, &err), 0);
	assert_int_equal(tar_reader_get(t, got, sizeof(got), &err), -EFBIG);
	tar_reader_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_posix_describes_is_read),
		cmocka_unit_test(what_is_no_tar_is_refused),
		cmocka_unit_test(what_was_written_is_read_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
