/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unwind_walk.h - checks an unwind table in fuzz targets: its rows are sorted, and a walk with
 * any registers and any memory ends. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/hash.h"
#include "resolve/unwind/table.h"
#include "resolve/unwind/unwind.h"

enum {
	WALK_FRAMES_MAX = 256
};

struct unwind_walk {
	struct unwind_table *table;
	uint64_t base; /* code is in the 64 KB from this address on */
	uint64_t seed; /* for the contents of memory outside the window */
};

static inline uint64_t walk_same(const void *ctx, uint64_t vaddr)
{
	(void)ctx;
	return vaddr;
}

static inline enum unwind_code walk_find(void *ctx, uint64_t pc,
					 const struct unwind_table **ret_table,
					 uint64_t *ret_offset)
{
	const struct unwind_walk *w = ctx;

	*ret_table = w->table;
	*ret_offset = pc;
	return pc < w->base || pc - w->base >= 0x10000 ? UNWIND_CODE_NOWHERE
	       : pc % 16 == 15                         ? UNWIND_CODE_WITHOUT
						       : UNWIND_CODE_WITH_TABLE;
}

/* Half of the memory looks like addresses of code, the rest is arbitrary. */
static inline bool walk_read(void *ctx, uint64_t address, unsigned int bytes,
			     uint64_t *ret_value)
{
	const struct unwind_walk *w = ctx;
	uint64_t v = hash_pair(address, w->seed);

	*ret_value = v & 1 ? w->base + (v >> 8 & 0xffff) : v;
	if (bytes < sizeof(v))
		*ret_value &= (1ULL << (8 * bytes)) - 1;
	return v % 16 != 15;
}

/* Registers and the stack are filled with `bytes`, repeated. With `wide` registers have random
 * bits, and memory outside the stack is readable, so that the walk continues for long. */
static inline void walk_table(struct unwind_walk *w, const uint8_t *bytes, size_t len,
			      bool wide)
{
	static uint64_t pcs[WALK_FRAMES_MAX];
	const struct unwind_ops ops = { .find = walk_find,
					.read = wide ? walk_read : NULL,
					.ctx = w };
	struct unwind_regs regs = { .known = ~0ULL, .pc = w->base };
	struct unwind_window window = { .bytes = bytes,
					.len = len,
					.swap = w->table->swap };
	const struct unwind_arch *arch = w->table->arch;
	struct unwind_moment moment = { arch, &window, &ops, &regs, NULL };
	size_t nr;

	for (size_t i = 1; i < w->table->rows.nr; i++)
		if (w->table->rows.at[i].offset <= w->table->rows.at[i - 1].offset ||
		    w->table->rows.at[i].set >= w->table->sets.nr)
			abort();
	w->seed = hash_bytes(bytes, len, 1);
	for (unsigned int i = 0; i < arch->nr && len; i++)
		regs.at[i] =
			wide ? hash_pair(w->seed, i) : (uint64_t)bytes[i % len] * 8;
	if (len > 1)
		regs.pc += (uint64_t)bytes[0] << 8 | bytes[1];
	window.start = regs.at[arch->sp];
	(void)unwind_stack(&moment, pcs, WALK_FRAMES_MAX, &nr);
	if (nr < 1 || nr > WALK_FRAMES_MAX)
		abort();
}
