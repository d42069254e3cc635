/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/io.h"
#include "resolve/find/debug_link.h"

static void crc_agrees_with_zlib(void **state)
{
	static const char text[] = "123456789";
	char many[1000];
	uint32_t whole;

	(void)state;
	assert_int_equal(debug_link_crc(0, "", 0), 0);
	assert_int_equal(debug_link_crc(0, text, 9), 0xcbf43926);
	for (size_t cut = 0; cut <= 9; cut++)
		assert_int_equal(debug_link_crc(debug_link_crc(0, text, cut),
						text + cut, 9 - cut),
				 0xcbf43926);
	/* Computes the CRC bit by bit after its polynomial, to compare it with the function, which
	 * takes eight bytes at a time. */
	whole = 0xffffffff;
	for (size_t i = 0; i < sizeof(many); i++) {
		many[i] = (char)(i * 7);
		whole ^= (uint8_t)many[i];
		for (int bit = 0; bit < 8; bit++)
			whole = whole & 1 ? whole >> 1 ^ 0xedb88320 : whole >> 1;
	}
	assert_int_equal(debug_link_crc(0, many, sizeof(many)), ~whole);
}

static void reads_debug_link_sections(void **state)
{
	static const char good[] = "prog.debug\0\0\x78\x56\x34\x12";
	static const char swapped[] = "abc\0\x12\x34\x56\x78";
	struct debug_link link;

	(void)state;
	assert_int_equal(debug_link_parse(good, 16, 0, &link), 0);
	assert_string_equal(link.name, "prog.debug");
	assert_int_equal(link.crc, 0x12345678);
	assert_int_equal(debug_link_parse(swapped, 8, 1, &link), 0);
	assert_string_equal(link.name, "abc");
	assert_int_equal(link.crc, 0x12345678);
	for (size_t len = 0; len < 16; len++)
		assert_int_equal(debug_link_parse(good, len, 0, &link), -EBADMSG);
	assert_int_equal(debug_link_parse("\0\0\0\0abcd", 8, 0, &link), -EBADMSG);
	assert_int_equal(debug_link_parse("../x\0\0\0\0abcd", 12, 0, &link), -EBADMSG);
}

static void put_file(const char *dir, const char *below, const char *name,
		     const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s%s", dir, below);
	assert_int_equal(io_make_dirs(path, 0755), 0);
	snprintf(path, sizeof(path), "%s%s/%s", dir, below, name);
	assert_int_equal(io_write_file(path, text, strlen(text), 0644), 0);
}

static void expect_of(const char *root, int binary_fd, uint32_t crc, const char *end)
{
	struct debug_link link = { .name = "prog.debug", .crc = crc };
	char *path;
	int fd;
	int r = debug_link_find(&link, binary_fd, root, "/usr/bin/prog", &fd, &path);

	if (!end) {
		assert_int_equal(r, -ENOENT);
		return;
	}
	assert_int_equal(r, 0);
	assert_int_equal(strncmp(path, root, strlen(root)), 0);
	assert_string_equal(path + strlen(root), end);
	close(fd);
	free(path);
}

static void expect(const char *root, uint32_t crc, const char *end)
{
	expect_of(root, -1, crc, end);
}

/* Anyone can make a file with a given CRC. */
static void ignores_files_of_another_user(void **state)
{
	char root[] = "/tmp/test_debug_link.XXXXXX";
	uint32_t crc = debug_link_crc(0, "a", 1);
	char path[256];
	int fd;

	(void)state;
	if (geteuid())
		skip();
	assert_non_null(mkdtemp(root));
	put_file(root, "/usr/bin", "prog.debug", "a");
	put_file(root, "/usr/bin", "prog", "binary");
	snprintf(path, sizeof(path), "%s/usr/bin/prog.debug", root);
	assert_int_equal(chown(path, 65534, 65534), 0);
	snprintf(path, sizeof(path), "%s/usr/bin/prog", root);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	expect_of(root, fd, crc, NULL);
	assert_int_equal(fchown(fd, 65534, 65534), 0);
	expect_of(root, fd, crc, "/usr/bin/prog.debug");
	close(fd);
	io_remove_tree(root);
}

/* Only a file with the right content counts, wherever it is. */
static void searches_three_directories(void **state)
{
	char root[] = "/tmp/test_debug_link.XXXXXX";
	struct debug_link link = { .name = "prog.debug" };
	char *path;
	int fd;

	(void)state;
	assert_non_null(mkdtemp(root));
	expect(root, debug_link_crc(0, "a", 1), NULL);
	put_file(root, "/usr/bin", "prog.debug", "a");
	put_file(root, "/usr/bin/.debug", "prog.debug", "b");
	put_file(root, "/usr/lib/debug/usr/bin", "prog.debug", "c");
	expect(root, debug_link_crc(0, "a", 1), "/usr/bin/prog.debug");
	expect(root, debug_link_crc(0, "b", 1), "/usr/bin/.debug/prog.debug");
	expect(root, debug_link_crc(0, "c", 1), "/usr/lib/debug/usr/bin/prog.debug");
	expect(root, debug_link_crc(0, "d", 1), NULL);
	assert_int_equal(debug_link_find(&link, -1, root, "prog", &fd, &path), -ENOENT);
	io_remove_tree(root);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(crc_agrees_with_zlib),
		cmocka_unit_test(reads_debug_link_sections),
		cmocka_unit_test(searches_three_directories),
		cmocka_unit_test(ignores_files_of_another_user),
	};

	return UNIT_RUN(cases);
}
