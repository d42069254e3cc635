/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/session/dict_calls.h"

#include <errno.h>
#include <string.h>

#include "format/session/column.h"
#include "format/session/recent.h"

void dict_calls_done(struct dict_calls *c)
{
	vec_done(&c->list_of);
	vec_done(&c->lists);
	vec_done(&c->last_offsets);
	vec_done(&c->met);
	vec_done(&c->callers);
	vec_done(&c->chain_below);
	for (size_t i = 0; i < CALLS_COLUMN_COUNT; i++)
		vec_done(&c->columns[i].list);
}

/* Resets only the entries that the previous section set, because a file can have many small
 * sections. */
static void forget_section(struct dict_calls *c)
{
	for (size_t i = 0; i < c->lists.nr; i++)
		c->list_of.at[c->lists.at[i].slot] = 0;
	for (size_t i = 0; i < c->met.nr; i++)
		c->last_offsets.at[c->met.at[i]] = 0;
	for (size_t i = 0; i < c->callers.nr; i++)
		if (c->callers.at[i] < c->chain_below.nr)
			c->chain_below.at[c->callers.at[i]] = 0;
	for (size_t i = 0; i < CALLS_COLUMN_COUNT; i++)
		c->columns[i].list.nr = c->columns[i].taken = 0;
	c->lists.nr = 0;
	c->met.nr = 0;
	c->callers.nr = 0;
}

int dict_calls_begin(struct dict_calls *c, const struct dict *d, uint32_t next_frame,
		     size_t max_frame, uint32_t first_stack)
{
	size_t nr = max_frame + STACK_FIRST;
	size_t old = c->list_of.nr;
	size_t old_images = c->last_offsets.nr;

	forget_section(c);
	if (!vec_reserve(&c->list_of, nr) ||
	    !vec_reserve(&c->last_offsets, d->images.nr + 1))
		return -ENOMEM;
	if (nr > old) {
		memset(&c->list_of.at[old], 0, (nr - old) * sizeof(*c->list_of.at));
		c->list_of.nr = nr;
	}
	if (d->images.nr > old_images) {
		memset(&c->last_offsets.at[old_images], 0,
		       (d->images.nr - old_images) * sizeof(*c->last_offsets.at));
		c->last_offsets.nr = d->images.nr;
	}
	c->nr_slots = nr;
	c->dict = d;
	c->next = next_frame;
	c->first_stack = first_stack;
	c->chain_left = 0;
	return 0;
}

/* Returns the list of the recent callees of `parent`, which is a stack, the root, or the node of
 * unknown callers. Returns NULL if the frame of `parent` does not exist or memory is short;
 * *ret_result is then the error. */
static struct call_list *list_after(struct dict_calls *c, uint32_t parent,
				    int *ret_result)
{
	const struct dict *d = c->dict;
	size_t slot = parent;

	*ret_result = -EBADMSG;
	if (parent >= STACK_FIRST) {
		if (parent >= d->stacks.nr || d->stacks.at[parent].frame >= c->next)
			return NULL;
		slot = (size_t)STACK_FIRST + d->stacks.at[parent].frame;
	}
	if (slot >= c->nr_slots)
		return NULL;
	*ret_result = -ENOMEM;
	if (!c->list_of.at[slot]) {
		struct call_list list = { .slot = (uint32_t)slot };

		if (!vec_push(&c->lists, list))
			return NULL;
		c->list_of.at[slot] = (uint32_t)c->lists.nr;
	}
	*ret_result = 0;
	return &c->lists.at[c->list_of.at[slot] - 1];
}

static void use(struct call_list *list, uint32_t position, uint32_t frame)
{
	recent_use(list->frames, &list->nr, CALLS_RECENT, position, frame);
}

/* Stores the offset of the last new frame of an image. Returns 0 or -ENOMEM. */
static int set_last(struct dict_calls *c, uint32_t image, uint64_t offset)
{
	if (offset && !c->last_offsets.at[image] && !vec_push(&c->met, image))
		return -ENOMEM;
	c->last_offsets.at[image] = offset;
	return 0;
}

/* Returns the most likely image of a new frame: the image of the list's first frame or, if the
 * list is empty, the image of the caller. Returns DICT_NONE if there is no caller either. */
static uint32_t likely_image(const struct dict_calls *c, const struct call_list *list,
			     uint32_t parent)
{
	const struct dict *d = c->dict;

	if (list->nr)
		return d->frames.at[list->frames[0]].image;
	return parent < STACK_FIRST ? DICT_NONE
				    : d->frames.at[d->stacks.at[parent].frame].image;
}

static struct calls_values *hows(struct dict_calls *c, const struct call_list *list,
				 bool begins_chain)
{
	return &c->columns[CALLS_HOWS + list->nr +
			   (begins_chain ? CALLS_RECENT + 1 : 0)];
}

