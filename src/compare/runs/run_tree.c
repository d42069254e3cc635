/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run_tree.c - copies the call tree of a profile to a run. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "base/buf.h"
#include "base/files/path.h"
#include "compare/names.h"
#include "compare/runs/run_priv.h"

static const char inlined_mark[] = " (inlined)";

/* Returns the number of "[FILE]", where FILE is the file name of an image, or STRTAB_FAILED. */
static uint32_t run_tree_image_name(const struct run_making *m, const char *path)
{
	const char *base = path_base(path);
	struct buf text = { 0 };
	uint32_t number = STRTAB_FAILED;

	buf_put_u8(&text, '[');
	buf_put(&text, base, strlen(base));
	buf_put_u8(&text, ']');
	if (!text.failed)
		number = run_add_text(m, (const char *)text.data, text.len);
	buf_done(&text);
	return number;
}

/* Sets the names of a function. Returns false if memory runs out. An inlined copy has the name of
 * the function, so that it matches if the compiler inlines it on one side only. */
static bool run_tree_name_item(const struct run_making *m, uint32_t function,
			       struct run_item *item)
{
	struct profile *p = m->from->profile;
	const struct profile_function *f = &p->functions.at[function];
	const char *name;
	size_t len, mark = strlen(inlined_mark);

	if (f->kind != FUNCTION_NAMED && f->kind != FUNCTION_INLINED) {
		item->name = run_tree_image_name(
			m, strtab_get(&p->strings, p->images.at[f->image].name));
		return item->name != STRTAB_FAILED;
	}
	name = profile_function_name(p, function);
	if (!name)
		return false;
	len = name_stable_len(name);
	if (f->kind == FUNCTION_INLINED && len > mark &&
	    !strncmp(name + len - mark, inlined_mark, mark))
		len -= mark;
	item->name = run_add_text(m, name, len);
	item->function = name_is_function(name) ? item->name : 0;
	return item->name != STRTAB_FAILED;
}

static uint32_t run_tree_push_item(struct run_making *m, const struct run_item *item)
{
	if (!vec_push(&m->run->items, *item))
		return DICT_NONE;
	return (uint32_t)m->run->items.nr - 1;
}

/* Returns the item of a function, or DICT_NONE if memory is short. */
static uint32_t run_tree_item_of(struct run_making *m, uint32_t function)
{
	const struct profile *p = m->from->profile;
	const struct profile_function *f = &p->functions.at[function];
	const uint32_t name = p->images.at[f->image].name;
	struct run_item item = { 0 };

	if (m->item_of_function[function] != DICT_NONE)
		return m->item_of_function[function];
	item.image = run_add_image(m, name, strtab_get(&p->strings, name));
	if (item.image == DICT_NONE || !run_tree_name_item(m, function, &item))
		return DICT_NONE;
	m->item_of_function[function] = run_tree_push_item(m, &item);
	return m->item_of_function[function];
}

/* Adds the item of code that belongs to no function: "" without a stack, or "[truncated]". */
static uint32_t run_tree_add_other(struct run_making *m, const char *name)
{
	struct run_item item = { .name = run_add_text(m, name, strlen(name)) };

	item.image = run_add_image(m, UINT64_MAX, "");
	if (item.image == DICT_NONE || item.name == STRTAB_FAILED)
		return DICT_NONE;
	return run_tree_push_item(m, &item);
}

static int run_tree_add_node(struct run_making *m, uint32_t from)
{
	const struct call_node *nodes = m->from->profile->calls.nodes.at;
	struct run_node to = { .caller = DICT_NONE };

	if (from == CALL_ROOT) {
		to.item = run_tree_add_other(m, "");
	} else if (from == CALL_TRUNCATED) {
		to.caller = m->node_of[CALL_ROOT];
		to.item = run_tree_add_other(m, "[truncated]");
	} else {
		to.caller = m->node_of[nodes[from].caller];
		to.item = run_tree_item_of(m, nodes[from].function);
	}
	m->node_of[from] = (uint32_t)m->run->nodes.nr;
	return to.item != DICT_NONE && vec_push(&m->run->nodes, to) ? 0 : -ENOMEM;
}

int run_add_tree(struct run_making *m)
{
	const struct profile *p = m->from->profile;
	const size_t nr = p->calls.nodes.nr;
	int r = 0;

	m->node_of = calloc(nr + 1, sizeof(*m->node_of));
	m->item_of_function =
		malloc((p->functions.nr + 1) * sizeof(*m->item_of_function));
	if (!m->node_of || !m->item_of_function)
		return -ENOMEM;
	memset(m->item_of_function, 0xff,
	       p->functions.nr * sizeof(*m->item_of_function));
	/* There is always a root, for samples without a stack. */
	for (uint32_t i = 0; !r && (i < nr || i == CALL_ROOT); i++)
		r = run_tree_add_node(m, i);
	return r;
}
