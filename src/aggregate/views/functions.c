/* SPDX-License-Identifier: GPL-2.0-or-later */
/* functions.c - adds positions for all functions of stacks, even those without samples. */
#include <errno.h>
#include <stdlib.h>

#include "aggregate/views/call_inlines.h"
#include "aggregate/views/view.h"
#include "base/containers/sort_keys.h"

struct view_functions_adding {
	struct view *v;
	uint8_t *seen; /* by function */
};

static int view_functions_add_function(struct view_functions_adding *a,
				       uint32_t function, uint32_t image, uint64_t vma)
{
	struct position position = {
		.image = image, .function = function, .address = vma, .calls = CALL_ROOT
	};

	if (function == VIEW_UNSET || a->seen[function])
		return 0;
	a->seen[function] = 1;
	if (position.image >= a->v->source.dict->images.nr)
		position.image = DICT_NONE;
	return vec_push(&a->v->positions, position) ? 0 : -ENOMEM;
}

static int view_functions_add_frame(const struct profile *p,
				    struct view_functions_adding *a, size_t frame,
				    enum call_position position)
{
	uint32_t image = a->v->source.dict->frames.at[frame].image;
	uint32_t function = a->v->function_of[position][frame];
	const struct call_step *inlined;
	size_t nr;
	int r;

	if (function == VIEW_UNSET)
		return 0;
	r = view_functions_add_function(a, function, image,
					p->functions.at[function].vma);
	inlined = call_inlines_at(a->v->inlines, (uint32_t)frame, position, &nr);
	for (size_t i = 0; !r && i < nr; i++)
		r = view_functions_add_function(a, inlined[i].function, image, 0);
	return r;
}

static int view_functions_add_all(const struct profile *p,
				  struct view_functions_adding *a)
{
	int r = view_functions_add_function(a, a->v->damaged, DICT_NONE, 0);

	for (enum call_position position = 0; position < CALL_POSITIONS; position++)
		for (size_t i = 0; !r && i < a->v->nr_functions_of[position]; i++)
			r = view_functions_add_frame(p, a, i, position);
	return r;
}

/* Sorts the new positions after the positions with samples of the same image. */
static int view_functions_order_positions(struct view *v, size_t nr_before)
{
	struct sort_key *keys = malloc((v->positions.nr + 1) * sizeof(*keys));
	uint32_t *order = realloc(v->order, (v->positions.nr + 1) * sizeof(*v->order));
	int r = -ENOMEM;

	if (order)
		v->order = order;
	if (!keys || !order)
		goto out;
	for (size_t i = 0; i < v->positions.nr; i++) {
		uint32_t at = i < nr_before ? order[i] : (uint32_t)i;

		keys[i] = (struct sort_key){ v->positions.at[at].image, at };
	}
	r = sort_keys(&keys, v->positions.nr);
	for (size_t i = 0; i < v->positions.nr; i++)
		order[i] = keys[i].index;
out:
	free(keys);
	return r;
}

int view_add_functions(struct profile *p, struct view *v)
{
	struct view_functions_adding a = { .v = v };
	size_t nr_before = v->positions.nr;
	int r;

	a.seen = calloc(p->functions.nr + 1, sizeof(*a.seen));
	if (!a.seen)
		return -ENOMEM;
	r = view_functions_add_all(p, &a);
	free(a.seen);
	return r || !v->order ? r : view_functions_order_positions(v, nr_before);
}
