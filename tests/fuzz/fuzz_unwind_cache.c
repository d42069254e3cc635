/* fuzz_unwind_cache.c - files of unwind tables, whose hashes and length are put right, so that what
 * they protect is reached; then a stack is unwound with what they say. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/io.h"
#include "resolve/unwind_cache.h"
#include "unwind_walk.h"

enum {
	HEAD = 160,
	ROWS_HASH_AT = 56,
	REST_HASH_AT = 64,
	LENGTH_AT = 72
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_u64(uint8_t *at, uint64_t v)
{
	for (unsigned int i = 0; i < 8; i++)
		at[i] = (uint8_t)(v >> (8 * i));
}

static uint32_t get_u32(const uint8_t *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	       (uint32_t)at[3] << 24;
}

static void put_right(uint8_t *file, size_t size)
{
	uint64_t rest = (uint64_t)get_u32(file + 32) * 13 +
			(uint64_t)get_u32(file + 36) * 6 + get_u32(file + 40) +
			get_u32(file + 48);

	if (rest <= size - HEAD) {
		put_u64(file + REST_HASH_AT, hash_bytes(file + HEAD, rest, 0));
		put_u64(file + ROWS_HASH_AT,
			hash_bytes(file + HEAD + rest, size - HEAD - rest, 0));
	}
	put_u64(file + LENGTH_AT, size);
	put_u64(file + HEAD - 8, hash_bytes(file, HEAD - 8, 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[] = "/tmp/fuzz_unwind_cache.XXXXXX";
	struct unwind_walk w = { 0 };
	uint8_t *copy = malloc(size + 1);
	int fd = mkostemp(path, O_CLOEXEC);

	if (copy && fd >= 0 && size >= HEAD) {
		memcpy(copy, data, size);
		put_right(copy, size);
		if (!io_write_all(fd, copy, size)) {
			free(unwind_cache_path_of(path));
			if (!unwind_cache_read(path, NULL, &w.table)) {
				w.base = w.table->base;
				walk_table(&w, data, size, data[0] & 64);
				unwind_table_free(w.table);
			}
		}
	}
	if (fd >= 0) {
		unlink(path);
		close(fd);
	}
	free(copy);
	return 0;
}
