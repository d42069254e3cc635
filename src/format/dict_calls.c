#include "format/dict_calls.h"

#include <errno.h>
#include <string.h>

#include "format/dict_fields.h"

void dict_calls_done(struct dict_calls *c)
{
	vec_done(&c->list_of);
	vec_done(&c->lists);
	vec_done(&c->last_offsets);
	vec_done(&c->met);
}

/* Forgets the section before: what that set, as a file may have many small ones. */
static void forget_section(struct dict_calls *c)
{
	for (size_t i = 0; i < c->lists.nr; i++)
		c->list_of.at[c->lists.at[i].slot] = 0;
	for (size_t i = 0; i < c->met.nr; i++)
		c->last_offsets.at[c->met.at[i]] = 0;
	c->lists.nr = 0;
	c->met.nr = 0;
}

int dict_calls_begin(struct dict_calls *c, const struct dict *d, uint32_t next_frame,
		     size_t max_frame)
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
	return 0;
}

/* What is behind the root, behind callers that are not known, and behind a frame.  NULL: there
 * is no such frame, or (*ret_result) no memory. */
static struct call_list *list_behind(struct dict_calls *c, uint32_t parent,
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

/* Moves to the front what is at `place` (nr: what is new there). */
static void to_front(struct call_list *list, uint32_t place, uint32_t frame)
{
	if (place == list->nr && list->nr < CALLS_RECENT)
		list->nr++;
	if (place == CALLS_RECENT)
		place--;
	memmove(list->frames + 1, list->frames, place * sizeof(*list->frames));
	list->frames[0] = frame;
}

/* Where the offset of a new frame is counted from, and its image (DICT_NONE: there is none). */
static uint64_t offset_near(const struct dict_calls *c, const struct call_list *list,
			    uint32_t *ret_image)
{
	const struct frame *near =
		list->nr ? &c->dict->frames.at[list->frames[0]] : NULL;

	*ret_image = near ? near->image : DICT_NONE;
	return near ? near->offset : 0;
}

/* 0 or -ENOMEM. */
static int set_last(struct dict_calls *c, uint32_t image, uint64_t offset)
{
	if (offset && !c->last_offsets.at[image] && !vec_push(&c->met, image))
		return -ENOMEM;
	c->last_offsets.at[image] = offset;
	return 0;
}

static int tell_new(struct dict_calls *c, const struct call_list *list,
		    const struct frame *frame, struct call_words *ret)
{
	uint32_t image;
	uint64_t from = offset_near(c, list, &image);

	if (image != frame->image)
		from = c->last_offsets.at[frame->image];
	ret->how = 0;
	ret->image = image == frame->image ? 0 : (uint64_t)frame->image + 1;
	ret->offset = zigzag(frame->offset - from);
	return set_last(c, frame->image, frame->offset);
}

int dict_calls_tell(struct dict_calls *c, uint32_t parent, uint32_t frame,
		    struct call_words *ret)
{
	int r;
	struct call_list *list = list_behind(c, parent, &r);
	uint32_t place = 0;

	if (!list)
		return r;
	while (place < list->nr && list->frames[place] != frame)
		place++;
	if (frame == c->next) {
		r = tell_new(c, list, &c->dict->frames.at[frame], ret);
		if (r)
			return r;
		c->next++;
	} else {
		ret->how = place < list->nr
				   ? place + 1
				   : (uint64_t)CALLS_RECENT + (c->next - frame);
	}
	to_front(list, place, frame);
	return 0;
}

static int take_new(struct dict_calls *c, const struct call_list *list,
		    const struct call_words *words, struct frame *ret_new)
{
	uint32_t image;
	uint64_t from = offset_near(c, list, &image);

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

int dict_calls_take(struct dict_calls *c, uint32_t parent,
		    const struct call_words *words, uint32_t *ret_frame,
		    struct frame *ret_new)
{
	int r;
	struct call_list *list = list_behind(c, parent, &r);
	uint32_t place;

	if (!list)
		return r;
	if (!words->how) {
		r = take_new(c, list, words, ret_new);
		if (r)
			return r;
		place = list->nr;
		*ret_frame = c->next++;
	} else if (words->how <= CALLS_RECENT) {
		place = (uint32_t)words->how - 1;
		if (place >= list->nr)
			return -EBADMSG;
		*ret_frame = list->frames[place];
	} else {
		place = list->nr;
		if (words->how - CALLS_RECENT > c->next)
			return -EBADMSG;
		*ret_frame = (uint32_t)(c->next - (words->how - CALLS_RECENT));
	}
	to_front(list, place, *ret_frame);
	return 0;
}
