/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dict_unpack_calls.c - decodes the call stacks of a dictionary. */
#include <errno.h>

#include "format/session/dict_unpack_priv.h"

/* Adds holes for the frames of lost blocks. */
static int skip_frames(struct dict_unpacker *u, uint64_t first)
{
	struct dict *d = u->d;

	if (first < d->frames.nr || first - d->frames.nr > DICT_HOLES_MAX ||
	    first > DICT_NONE - u->nr ||
	    !dict_unpack_has_room(u, first - d->frames.nr + 2 * u->nr))
		return -EBADMSG;
	while (d->frames.nr < first) {
		if (!dict_unpack_add_frame_hole(d))
			return -ENOMEM;
		u->holes = true;
	}
	return 0;
}

/* Repairs the stacks of a section after all of it was decoded, because frames are encoded relative
 * to earlier ones. */
static void repair_calls(struct dict_unpacker *u, size_t first_frame)
{
	for (size_t i = first_frame; i < u->d->frames.nr; i++) {
		struct frame *f = &u->d->frames.at[i];

		if (dict_unpack_has_image(u->d, f->image))
			continue;
		*f = (struct frame){ .image = DICT_NONE };
		u->holes = true;
	}
	for (size_t i = u->first; i < u->d->stacks.nr; i++)
		dict_unpack_repair_stack(u, (uint32_t)i);
}

/* Fills the rest of a section with holes if it depends on lost data, so that entries of later
 * sections get the right numbers. */
static int lose_calls(struct dict_unpacker *u, size_t frames_end)
{
	struct dict *d = u->d;

	u->holes = true;
	while (d->frames.nr < frames_end)
		if (!dict_unpack_add_frame_hole(d))
			return -ENOMEM;
	while (d->stacks.nr < u->first + u->nr)
		if (!dict_unpack_add_stack_hole(d))
			return -ENOMEM;
	return 0;
}

static int begin_calls(struct dict_unpacker *u, size_t nr_new)
{
	struct dict *d = u->d;

	if (!vec_reserve(&d->frames, d->frames.nr + nr_new) ||
	    !vec_reserve(&d->stacks, u->first + u->nr))
		return -ENOMEM;
	return dict_calls_begin(&u->s->calls, d, (uint32_t)d->frames.nr,
				d->frames.nr + u->nr, (uint32_t)u->first);
}

/* ---- chains ---- */

/* Reads the values before the columns. Rejects a malformed section before unpacking it, because a
 * few bytes can expand to many values. */
static int dict_unpack_calls_take_head(struct dict_unpacker *u, uint64_t *head)
{
	const uint64_t *lens = head + 2;
	uint64_t hows = 0;
	int r = dict_unpack_values(u, head, DICT_CALLS_HEAD);

	for (size_t i = 0; i < CALLS_COLUMN_COUNT && !r; i++) {
		if (lens[i] > u->nr)
			r = -EBADMSG;
		else if (i >= CALLS_HOWS)
			hows += lens[i];
	}
	if (!r && (hows != u->nr || lens[CALLS_NEAR] + lens[CALLS_FAR] > u->nr ||
		   lens[CALLS_IMAGES] > lens[CALLS_FAR] ||
		   lens[CALLS_AGAIN] + lens[CALLS_CALLERS] != lens[CALLS_LENGTHS]))
		r = -EBADMSG;
	return r;
}

/* Checks that the lengths of the chains add up to the number of stacks, and that a file of this
 * size may have so many entries. */
static int check_ends(const struct dict_unpacker *u, uint64_t first_chain)
{
	const struct calls_values *lens = &u->s->calls.columns[CALLS_LENGTHS];
	size_t have = u->s->ends.stacks.nr;
	uint64_t stacks = 0;

	for (size_t i = 0; i < lens->list.nr; i++) {
		if (lens->list.at[i] / 2 >= u->nr)
			return -EBADMSG;
		stacks += lens->list.at[i] / 2 + 1;
	}
	return stacks != u->nr || first_chain < have ||
			       first_chain - have > DICT_HOLES_MAX ||
			       !dict_unpack_has_room(u,
						     first_chain - have + lens->list.nr)
		       ? -EBADMSG
		       : 0;
}

static int take_columns(struct dict_unpacker *u, const uint64_t *head)
{
	const uint64_t *lens = head + 2;
	int r = 0;

	for (size_t i = 0; i < CALLS_COLUMN_COUNT && !r; i++) {
		struct calls_values *column = &u->s->calls.columns[i];

		column->taken = 0;
		if (!vec_reserve(&column->list, lens[i]))
			return -ENOMEM;
		column->list.nr = lens[i];
		r = dict_unpack_values(u, column->list.at, lens[i]);
		if (!r && i == CALLS_LENGTHS)
			r = check_ends(u, head[1]);
	}
	return r;
}

static size_t count_new(const struct dict_calls *c)
{
	size_t nr = 0;

	for (size_t i = CALLS_HOWS; i < CALLS_COLUMN_COUNT; i++)
		for (size_t k = 0; k < c->columns[i].list.nr; k++) {
			uint64_t how = c->columns[i].list.at[k];

			nr += !how || how == CALLS_ELSEWHERE;
		}
	return nr;
}

