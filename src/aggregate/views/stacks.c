/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stacks.c - finds the functions of stacks, for a view with callers. */
#include <errno.h>
#include <stdlib.h>

#include "aggregate/profile/call_tree.h"
#include "aggregate/views/view.h"
#include "base/containers/sort_keys.h"

/* Sorts the leaves by address, as view_name_positions() does. */
static int order_leaves(const struct view *v, const uint8_t *is_leaf, size_t nr,
			struct sort_key **ret_keys)
{
	const struct frame *frames = v->source.dict->frames.at;
	struct sort_key *keys = malloc((nr + 1) * sizeof(*keys));
	size_t nr_keys = 0;
	int r;

	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < v->source.dict->frames.nr; i++)
		if (is_leaf[i])
			keys[nr_keys++] =
				(struct sort_key){ frames[i].offset, (uint32_t)i };
	r = sort_keys(&keys, nr);
	for (size_t i = 0; i < nr; i++)
		keys[i].at = frames[keys[i].index].image;
	if (!r)
		r = sort_keys(&keys, nr);
	if (r)
		free(keys);
	else
		*ret_keys = keys;
	return r;
}

static int name_leaves(struct profile *p, struct view *v)
{
	size_t nr_frames = v->source.dict->frames.nr;
	uint8_t *is_leaf = calloc(nr_frames + 1, sizeof(*is_leaf));
	struct sort_key *keys = NULL;
	size_t nr = 0;
	int r;

	if (!is_leaf)
		return -ENOMEM;
	for (size_t i = 0; i < v->positions.nr; i++) {
		uint64_t frame = v->positions.at[i].address;

		if (frame < nr_frames && !is_leaf[frame]) {
			is_leaf[frame] = 1;
			nr++;
		}
	}
	r = order_leaves(v, is_leaf, nr, &keys);
	for (size_t i = 0; !r && i < nr; i++)
		if (call_tree_leaf(p, v, keys[i].index) == VIEW_UNSET)
			r = -ENOMEM;
	free(keys);
	free(is_leaf);
	return r;
}

/* Makes the nodes of all positions and their callers. Stacks that were recorded one after the other
 * have callers in common, which become adjacent nodes. */
int view_name_stacks(struct profile *p, struct view *v)
{
	const struct dict *d = v->source.dict;
	int r = name_leaves(p, v);

	for (size_t i = 0; !r && i < v->positions.nr; i++) {
		struct position *position = &v->positions.at[i];
		uint32_t frame = (uint32_t)position->address;
		const struct frame *f =
			frame < d->frames.nr ? &d->frames.at[frame] : NULL;

		position->function = call_tree_leaf(p, v, frame);
		position->address = 0;
		if (p->needs & NEED_ADDRESS)
			position->address = view_address(v, f ? f->image : DICT_NONE,
							 f ? f->offset : 0);
		position->calls = call_tree_of_stack(p, v, position->calls);
		if (position->function == VIEW_UNSET || position->calls == DICT_NONE)
			r = -ENOMEM;
	}
	return r;
}
