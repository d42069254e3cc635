/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stack_memo.h - a cache of unwound stacks, by a hash of their input.
 * Layer: resolve. Only the 64-bit hash is compared: among ten million different stacks, a
 * collision has a probability of one in 300 000. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/session/dict.h"

enum {
	MEMO_WAYS = 5 /* as many as fit in a cache line */
};

struct memo_line {
	uint64_t keys[MEMO_WAYS]; /* 0: empty */
	uint32_t stacks[MEMO_WAYS];
	uint32_t next; /* the entry to replace next */
};

/* Zeroed memory is an empty cache. */
struct stack_memo {
	struct memo_line *lines; /* from huge_zalloc() */
	size_t nr_lines;         /* a power of two, or 0 */
	size_t nr_keys;
};

void stack_memo_done(struct stack_memo *m);
/* Adds the stack of a key (not 0). It can be evicted at any time, or not be added if out of
 * memory. */
void stack_memo_put(struct stack_memo *m, uint64_t key, uint32_t stack);

static inline struct memo_line *stack_memo_line(const struct stack_memo *m,
						uint64_t key)
{
	return &m->lines[key & (m->nr_lines - 1)];
}

static inline void stack_memo_prefetch(const struct stack_memo *m, uint64_t key)
{
	if (m->nr_lines)
		__builtin_prefetch(stack_memo_line(m, key));
}

/* Returns the stack that was stored for a key; DICT_NONE if no stack is stored for it. */
static inline uint32_t stack_memo_get(const struct stack_memo *m, uint64_t key)
{
	const struct memo_line *line;

	if (!m->nr_lines)
		return DICT_NONE;
	line = stack_memo_line(m, key);
	for (unsigned int i = 0; i < MEMO_WAYS; i++)
		if (line->keys[i] == key)
			return line->stacks[i];
	return DICT_NONE;
}
