/* stack_memo.h - stacks that were met, by a hash of what they are of.
 * Layer: resolve.  A cache: what is not found is worked out.  64 bits stand for all of a stack; of
 * ten million different ones two have the same in one of 300 000 cases. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/session/dict.h"

enum {
	MEMO_WAYS = 5 /* as many as fit in a line of the caches */
};

struct memo_line {
	uint64_t keys[MEMO_WAYS]; /* 0: none */
	uint32_t stacks[MEMO_WAYS];
	uint32_t next; /* the one that is given up next */
};

/* All zeros is an empty one. */
struct stack_memo {
	struct memo_line *lines; /* huge_zalloc() */
	size_t nr_lines;         /* a power of two, or 0 */
	size_t nr_keys;
};

void stack_memo_done(struct stack_memo *m);
/* Keeps the stack of a key (not 0).  It may be forgotten again, at once if memory is short. */
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

/* DICT_NONE: it is not there. */
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
