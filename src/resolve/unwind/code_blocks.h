/* SPDX-License-Identifier: GPL-2.0-or-later */
/* code_blocks.h - caches blocks of the code of binaries, for bare.h.
 * Layer: resolve. Not thread-safe; zero the struct before use, except `open_image` and `ctx`. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct code_block;

struct code_blocks {
	/* Returns a descriptor of an image's file, which the cache closes, or a negative errno. */
	int (*open_image)(void *ctx, uint32_t image);
	void *ctx;
	struct code_block *blocks; /* NULL before the first use */
};

/* Reads up to `len` bytes of an image at a file offset. Returns their number. */
size_t code_blocks_read(struct code_blocks *c, uint32_t image, uint64_t offset,
			uint8_t *ret_bytes, size_t len);
void code_blocks_done(struct code_blocks *c);