/* ---- writing ---- */

static bool dict_calls_put(struct dict_calls *c, enum calls_column column,
			   uint64_t value)
{
	return vec_push(&c->columns[column].list, value);
}

/* Encodes the caller of a chain: as the number of chains since the last chain with the same
 * caller or, for the first chain with this caller, as a distance. */
static int report_caller(struct dict_calls *c, uint32_t number, uint32_t caller)
{
	uint32_t chain = (uint32_t)c->callers.nr;
	size_t known = c->chain_below.nr;
	uint32_t before;

	if (known <= caller) {
		if (!vec_reserve(&c->chain_below, number))
			return -ENOMEM;
		c->chain_below.nr = number;
		memset(&c->chain_below.at[known], 0,
		       (number - known) * sizeof(*c->chain_below.at));
	}
	before = c->chain_below.at[caller];
	if (!vec_push(&c->callers, caller) ||
	    !dict_calls_put(c, CALLS_LENGTHS, !before) ||
	    !dict_calls_put(c, before ? CALLS_AGAIN : CALLS_CALLERS,
			    before ? chain - before : number - 1 - caller))
		return -ENOMEM;
	c->chain_below.at[caller] = chain + 1;
	return 0;
}

static int report_new(struct dict_calls *c, const struct call_list *list,
		      const struct frame *frame, bool is_likely)
{
	uint64_t from = c->last_offsets.at[frame->image];
	bool is_near = is_likely && list->nr;

	if (is_near)
		from = c->dict->frames.at[list->frames[0]].offset;
	if (!is_likely && !dict_calls_put(c, CALLS_IMAGES, frame->image))
		return -ENOMEM;
	if (!dict_calls_put(c, is_near ? CALLS_NEAR : CALLS_FAR,
			    zigzag(frame->offset - from)))
		return -ENOMEM;
	c->next++;
	return set_last(c, frame->image, frame->offset);
}

static int report_frame(struct dict_calls *c, const struct stack *stack,
			bool begins_chain)
{
	int r;
	struct call_list *list = list_after(c, stack->parent, &r);
	uint64_t how = CALLS_OLD;
	uint32_t position;

	if (!list)
		return r;
	position = recent_position(list->frames, list->nr, stack->frame);
	if (position < list->nr) {
		how = position + 1;
	} else if (stack->frame == c->next) {
		const struct frame *frame = &c->dict->frames.at[stack->frame];
		bool is_likely = frame->image == likely_image(c, list, stack->parent);

		how = is_likely ? 0 : CALLS_ELSEWHERE;
		r = report_new(c, list, frame, is_likely);
	} else if (!dict_calls_put(c, CALLS_FRAMES, c->next - 1 - stack->frame)) {
		r = -ENOMEM;
	}
	if (r || !vec_push(&hows(c, list, begins_chain)->list, how))
		return -ENOMEM;
	use(list, position, stack->frame);
	return 0;
}

int dict_calls_report(struct dict_calls *c, uint32_t number)
{
	const struct stack *stack = &c->dict->stacks.at[number];
	bool begins_chain = number == c->first_stack || stack->parent != number - 1;
	int r = 0;

	if (begins_chain)
		r = report_caller(c, number, stack->parent);
	else
		c->columns[CALLS_LENGTHS].list.at[c->callers.nr - 1] += 2;
	return r ? r : report_frame(c, stack, begins_chain);
}

/* ---- reading ---- */

static bool dict_calls_take_value(struct calls_values *v, uint64_t *ret_value)
{
	if (v->taken >= v->list.nr)
		return false;
	*ret_value = v->list.at[v->taken++];
	return true;
}

static int take_caller(struct dict_calls *c, uint32_t number, uint32_t *ret_caller)
{
	uint64_t distance, len;
	uint32_t caller;

	if (!dict_calls_take_value(&c->columns[CALLS_LENGTHS], &len) ||
	    !dict_calls_take_value(&c->columns[len & 1 ? CALLS_CALLERS : CALLS_AGAIN],
				   &distance))
		return -EBADMSG;
	c->chain_left = len / 2;
	if (len & 1) {
		caller = (uint32_t)(number - 1 - distance);
	} else {
		if (distance >= c->callers.nr)
			return -EBADMSG;
		caller = c->callers.at[c->callers.nr - 1 - distance];
	}
	*ret_caller = caller;
	return vec_push(&c->callers, caller) ? 0 : -ENOMEM;
}

/* Reads a new frame. `image` is DICT_NONE if it is stored in the file. The offset is relative
 * to `near`, if that is not NULL. */
static int take_new(struct dict_calls *c, uint32_t image, const struct frame *near,
		    struct frame *ret_new)
{
	uint64_t number = image;
	uint64_t offset;

