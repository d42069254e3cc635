/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/session/dict_merge.h"

#include <errno.h>

void dict_merge_init(struct dict_merge *m, const struct dict *from, struct dict *to)
{
	*m = (struct dict_merge){ .from = from, .to = to };
}

void dict_merge_done(struct dict_merge *m)
{
	vec_done(&m->events.to);
	vec_done(&m->images.to);
	vec_done(&m->frames.to);
	vec_done(&m->stacks.to);
	vec_done(&m->threads.to);
	vec_done(&m->path);
}

/* Returns the element that stores the new number of entry `number`, or NULL if memory is short. */
static uint32_t *dict_merge_cell_of(struct dict_numbers *n, uint32_t number)
{
	while (n->to.nr <= number)
		if (!vec_push(&n->to, DICT_NONE))
			return NULL;
	return &n->to.at[number];
}

static uint32_t dict_merge_string_of(struct dict_merge *m, uint32_t string)
{
	return dict_string(m->to, dict_str(m->from, string));
}

uint32_t dict_merge_event(struct dict_merge *m, uint32_t number)
{
	uint32_t *cell = dict_merge_cell_of(&m->events, number);
	struct event_desc e;

	if (!cell || *cell != DICT_NONE)
		return cell ? *cell : DICT_NONE;
	e = m->from->events.at[number];
	e.name = dict_merge_string_of(m, e.name);
	e.about = dict_merge_string_of(m, e.about);
	e.mask_about = dict_merge_string_of(m, e.mask_about);
	if (e.name != DICT_NONE && e.about != DICT_NONE && e.mask_about != DICT_NONE)
		*cell = dict_event(m->to, &e);
	return *cell;
}

uint32_t dict_merge_image(struct dict_merge *m, uint32_t number)
{
	uint32_t *cell = dict_merge_cell_of(&m->images, number);
	struct image image;

	if (!cell || *cell != DICT_NONE)
		return cell ? *cell : DICT_NONE;
	image = m->from->images.at[number];
	image.name = dict_merge_string_of(m, image.name);
	image.ref_name = dict_merge_string_of(m, image.ref_name);
	if (image.name != DICT_NONE && image.ref_name != DICT_NONE)
		*cell = image.kind == IMAGE_FILE && image.mtime_ns
				? dict_image_of_file(m->to, &image)
				: dict_image(m->to, &image);
	return *cell;
}

static uint32_t merge_thread(struct dict_merge *m, uint32_t number)
{
	uint32_t *cell = dict_merge_cell_of(&m->threads, number);
	struct thread t;

	if (!cell || *cell != DICT_NONE)
		return cell ? *cell : DICT_NONE;
	t = m->from->threads.at[number];
	if (m->time_unit_ns)
		t.start_ns -= t.start_ns % m->time_unit_ns;
	t.comm = dict_merge_string_of(m, t.comm);
	t.cgroup = dict_merge_string_of(m, t.cgroup);
	if (t.comm == DICT_NONE || t.cgroup == DICT_NONE)
		return DICT_NONE;
	if (t.app < m->from->images.nr) {
		t.app = dict_merge_image(m, t.app);
		if (t.app == DICT_NONE)
			return DICT_NONE;
	}
	return *cell = dict_thread(m->to, &t);
}

static uint32_t merge_frame(struct dict_merge *m, uint32_t number)
{
	uint32_t *cell = dict_merge_cell_of(&m->frames, number);
	const struct frame *f = &m->from->frames.at[number];
	uint32_t image;

	if (!cell || *cell != DICT_NONE)
		return cell ? *cell : DICT_NONE;
	image = dict_merge_image(m, f->image);
	if (image != DICT_NONE)
		*cell = dict_frame(m->to, image, f->offset);
	return *cell;
}

/* Returns whether the node has a frame and the frame has an image. Damaged nodes do not. */
static bool dict_merge_is_whole(const struct dict *d, uint32_t stack)
{
	uint32_t frame = d->stacks.at[stack].frame;

	return frame < d->frames.nr && d->frames.at[frame].image < d->images.nr;
}

/* Collects the nodes of a stack that are not in `to` yet in m->path, from the innermost one
 * outwards. Returns the node in `to` of the outermost one's caller, or DICT_NONE if memory is
 * short. */
static uint32_t walk_out(struct dict_merge *m, uint32_t stack)
{
	const struct dict *d = m->from;

	m->path.nr = 0;
	while (stack >= STACK_FIRST) {
		const uint32_t *cell = dict_merge_cell_of(&m->stacks, stack);

		if (!cell)
			return DICT_NONE;
		if (*cell != DICT_NONE)
			return *cell;
		if (!dict_merge_is_whole(d, stack))
			return STACK_TRUNCATED;
		if (!vec_push(&m->path, stack))
			return DICT_NONE;
		/* Callers precede callees in the dict. Stop at any other node, which would be a
		 * loop. */
		stack = d->stacks.at[stack].parent < stack ? d->stacks.at[stack].parent
							   : STACK_TRUNCATED;
	}
	return stack;
}

static uint32_t merge_stack(struct dict_merge *m, uint32_t leaf)
{
	uint32_t stack = walk_out(m, leaf);

	for (size_t i = m->path.nr; stack != DICT_NONE && i-- > 0;) {
		uint32_t number = m->path.at[i];
		uint32_t frame = merge_frame(m, m->from->stacks.at[number].frame);

		if (frame == DICT_NONE)
			return DICT_NONE;
		stack = dict_stack(m->to, stack, frame);
		m->stacks.to.at[number] = stack;
	}
	return stack;
}

int dict_merge_sample(struct dict_merge *m, struct sample *sample)
{
	const struct dict *d = m->from;
	struct sample s = *sample;

	if (s.event >= d->events.nr || s.thread >= d->threads.nr ||
	    s.stack >= d->stacks.nr || s.stack < STACK_FIRST ||
	    !dict_merge_is_whole(d, s.stack))
		return -EINVAL;
	s.event = dict_merge_event(m, s.event);
	s.thread = merge_thread(m, s.thread);
	s.stack = merge_stack(m, s.stack);
	if (s.event == DICT_NONE || s.thread == DICT_NONE || s.stack == DICT_NONE)
		return -ENOMEM;
	*sample = s;
	return 0;
}