/* Records where the section's chains end. Chains of a lost block become holes. */
static int take_ends(struct dict_unpacker *u, uint64_t first_chain)
{
	const struct calls_values *lens = &u->s->calls.columns[CALLS_LENGTHS];
	struct chain_ends *ends = &u->s->ends;
	uint64_t next = u->first;

	while (ends->stacks.nr < first_chain)
		if (!vec_push(&ends->stacks, CHAIN_LOST))
			return -ENOMEM;
	for (size_t i = 0; i < lens->list.nr; i++) {
		next += lens->list.at[i] / 2 + 1;
		if (!vec_push(&ends->stacks, (uint32_t)(next - 1)))
			return -ENOMEM;
	}
	return 0;
}

static int take_call(struct dict_unpacker *u)
{
	struct dict *d = u->d;
	struct stack stack;
	struct frame frame;
	bool is_new = false;
	int r = dict_calls_take(&u->s->calls, (uint32_t)d->stacks.nr, &stack, &is_new,
				&frame);

	if (r)
		return r;
	if (is_new)
		d->frames.at[d->frames.nr++] = frame;
	d->stacks.at[d->stacks.nr++] = stack;
	return 0;
}

int dict_unpack_calls(struct dict_unpacker *u)
{
	uint64_t head[DICT_CALLS_HEAD];
	size_t first_frame, nr_new;
	int r = dict_unpack_calls_take_head(u, head);

	if (!r)
		r = skip_frames(u, head[0]);
	if (r)
		return r;
	first_frame = u->d->frames.nr;
	r = begin_calls(u, u->nr);
	if (!r)
		r = take_columns(u, head);
	if (!r)
		r = take_ends(u, head[1]);
	if (r)
		return r;
	nr_new = count_new(&u->s->calls);
	for (size_t i = 0; i < u->nr && !r; i++)
		r = take_call(u);
	if (r == -EBADMSG)
		r = lose_calls(u, first_frame + nr_new);
	repair_calls(u, first_frame);
	/* After a large section, free the decoded columns, which use more memory than the
	 * result. */
	if (u->nr > DICT_CHUNK_ENTRIES)
		dict_calls_done(&u->s->calls);
	return r;
}

/* ---- version 2 ---- */

/* The columns of version 2. They are decoded into the arrays for the columns of chains. */
enum {
	OLD_CALLERS,
	OLD_HOWS,
	OLD_IMAGES,
	OLD_OFFSETS
};

static int take_old_column(struct dict_unpacker *u, size_t which, size_t nr)
{
	struct calls_values *column = &u->s->calls.columns[which];

	if (!vec_reserve(&column->list, nr + 1))
		return -ENOMEM;
	column->list.nr = nr;
	return dict_unpack_values(u, column->list.at, nr);
}

static int take_old_columns(struct dict_unpacker *u, size_t *ret_nr_new)
{
	const struct calls_values *hows = &u->s->calls.columns[OLD_HOWS];
	size_t nr_new = 0;
	int r = take_old_column(u, OLD_CALLERS, u->nr);

	if (!r)
		r = take_old_column(u, OLD_HOWS, u->nr);
	if (r)
		return r;
	for (size_t i = 0; i < u->nr; i++)
		nr_new += !hows->list.at[i];
	*ret_nr_new = nr_new;
	r = take_old_column(u, OLD_IMAGES, nr_new);
	return r ? r : take_old_column(u, OLD_OFFSETS, nr_new);
}

/* Decodes the next stack of version 2, and its frame if that is new. */
static int take_old_call(struct dict_unpacker *u, size_t i, size_t *nr_new)
{
	const struct calls_values *columns = u->s->calls.columns;
	struct call_words words = { .how = columns[OLD_HOWS].list.at[i] };
	uint32_t number = (uint32_t)(u->first + i);
	uint64_t distance = columns[OLD_CALLERS].list.at[i];
	struct stack stack = { .parent = (uint32_t)(number - 1 - distance) };
	struct frame frame;
	int r;

	if (!words.how) {
		words.image = columns[OLD_IMAGES].list.at[*nr_new];
		words.offset = columns[OLD_OFFSETS].list.at[*nr_new];
	}
	r = dict_calls_take_words(&u->s->calls, stack.parent, &words, &stack.frame,
				  &frame);
	if (r)
		return r;
	if (!words.how) {
		u->d->frames.at[u->d->frames.nr++] = frame;
		++*nr_new;
	}
	u->d->stacks.at[u->d->stacks.nr++] = stack;
	return 0;
}

int dict_unpack_old_calls(struct dict_unpacker *u)
{
	size_t nr_new = 0, nr_frames = 0, first_frame;
	uint64_t first = 0;
	int r = dict_unpack_values(u, &first, 1);

	if (!r)
		r = skip_frames(u, first);
	if (r)
		return r;
	first_frame = u->d->frames.nr;
	r = begin_calls(u, u->nr);
	if (!r)
		r = take_old_columns(u, &nr_frames);
	if (r)
		return r;
	for (size_t i = 0; i < u->nr && !r; i++)
		r = take_old_call(u, i, &nr_new);
	if (r == -EBADMSG)
		r = lose_calls(u, first_frame + nr_frames);
	repair_calls(u, first_frame);
	return r;
}