	if (image == DICT_NONE &&
	    !dict_calls_take_value(&c->columns[CALLS_IMAGES], &number))
		return -EBADMSG;
	if (number >= c->dict->images.nr ||
	    !dict_calls_take_value(&c->columns[near ? CALLS_NEAR : CALLS_FAR], &offset))
		return -EBADMSG;
	offset = unzigzag(offset) + (near ? near->offset : c->last_offsets.at[number]);
	*ret_new = (struct frame){ .image = (uint32_t)number, .offset = offset };
	c->next++;
	return set_last(c, (uint32_t)number, offset);
}

static int take_likely(struct dict_calls *c, const struct call_list *list,
		       uint32_t parent, struct frame *ret_new)
{
	uint32_t image = likely_image(c, list, parent);

	if (image == DICT_NONE)
		return -EBADMSG;
	return take_new(c, image,
			list->nr ? &c->dict->frames.at[list->frames[0]] : NULL,
			ret_new);
}

static int take_old(struct dict_calls *c, uint32_t *ret_frame)
{
	uint64_t distance;

	if (!dict_calls_take_value(&c->columns[CALLS_FRAMES], &distance) ||
	    distance >= c->next)
		return -EBADMSG;
	*ret_frame = (uint32_t)(c->next - 1 - distance);
	return 0;
}

static int dict_calls_take_frame(struct dict_calls *c, bool begins_chain,
				 struct stack *stack, bool *ret_is_new,
				 struct frame *ret_new)
{
	int r;
	struct call_list *list = list_after(c, stack->parent, &r);
	uint32_t position;
	uint64_t how;

	if (!list)
		return r;
	if (!dict_calls_take_value(hows(c, list, begins_chain), &how))
		return -EBADMSG;
	position = list->nr;
	stack->frame = c->next;
	*ret_is_new = !how || how == CALLS_ELSEWHERE;
	if (!how) {
		r = take_likely(c, list, stack->parent, ret_new);
	} else if (how == CALLS_ELSEWHERE) {
		r = take_new(c, DICT_NONE, NULL, ret_new);
	} else if (how == CALLS_OLD) {
		r = take_old(c, &stack->frame);
	} else {
		position = (uint32_t)how - 1;
		if (how > list->nr)
			return -EBADMSG;
		stack->frame = list->frames[position];
	}
	if (!r)
		use(list, position, stack->frame);
	return r;
}

int dict_calls_take(struct dict_calls *c, uint32_t number, struct stack *ret_stack,
		    bool *ret_is_new, struct frame *ret_new)
{
	struct stack stack = { .parent = number - 1 };
	bool begins_chain = !c->chain_left;
	int r = 0;

	if (begins_chain)
		r = take_caller(c, number, &stack.parent);
	else
		c->chain_left--;
	if (!r)
		r = dict_calls_take_frame(c, begins_chain, &stack, ret_is_new, ret_new);
	if (!r)
		*ret_stack = stack;
	return r;
}

/* ---- version 2 ---- */

static int take_new_words(struct dict_calls *c, const struct call_list *list,
			  const struct call_words *words, struct frame *ret_new)
{
	const struct frame *near =
		list->nr ? &c->dict->frames.at[list->frames[0]] : NULL;
	uint32_t image = near ? near->image : DICT_NONE;
	uint64_t from = near ? near->offset : 0;

	if (words->image) {
		image = (uint32_t)(words->image - 1);
		if (words->image - 1 >= c->dict->images.nr)
			return -EBADMSG;
		from = c->last_offsets.at[image];
	}
	if (image >= c->dict->images.nr)
		return -EBADMSG;
	*ret_new = (struct frame){ .image = image,
				   .offset = from + unzigzag(words->offset) };
	return set_last(c, image, ret_new->offset);
}

int dict_calls_take_words(struct dict_calls *c, uint32_t parent,
			  const struct call_words *words, uint32_t *ret_frame,
			  struct frame *ret_new)
{
	int r;
	struct call_list *list = list_after(c, parent, &r);
	uint32_t position;

	if (!list)
		return r;
	if (!words->how) {
		r = take_new_words(c, list, words, ret_new);
		if (r)
			return r;
		position = list->nr;
		*ret_frame = c->next++;
	} else if (words->how <= CALLS_RECENT) {
		position = (uint32_t)words->how - 1;
		if (position >= list->nr)
			return -EBADMSG;
		*ret_frame = list->frames[position];
	} else {
		position = list->nr;
		if (words->how - CALLS_RECENT > c->next)
			return -EBADMSG;
		*ret_frame = (uint32_t)(c->next - (words->how - CALLS_RECENT));
	}
	use(list, position, *ret_frame);
	return 0;
}
