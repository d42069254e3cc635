/* SPDX-License-Identifier: GPL-2.0-or-later */
/* functions.c - adds places for all functions of stacks, even those without samples. */
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
	struct place place = {
		.image = image, .function = function, .address = vma, .calls = CALL_ROOT
	};

	if (function == VIEW_UNSET || a->seen[function])
		return 0;
	a->seen[function] = 1;
	if (place.image >= a->v->source.dict->images.nr)
		place.image = DICT_NONE;
	return vec_push(&a->v->places, place) ? 0 : -ENOMEM;
}

static int view_functions_add_frame(const struct profile *p,
				    struct view_functions_adding *a, size_t frame,
				    enum call_place place)
{
	uint32_t image = a->v->source.dict->frames.at[frame].image;
	uint32_t function = a->v->function_of[place][frame];
	const struct call_step *inlined;
	size_t nr;
	int r;

	if (function == VIEW_UNSET)
		return 0;
	r = view_functions_add_function(a, function, image,
					p->functions.at[function].vma);
	inlined = call_inlines_at(a->v->inlines, (uint32_t)frame, place, &nr);
	for (size_t i = 0; !r && i < nr; i++)
		r = view_functions_add_function(a, inlined[i].function, image, 0);
	return r;
}

static int view_functions_add_all(const struct profile *p,
				  struct view_functions_adding *a)
{
	int r = view_functions_add_function(a, a->v->damaged, DICT_NONE, 0);

	for (enum call_place place = 0; place < CALL_PLACES; place++)
		for (size_t i = 0; !r && i < a->v->nr_functions_of[place]; i++)
			r = view_functions_add_frame(p, a, i, place);
	return r;
}

/* Sorts the new places after the places with samples of the same image. */
static int view_functions_order_places(struct view *v, size_t nr_before)
{
	struct sort_key *keys = malloc((v->places.nr + 1) * sizeof(*keys));
	uint32_t *order = realloc(v->order, (v->places.nr + 1) * sizeof(*v->order));
	int r = -ENOMEM;

	if (order)
		v->order = order;
	if (!keys || !order)
		goto out;
	for (size_t i = 0; i < v->places.nr; i++) {
		uint32_t at = i < nr_before ? order[i] : (uint32_t)i;

		keys[i] = (struct sort_key){ v->places.at[at].image, at };
	}
	r = sort_keys(&keys, v->places.nr);
	for (size_t i = 0; i < v->places.nr; i++)
		order[i] = keys[i].index;
out:
	free(keys);
	return r;
}

int view_add_functions(struct profile *p, struct view *v)
{
	struct view_functions_adding a = { .v = v };
	size_t nr_before = v->places.nr;
	int r;

	a.seen = calloc(p->functions.nr + 1, sizeof(*a.seen));
	if (!a.seen)
		return -ENOMEM;
	r = view_functions_add_all(p, &a);
	free(a.seen);
	return r || !v->order ? r : view_functions_order_places(v, nr_before);
}
