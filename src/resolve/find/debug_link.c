/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/find/debug_link.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cursor.h"
#include "base/files/faults.h"
#include "base/files/io.h"
#include "base/files/trust.h"
#include "resolve/elf/file.h"

enum {
	SECTION_MAX = 4096,
	READ_BYTES = 256 << 10,
	CRC_SLICES = 8
};

/* The polynomial of IEEE 802.3, with reversed bits. */
#define CRC_POLYNOMIAL 0xedb88320

struct crc_table {
	/* of[n][b]: CRC of byte b followed by n zero bytes */
	uint32_t of[CRC_SLICES][256];
};

static void make_crc_table(struct crc_table *t)
{
	for (uint32_t b = 0; b < 256; b++) {
		uint32_t crc = b;

		for (unsigned int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ CRC_POLYNOMIAL : crc >> 1;
		t->of[0][b] = crc;
	}
	for (unsigned int n = 1; n < CRC_SLICES; n++)
		for (unsigned int b = 0; b < 256; b++)
			t->of[n][b] =
				t->of[n - 1][b] >> 8 ^ t->of[0][t->of[n - 1][b] & 0xff];
}

static uint32_t debug_link_le32(const uint8_t *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	       (uint32_t)at[3] << 24;
}

/* Processes eight bytes at a time ("slicing by 8"): debug files are large. */
static uint32_t crc_of(const struct crc_table *t, uint32_t crc, const uint8_t *at,
		       size_t len)
{
	crc = ~crc;
	for (; len >= CRC_SLICES; len -= CRC_SLICES, at += CRC_SLICES) {
		uint32_t a = debug_link_le32(at) ^ crc;
		uint32_t b = debug_link_le32(at + 4);

		crc = t->of[7][a & 0xff] ^ t->of[6][a >> 8 & 0xff] ^
		      t->of[5][a >> 16 & 0xff] ^ t->of[4][a >> 24] ^
		      t->of[3][b & 0xff] ^ t->of[2][b >> 8 & 0xff] ^
		      t->of[1][b >> 16 & 0xff] ^ t->of[0][b >> 24];
	}
	for (; len; len--, at++)
		crc = crc >> 8 ^ t->of[0][(crc ^ *at) & 0xff];
	return ~crc;
}

uint32_t debug_link_crc(uint32_t crc, const void *bytes, size_t len)
{
	struct crc_table table;

	make_crc_table(&table);
	return crc_of(&table, crc, bytes, len);
}

int debug_link_parse(const void *bytes, size_t len, int swap,
		     struct debug_link *ret_link)
{
	struct cursor c = cursor_of(bytes, len, swap);
	size_t name_len = strnlen(bytes, len);

	if (name_len == 0 || name_len > DEBUG_LINK_NAME_MAX || name_len == len ||
	    memchr(bytes, '/', name_len))
		return -EBADMSG;
	c.pos = (name_len + 4) & ~(size_t)3;
	if (c.pos > len || cursor_left(&c) < sizeof(uint32_t))
		return -EBADMSG;
	memcpy(ret_link->name, bytes, name_len + 1);
	ret_link->crc = cursor_u32(&c);
	return 0;
}

int debug_link_read(struct elf_file *f, struct debug_link *ret_link)
{
	const struct elf_section *s;
	uint8_t *bytes;
	int r = elf_file_sections(f, NULL);

	if (r)
		return r;
	s = elf_file_find_section(f, ".gnu_debuglink");
	if (!s)
		return -ENODATA;
	r = elf_file_section_bytes(f, s, SECTION_MAX, &bytes);
	if (r)
		return r;
	r = debug_link_parse(bytes, (size_t)s->bytes, f->swap, ret_link);
	free(bytes);
	return r;
}

static bool has_crc(int fd, uint32_t wanted)
{
	uint8_t *bytes = malloc(READ_BYTES);
	struct crc_table table;
	uint32_t crc = 0;
	uint64_t at = 0;
	ssize_t n = -1;

	if (!bytes)
		return false;
	make_crc_table(&table);
	do {
		n = io_pread_full(fd, bytes, READ_BYTES, at);
		if (n > 0)
			crc = crc_of(&table, crc, bytes, (size_t)n);
		at += n > 0 ? (uint64_t)n : 0;
	} while (n == READ_BYTES);
	free(bytes);
	fault_unreadable_fd(fd, (int)(n < 0 ? n : 0));
	return n >= 0 && crc == wanted;
}

/* Returns whether the file's owner can be trusted. A CRC is easily forged, and other users might
 * be able to write to the binary's directory. */
static bool has_trusted_owner(int fd, int binary_fd)
{
	struct stat debug, binary;

	return !fault_stat_fd(fd, &debug) &&
	       (trust_is_own(debug.st_uid) ||
		(!fault_stat_fd(binary_fd, &binary) && binary.st_uid == debug.st_uid));
}

int debug_link_find(const struct debug_link *link, int binary_fd, const char *root,
		    const char *binary, int *ret_fd, char **ret_path)
{
	static const char *const locations[][2] = { { "", "" },
						    { "", "/.debug" },
						    { "/usr/lib/debug", "" } };
	const char *slash = strrchr(binary, '/');
	int dir_len = slash ? (int)(slash - binary) : 0;

	if (!slash)
		return -ENOENT;
	for (size_t i = 0; i < COUNT_OF(locations); i++) {
		char *path;
		int fd;

		if (asprintf(&path, "%s%s%.*s%s/%s", root, locations[i][0], dir_len,
			     binary, locations[i][1], link->name) < 0)
			return -ENOMEM;
		fd = fault_unreadable(path, elf_open_regular(path));
		if (fd >= 0 && has_trusted_owner(fd, binary_fd) &&
		    has_crc(fd, link->crc)) {
			*ret_fd = fd;
			*ret_path = path;
			return 0;
		}
		if (fd >= 0)
			close(fd);
		free(path);
	}
	return -ENOENT;
}
