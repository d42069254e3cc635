/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/unwind/stack_memo.h"

#include "base/containers/huge.h"

enum {
	FIRST_LINES = 1 << 10, /* 64 KB */
	MOST_LINES = 1 << 18,  /* 16 MB */
	FULL_LINE = 3          /* keys per line, on average, at which the cache grows */
};

void stack_memo_done(struct stack_memo *m)
{
	huge_zfree(m->lines, m->nr_lines, sizeof(*m->lines));
	*m = (struct stack_memo){ 0 };
}

static void stack_memo_store(struct stack_memo *m, uint64_t key, uint32_t stack)
{
	struct memo_line *line = stack_memo_line(m, key);
	uint32_t at = line->next;

	m->nr_keys += !line->keys[at];
	line->keys[at] = key;
	line->stacks[at] = stack;
	line->next = at + 1 < MEMO_WAYS ? at + 1 : 0;
}

/* Doubles the number of lines, if there is memory. */
static void stack_memo_grow(struct stack_memo *m)
{
	struct stack_memo grown = {
		.nr_lines = m->nr_lines ? 2 * m->nr_lines : FIRST_LINES,
	};

	grown.lines = huge_zalloc(grown.nr_lines, sizeof(*grown.lines));
	if (!grown.lines)
		return;
	for (size_t i = 0; i < m->nr_lines; i++)
		for (unsigned int way = 0; way < MEMO_WAYS; way++)
			if (m->lines[i].keys[way])
				stack_memo_store(&grown, m->lines[i].keys[way],
						 m->lines[i].stacks[way]);
	stack_memo_done(m);
	*m = grown;
}

void stack_memo_put(struct stack_memo *m, uint64_t key, uint32_t stack)
{
	if (stack_memo_get(m, key) != DICT_NONE)
		return;
	if (m->nr_keys >= FULL_LINE * m->nr_lines && m->nr_lines < MOST_LINES)
		stack_memo_grow(m);
	if (m->nr_lines)
		stack_memo_store(m, key, stack);
}
