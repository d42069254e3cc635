/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/views/call_inlines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/views/view.h"
#include "base/containers/sort_keys.h"
#include "resolve/lines/lines.h"
#include "resolve/symbolize/lines.h"

enum {
	CHAIN_MAX = 64,
	NOT_USED = 0xffffffff, /* no stack uses the frame at that position */
	NONE = 0               /* in `lists`: none */
};

struct call_inlines {
	uint32_t *list_of[CALL_POSITIONS]; /* by frame: index in `lists` */
	size_t nr_frames;
	/* The frame's own step, whose `function` is the number of inlined steps that follow it. */
	VEC(struct call_step)
	lists;
};

/* A frame at a call position. */
struct use {
	uint32_t frame;
	enum call_position position;
};

struct call_inlines_maker {
	struct profile *p;
	struct view *v;
	struct call_inlines *c;
	VEC(struct use) uses;
	uint8_t *seen; /* by stack: its callers have been visited */
	struct buf text;
};

void call_inlines_free(struct call_inlines *c)
{
	if (!c)
		return;
	for (unsigned int position = 0; position < CALL_POSITIONS; position++)
		free(c->list_of[position]);
	vec_done(&c->lists);
	free(c);
}

const struct call_step *call_inlines_own(const struct call_inlines *c, uint32_t frame,
					 enum call_position position)
{
	uint32_t at =
		c && frame < c->nr_frames ? c->list_of[position][frame] : NOT_USED;

	return at == NOT_USED || at == NONE ? NULL : &c->lists.at[at];
}

const struct call_step *call_inlines_at(const struct call_inlines *c, uint32_t frame,
					enum call_position position, size_t *ret_nr)
{
	const struct call_step *own = call_inlines_own(c, frame, position);

	*ret_nr = own ? own->function : 0;
	return own ? own + 1 : NULL;
}

static int new_inlines(struct view *v)
{
	struct call_inlines *c = calloc(1, sizeof(*c));
	size_t nr = v->source.dict->frames.nr;

	v->inlines = c;
	if (!c || !vec_push(&c->lists, (struct call_step){ 0 }))
		return -ENOMEM;
	c->nr_frames = nr;
	for (unsigned int position = 0; position < CALL_POSITIONS; position++) {
		c->list_of[position] = malloc((nr + 1) * sizeof(**c->list_of));
		if (!c->list_of[position])
			return -ENOMEM;
		for (size_t i = 0; i < nr; i++)
			c->list_of[position][i] = NOT_USED;
	}
	return 0;
}

static int note_frame(struct call_inlines_maker *m, uint32_t frame,
		      enum call_position position)
{
	if (frame >= m->c->nr_frames || m->c->list_of[position][frame] != NOT_USED)
		return 0;
	m->c->list_of[position][frame] = NONE;
	return vec_push(&m->uses, (struct use){ frame, position }) ? 0 : -ENOMEM;
}

static int note_stack(struct call_inlines_maker *m, uint32_t stack)
{
	const struct dict *d = m->v->source.dict;
	uint32_t callee = DICT_NONE;

	while (stack >= STACK_FIRST && stack < d->stacks.nr) {
		enum call_position position = call_stack_position(d, stack, callee);

		if (note_frame(m, call_stack_frame(d, stack), position))
			return -ENOMEM;
		if (m->seen[stack])
			return 0;
		m->seen[stack] = 1;
		callee = stack;
		stack = call_stack_parent(d, stack);
	}
	return 0;
}

static int note_positions(struct call_inlines_maker *m)
{
	m->seen = calloc(m->v->source.dict->stacks.nr + 1, sizeof(*m->seen));
	if (!m->seen)
		return -ENOMEM;
	for (size_t i = 0; i < m->v->positions.nr; i++)
		if (note_stack(m, m->v->positions.at[i].calls))
			return -ENOMEM;
	return 0;
}

static uint32_t use_image(const struct call_inlines_maker *m, const struct use *use)
{
	return m->v->source.dict->frames.at[use->frame].image;
}

static uint64_t use_address(const struct call_inlines_maker *m, const struct use *use)
{
	const struct frame *f = &m->v->source.dict->frames.at[use->frame];

	return view_address(m->v, f->image,
			    f->offset - (use->position == CALL_BEFORE && f->offset));
}

/* Sorts the uses by image. */
static int order_uses(const struct call_inlines_maker *m, struct sort_key **ret_keys)
{
	struct sort_key *keys = malloc((m->uses.nr + 1) * sizeof(*keys));
	int r;

	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < m->uses.nr; i++)
		keys[i] =
			(struct sort_key){ use_image(m, &m->uses.at[i]), (uint32_t)i };
	r = sort_keys(&keys, m->uses.nr);
	if (r)
		free(keys);
	else
		*ret_keys = keys;
	return r;
}

