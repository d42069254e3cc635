/* fuzz_unwind_cache.c - files of unwind tables, whose hashes and length are put right, so that what
 * they protect is reached; then a stack is unwound with what they say. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/io.h"
#include "resolve/unwind.h"
#include "resolve/unwind_cache.h"

enum {
	HEAD = 160,
	ROWS_HASH_AT = 56,
	REST_HASH_AT = 64,
	LENGTH_AT = 72,
	FRAMES_MAX = 64
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

static enum unwind_code find(void *ctx, uint64_t pc,
			     const struct unwind_table **ret_table,
			     uint64_t *ret_offset)
{
	*ret_table = ctx;
	*ret_offset = pc;
	return UNWIND_CODE_WITH_TABLE;
}

static void walk(struct unwind_table *t, const uint8_t *bytes, size_t len)
{
	static uint64_t pcs[FRAMES_MAX];
	struct unwind_ops ops = { .find = find, .ctx = t };
	struct unwind_regs regs = { .known = ~0ULL, .pc = t->base };
	struct unwind_window window = { .bytes = bytes, .len = len, .swap = t->swap };
	struct unwind_moment moment = { t->arch, &window, &ops, &regs };
	size_t nr;

	for (unsigned int i = 0; i < UNWIND_REGS && len; i++)
		regs.at[i] = bytes[i % len];
	window.start = regs.at[t->arch->sp];
	(void)unwind_stack(&moment, pcs, FRAMES_MAX, &nr);
	if (nr < 1 || nr > FRAMES_MAX)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[] = "/tmp/fuzz_unwind_cache.XXXXXX";
	struct unwind_table *t;
	uint8_t *copy = malloc(size + 1);
	int fd = mkostemp(path, O_CLOEXEC);

	if (copy && fd >= 0 && size >= HEAD) {
		memcpy(copy, data, size);
		put_right(copy, size);
		if (!io_write_all(fd, copy, size)) {
			free(unwind_cache_path_of(path));
			if (!unwind_cache_read(path, NULL, &t)) {
				walk(t, data, size);
				unwind_table_free(t);
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
