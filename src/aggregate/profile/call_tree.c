/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/profile/call_tree.h"

#include <string.h>

#include "aggregate/profile/profile.h"
#include "base/buf.h"
#include "base/files/path.h"
#include "base/utf8.h"

static int make_roots(struct call_tree *t)
{
	const struct call_node root = { .function = DICT_NONE };

	while (t->nodes.nr < CALL_FIRST)
		if (!vec_push(&t->nodes, root))
			return -1;
	return 0;
}

static uint32_t add_node(struct call_tree *t, uint32_t caller, uint32_t function)
{
	if (!vec_push(&t->nodes, (struct call_node){ caller, function }))
		return DICT_NONE;
	return (uint32_t)t->nodes.nr - 1;
}

uint32_t call_tree_node(struct call_tree *t, uint32_t caller, uint32_t function)
{
	uint32_t next = caller + 1;
	uint32_t *value_plus_1;
	bool is_new;

	if (make_roots(t))
		return DICT_NONE;
	/* Paths are added from the root to the leaf, so most nodes directly follow their caller.
	 * These are not in the table. */
	if (next == t->nodes.nr)
		return add_node(t, caller, function);
	if (next < t->nodes.nr && t->nodes.at[next].caller == caller &&
	    t->nodes.at[next].function == function)
		return next;
	value_plus_1 = pairs_at(&t->by, caller, function, &is_new);
	if (!value_plus_1)
		return DICT_NONE;
	/* If memory is short, *number stays 0, which means "no node". */
	if (is_new)
		*value_plus_1 = add_node(t, caller, function) + 1;
	return *value_plus_1 - 1;
}

static uint32_t add_line_node(struct call_tree *t, uint32_t caller, uint32_t function,
			      uint32_t line)
{
	while (t->lines.nr < t->nodes.nr)
		if (!vec_push(&t->lines, DICT_NONE))
			return DICT_NONE;
	return vec_push(&t->lines, line) ? add_node(t, caller, function) : DICT_NONE;
}

uint32_t call_tree_line_node(struct call_tree *t, uint32_t caller, uint32_t function,
			     uint32_t line)
{
	uint32_t *number_plus_1, *value_plus_1;
	bool is_new;

	if (make_roots(t))
		return DICT_NONE;
	number_plus_1 = pairs_at(&t->lines_by, function, line, &is_new);
	if (!number_plus_1)
		return DICT_NONE;
	if (is_new)
		*number_plus_1 = (uint32_t)t->lines_by.nr;
	value_plus_1 = pairs_at(&t->by, caller, *number_plus_1, &is_new);
	if (!value_plus_1)
		return DICT_NONE;
	if (is_new)
		*value_plus_1 = add_line_node(t, caller, function, line) + 1;
	return *value_plus_1 - 1;
}

uint32_t call_tree_line(const struct call_tree *t, uint32_t node)
{
	return node < t->lines.nr ? t->lines.at[node] : DICT_NONE;
}

void call_tree_done(struct call_tree *t)
{
	vec_done(&t->nodes);
	vec_done(&t->lines);
	pairs_done(&t->lines_by);
	pairs_done(&t->by);
}

/* Appends a name to a folded stack, whose format has no escapes: ';' becomes ':', and control
 * characters become '?'. Bytes that are not UTF-8 become U+FFFD, as in JSON. */
static void put_clean(struct buf *b, const char *name)
{
	size_t left = strlen(name);

	while (left) {
		uint32_t code = 0;
		size_t step = utf8_next(name, left, &code);

		if (!step)
			buf_put(b, "\xef\xbf\xbd", 3);
		else if (*name == ';' || utf8_is_control(code))
			buf_put_u8(b, *name == ';' ? ':' : '?');
		else
			buf_put(b, name, step);
		name += step ? step : 1;
		left -= step ? step : 1;
	}
}

static void call_tree_put_function(struct profile *p, struct buf *b, uint32_t function)
{
	const struct profile_function *f = &p->functions.at[function];
	const char *name;

	if (f->kind == FUNCTION_NAMED || f->kind == FUNCTION_INLINED) {
		name = profile_function_name(p, function);
		put_clean(b, name ? name : "");
		return;
	}
	buf_put_u8(b, '[');
	put_clean(b, path_base(strtab_get(&p->strings, p->images.at[f->image].name)));
	buf_put_u8(b, ']');
}

const char *call_tree_text(struct profile *p, uint32_t node)
{
	const struct call_node *nodes = p->calls.nodes.at;
	struct buf *b = &p->call_texts[p->call_text ^= 1];

	p->path.nr = 0;
	buf_clear(b);
	for (; node >= CALL_FIRST && node < p->calls.nodes.nr;
	     node = nodes[node].caller)
		if (!vec_push(&p->path, nodes[node].function))
			return "";
	if (node == CALL_TRUNCATED)
		buf_put(b, "[truncated];", strlen("[truncated];"));
	for (size_t i = p->path.nr; i; i--) {
		call_tree_put_function(p, b, p->path.at[i - 1]);
		if (i > 1)
			buf_put_u8(b, ';');
	}
	buf_put_u8(b, 0);
	return b->failed ? "" : (const char *)b->data;
}