/* Returns "path:12", or STRTAB_FAILED if memory is short. */
static uint32_t position_text(struct call_inlines_maker *m, const char *file,
			      uint32_t line)
{
	if (!file || !line)
		return DICT_NONE;
	buf_clear(&m->text);
	buf_put(&m->text, file, strlen(file));
	buf_put_u8(&m->text, ':');
	buf_put_decimal(&m->text, line);
	buf_put_u8(&m->text, 0);
	return m->text.failed ? STRTAB_FAILED
			      : strtab_add(&m->p->strings, (const char *)m->text.data);
}

static int step_of(struct call_inlines_maker *m, const struct line_frame *frame,
		   struct call_step *ret_step)
{
	*ret_step = (struct call_step){ .line = DICT_NONE, .start = DICT_NONE };
	if (!m->p->options.call_lines)
		return 0;
	ret_step->line = position_text(m, frame->file, frame->line);
	ret_step->start = position_text(m, frame->decl_file, frame->decl_line);
	return m->text.failed ? -ENOMEM : 0;
}

/* Adds the list of the functions at a position. All but the last of `frames` are inlined; the last
 * is the function itself. Returns 0 or -ENOMEM. */
static int call_inlines_add_list(struct call_inlines_maker *m, const struct use *use,
				 const struct line_frame *frames, size_t nr)
{
	uint32_t image = use_image(m, use);
	uint32_t at = (uint32_t)m->c->lists.nr;
	struct call_step step;

	if (step_of(m, &frames[nr - 1], &step) || !vec_push(&m->c->lists, step))
		return -ENOMEM;
	for (size_t i = m->p->options.inlined ? nr : 0; i-- > 0;) {
		if (!frames[i].inlined || !frames[i].name)
			continue;
		if (step_of(m, &frames[i], &step))
			return -ENOMEM;
		step.function = view_inlined(m->p, m->v, image, frames[i].name);
		if (step.function == VIEW_UNSET || !vec_push(&m->c->lists, step))
			return -ENOMEM;
		m->c->lists.at[at].function++;
	}
	m->c->list_of[use->position][use->frame] = at;
	return 0;
}

static int find_all(struct call_inlines_maker *m, const struct sort_key *keys,
		    size_t nr, struct naming_lines *lines)
{
	uint64_t *addrs = malloc((nr + 1) * sizeof(*addrs));
	int r = addrs ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < nr; i++)
		addrs[i] = use_address(m, &m->uses.at[keys[i].index]);
	if (!r)
		naming_lines_prepare(lines, addrs, nr);
	for (size_t i = 0; !r && i < nr; i++) {
		const struct use *use = &m->uses.at[keys[i].index];
		struct line_frame frames[CHAIN_MAX];
		size_t found = naming_lines_find(lines, use_address(m, use), frames,
						 CHAIN_MAX);

		if (found > 1 ||
		    (found && (frames[0].inlined || m->p->options.call_lines)))
			r = call_inlines_add_list(m, use, frames, found);
	}
	free(addrs);
	return r;
}

static int make_image(struct call_inlines_maker *m, const struct sort_key *keys,
		      size_t nr)
{
	uint32_t image = (uint32_t)keys[0].at;
	struct naming_lines *lines = NULL;
	int r;

	if (image >= m->v->source.dict->images.nr)
		return 0;
	r = naming_lines_open(m->v->source.naming, image, m->p->options.lines, &lines);
	if (!r && lines)
		r = find_all(m, keys, nr, lines);
	naming_lines_close(lines);
	return r;
}

int call_inlines_make(struct profile *p, struct view *v)
{
	struct call_inlines_maker m = { .p = p, .v = v };
	struct sort_key *keys = NULL;
	int r;

	if (!v->source.naming || !p->options.lines)
		return 0;
	r = new_inlines(v);
	m.c = v->inlines;
	if (!r)
		r = note_positions(&m);
	if (!r)
		r = order_uses(&m, &keys);
	for (size_t i = 0, end; !r && i < m.uses.nr; i = end) {
		for (end = i + 1; end < m.uses.nr && keys[end].at == keys[i].at;)
			end++;
		r = make_image(&m, keys + i, end - i);
	}
	free(keys);
	free(m.seen);
	buf_done(&m.text);
	vec_done(&m.uses);
	return r;
}
