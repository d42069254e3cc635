/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/unwind/code_blocks.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/hash.h"

enum {
	BLOCK_BYTES = 4096,
	BLOCKS = 128 /* a power of two */
};

struct code_block {
	uint64_t number; /* in the file */
	uint32_t image;
	bool is_used;
	uint16_t len;
	uint8_t bytes[BLOCK_BYTES];
};

static void code_block_fill(struct code_blocks *c, struct code_block *b, uint32_t image,
			    uint64_t number)
{
	int fd = c->open_image(c->ctx, image);
	ssize_t n = 0;

	if (fd >= 0) {
		n = pread(fd, b->bytes, BLOCK_BYTES, (off_t)(number * BLOCK_BYTES));
		close(fd);
	}
	b->number = number;
	b->image = image;
	b->is_used = true;
	b->len = n > 0 ? (uint16_t)n : 0;
}

static const struct code_block *code_block_of(struct code_blocks *c, uint32_t image,
					      uint64_t number)
{
	struct code_block *b;

	if (!c->blocks)
		c->blocks = calloc(BLOCKS, sizeof(*c->blocks));
	if (!c->blocks)
		return NULL;
	b = &c->blocks[hash_pair(number, image) & (BLOCKS - 1)];
	if (!b->is_used || b->image != image || b->number != number)
		code_block_fill(c, b, image, number);
	return b;
}

size_t code_blocks_read(struct code_blocks *c, uint32_t image, uint64_t offset,
			uint8_t *ret_bytes, size_t len)
{
	size_t done = 0;

	if (offset > INT64_MAX - len)
		return 0;
	while (done < len) {
		const struct code_block *b =
			code_block_of(c, image, (offset + done) / BLOCK_BYTES);
		size_t at = (offset + done) % BLOCK_BYTES, n = len - done;

		if (!b || at >= b->len)
			break;
		if (n > b->len - at)
			n = b->len - at;
		memcpy(ret_bytes + done, b->bytes + at, n);
		done += n;
	}
	return done;
}

void code_blocks_done(struct code_blocks *c)
{
	free(c->blocks);
	c->blocks = NULL;
}
