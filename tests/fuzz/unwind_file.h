/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unwind_file.h - corrects hashes and length of unwind table files, so that fuzz targets reach
 * the data that they protect (docs/unwinding.md). */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/containers/hash.h"

enum {
	UNWIND_FILE_HEAD = 160,
	UNWIND_FILE_ROWS_HASH_AT = 56,
	UNWIND_FILE_REST_HASH_AT = 64,
	UNWIND_FILE_LENGTH_AT = 72
};

static inline void unwind_file_put_u64(uint8_t *at, uint64_t v)
{
	for (unsigned int i = 0; i < 8; i++)
		at[i] = (uint8_t)(v >> (8 * i));
}

static inline uint32_t unwind_file_u32(const uint8_t *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	       (uint32_t)at[3] << 24;
}

/* Corrects the hashes and the length of a file. `size` is its number of bytes, at least those of
 * the header. */
static inline void unwind_file_put_right(uint8_t *file, size_t size)
{
	uint64_t rest = (uint64_t)unwind_file_u32(file + 32) * 13 +
			(uint64_t)unwind_file_u32(file + 36) * 6 +
			unwind_file_u32(file + 40) + unwind_file_u32(file + 48);

	if (rest <= size - UNWIND_FILE_HEAD) {
		unwind_file_put_u64(file + UNWIND_FILE_REST_HASH_AT,
				    hash_bytes(file + UNWIND_FILE_HEAD, rest, 0));
		unwind_file_put_u64(file + UNWIND_FILE_ROWS_HASH_AT,
				    hash_bytes(file + UNWIND_FILE_HEAD + rest,
					       size - UNWIND_FILE_HEAD - rest, 0));
	}
	unwind_file_put_u64(file + UNWIND_FILE_LENGTH_AT, size);
	unwind_file_put_u64(file + UNWIND_FILE_HEAD - 8,
			    hash_bytes(file, UNWIND_FILE_HEAD - 8, 0));
}
