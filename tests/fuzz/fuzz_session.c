/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The session reader with any bytes. Checksums would reject nearly all inputs at once, so they
 * are corrected before a file is read, as an attacker would do. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/containers/hash.h"
#include "base/files/io.h"
#include "format/session/block.h"
#include "format/session/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	LEN_AT = 8,
	CHECK_AT = 12,
	SUM_AT = 16
};

static void store_le(uint8_t *at, uint64_t v, size_t len)
{
	for (size_t i = 0; i < len; i++)
		at[i] = (uint8_t)(v >> (8 * i));
}

/* Corrects the checksums of each block's header and payload. */
static void mend_sums(uint8_t *bytes, size_t size)
{
	uint64_t salt = 0;
	size_t at = SEGMENT_HEADER_BYTES;

	if (size < SEGMENT_HEADER_BYTES)
		return;
	for (size_t i = 0; i < 8; i++)
		salt |= (uint64_t)bytes[16 + i] << (8 * i);
	store_le(bytes + 24, hash_bytes(bytes, 24, 0), 8);
	while (size - at >= BLOCK_HEADER_BYTES) {
		uint8_t *h = bytes + at;
		uint64_t len =
			h[LEN_AT] | h[LEN_AT + 1] << 8 | (uint64_t)h[LEN_AT + 2] << 16;

		store_le(h + CHECK_AT, hash_bytes(h, CHECK_AT, salt), 4);
		at += BLOCK_HEADER_BYTES;
		if (len > size - at)
			break;
		store_le(h + SUM_AT, hash_bytes(bytes + at, len, salt), 8);
		at += len;
	}
}

/* Checks that the samples of a batch refer to existing entries, as every consumer requires. */
static void check_batch(const struct dict *d, const struct sample_batch *b)
{
	for (size_t i = 0; i < b->nr; i++) {
		uint32_t stack = b->stack[i];

		if ((b->thread[i] != DICT_NONE && b->thread[i] >= d->threads.nr) ||
		    (b->event[i] != DICT_NONE && b->event[i] >= d->events.nr) ||
		    (stack != DICT_NONE && stack >= d->stacks.nr))
			abort();
		while (stack != DICT_NONE && stack >= STACK_FIRST) {
			const struct stack *node = &d->stacks.at[stack];

			if (node->parent >= stack || node->frame >= d->frames.nr ||
			    d->frames.at[node->frame].image >= d->images.nr)
				abort();
			stack = node->parent;
		}
	}
}

static void read_all(int fd, unsigned int columns)
{
	struct segment *s;
	struct sample_batch b;

	if (segment_open_fd(fd, &s, NULL)) {
		close(fd);
		return;
	}
	while (!segment_next(s, columns, &b, NULL))
		if (columns == COLUMN_ALL)
			check_batch(segment_dict(s), &b);
	for (uint32_t i = 0; i < segment_dict(s)->strings.strings.nr; i++)
		if (strlen(dict_str(segment_dict(s), i)) == SIZE_MAX)
			abort();
	segment_close(s);
}

static int file_of(const uint8_t *bytes, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || io_write_all(fd, bytes, size))
		abort();
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + 1);

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	read_all(file_of(copy, size), COLUMN_ALL);
	mend_sums(copy, size);
	read_all(file_of(copy, size), COLUMN_ALL);
	read_all(file_of(copy, size), COLUMN_STACK);
	free(copy);
	return 0;
}
