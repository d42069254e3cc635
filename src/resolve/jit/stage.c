/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/jit/stage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/files/mapped.h"
#include "base/log.h"
#include "resolve/jit/dump.h"
#include "resolve/jit/times.h"

struct jit_stage_dump {
	uint32_t image; /* in the dict */
	bool timeless;
	struct jitdump codes;
	struct jit_times times;
	uint32_t older; /* index of another dump of this process, or JITDUMP_NO_CODE */
};

/* The result for a node of the trie of stacks, and its time span. */
struct node {
	uint64_t from_ns;
	uint64_t to_ns; /* 0: not computed yet */
	uint32_t stack;
};

struct jit_stage {
	bool has_wall;
	int64_t wall_shift_ns; /* from wall-clock time to the samples' clock */
	struct dict *dict;
	VEC(struct jit_stage_dump) dumps;
	struct map by_pid; /* pid -> its last dump */
	VEC(struct node) nodes;
	VEC(uint32_t) path;
};

int jit_stage_new(struct dict *dict, struct jit_stage **ret_stage)
{
	struct jit_stage *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->dict = dict;
	*ret_stage = s;
	return 0;
}

void jit_stage_free(struct jit_stage *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->dumps.nr; i++) {
		jit_times_done(&s->dumps.at[i].times);
		jitdump_done(&s->dumps.at[i].codes);
	}
	vec_done(&s->dumps);
	vec_done(&s->nodes);
	vec_done(&s->path);
	map_done(&s->by_pid);
	free(s);
}

bool jit_stage_is_needed(const struct jit_stage *s)
{
	return s->dumps.nr;
}

void jit_stage_set_wall(struct jit_stage *s, int64_t shift_ns)
{
	s->has_wall = true;
	s->wall_shift_ns = shift_ns;
}

/* ---- dumps ---- */

static bool has_times(const struct jit_stage *s, const struct jitdump *codes,
		      const struct jit_dump_source *from)
{
	if (codes->oprofile)
		return s->has_wall;
	if (codes->arch_clock || from->clock == JIT_CLOCK_NONE)
		return false;
	return from->clock == JIT_CLOCK_SAME || (from->mapped_ns && codes->begin_ns);
}

static int make_times(const struct jit_stage *s, struct jit_stage_dump *d,
		      const struct jit_dump_source *from)
{
	int64_t shift = 0;

	d->timeless = !has_times(s, &d->codes, from);
	if (d->timeless)
		log_say_once(
			LOG_WARNING,
			"'%s': its clock differs from the clock of the samples: code that was replaced cannot be distinguished from its replacement",
			from->path);
	else if (d->codes.oprofile)
		shift = s->wall_shift_ns;
	else if (from->clock == JIT_CLOCK_MAPPED)
		shift = (int64_t)(from->mapped_ns - d->codes.begin_ns);
	return jit_times_make(&d->times, &d->codes, shift);
}

static int jit_stage_add_image(struct jit_stage *s, const struct jit_dump_source *from,
			       uint32_t *ret_image)
{
	struct image image = {
		.name = dict_string(s->dict, from->path),
		.kind = IMAGE_JIT,
		.inode = from->inode,
		.pid = from->pid,
	};

	if (image.name == DICT_NONE)
		return -ENOMEM;
	*ret_image = dict_image(s->dict, &image);
	return *ret_image == DICT_NONE ? -ENOMEM : 0;
}

/* Returns whether this dump was already added: a forked process maps it again. */
static bool jit_stage_is_known(const struct jit_stage *s, uint32_t dump, uint32_t image)
{
	for (; dump != MAP_NONE; dump = s->dumps.at[dump].older)
		if (s->dumps.at[dump].image == image)
			return true;
	return false;
}

static int keep_dump(struct jit_stage *s, int32_t pid, const struct jit_stage_dump *d)
{
	if (!vec_push(&s->dumps, *d))
		return -ENOMEM;
	if (!map_set(&s->by_pid, (uint32_t)pid, 0, (uint32_t)s->dumps.nr - 1))
		return 0;
	s->dumps.nr--;
	return -ENOMEM;
}

int jit_stage_add(struct jit_stage *s, const struct jit_dump_source *from)
{
	struct jit_stage_dump d = { .older = map_get(&s->by_pid, (uint32_t)from->pid,
						     0) };
	struct mapped bytes = { 0 };
	int r = jit_stage_add_image(s, from, &d.image);

	if (r || jit_stage_is_known(s, d.older, d.image))
		return r;
	r = jit_dump_map(from->fd, from->path, &bytes, &d.codes);
	mapped_release(&bytes);
	if (!r)
		r = make_times(s, &d, from);
	if (!r)
		r = keep_dump(s, from->pid, &d);
	if (r) {
		jit_times_done(&d.times);
		jitdump_done(&d.codes);
	}
	return r;
}

/* ---- locations ---- */

struct jit_stage_position {
	uint32_t image;
	uint64_t offset;
	uint64_t from_ns;
	uint64_t to_ns;
};

static const struct jit_stage_dump *last_dump(const struct jit_stage *s,
					      const struct image *image)
{
	uint32_t dump = image->kind == IMAGE_ANON
				? map_get(&s->by_pid, (uint32_t)image->pid, 0)
				: MAP_NONE;

	return dump == MAP_NONE ? NULL : &s->dumps.at[dump];
}

/* If a dump describes the code at the location `p` at that time, changes the location to that in
 * the dump. Narrows the time span of `p` to the times with the same result. */
static void jit_stage_find_position(const struct jit_stage *s,
				    struct jit_stage_position *p, uint64_t time_ns)
{
	const struct image *image = &s->dict->images.at[p->image];
	uint64_t address = image->start + p->offset - image->ref_address;
	const struct jit_stage_dump *d = last_dump(s, image);

	while (d) {
		struct jit_found found = jit_times_find(
			&d->times, address, d->timeless ? UINT64_MAX : time_ns);

		if (!d->timeless && found.from_ns > p->from_ns)
			p->from_ns = found.from_ns;
		if (!d->timeless && found.to_ns < p->to_ns)
			p->to_ns = found.to_ns;
		if (found.code != JITDUMP_NO_CODE) {
			p->image = d->image;
			p->offset = d->codes.codes.at[found.code].offset + found.offset;
			return;
		}
		d = d->older == MAP_NONE ? NULL : &s->dumps.at[d->older];
	}
}

int jit_stage_position(struct jit_stage *s, uint32_t *image, uint64_t *offset,
		       uint64_t time_ns)
{
	struct jit_stage_position p = { .image = *image,
					.offset = *offset,
					.to_ns = UINT64_MAX };

	if (*image >= s->dict->images.nr)
		return 0;
	jit_stage_find_position(s, &p, time_ns);
	*image = p.image;
	*offset = p.offset;
	return 0;
}

/* ---- stacks ---- */

static const struct node *node_at(const struct jit_stage *s, uint32_t stack,
				  uint64_t time_ns)
{
	const struct node *n = stack < s->nodes.nr ? &s->nodes.at[stack] : NULL;

	return n && n->from_ns <= time_ns && time_ns < n->to_ns ? n : NULL;
}

static int keep_node(struct jit_stage *s, uint32_t stack, const struct node *n)
{
	while (s->nodes.nr <= stack)
		if (!vec_push(&s->nodes, (struct node){ 0 }))
			return -ENOMEM;
	s->nodes.at[stack] = *n;
	return 0;
}

/* Turns `n`, the node of the caller, into the node of `stack`. Returns 0 or -ENOMEM. */
static int jit_stage_step(struct jit_stage *s, uint32_t stack, uint64_t time_ns,
			  struct node *n)
{
	const struct stack *at = &s->dict->stacks.at[stack];
	uint32_t parent = at->parent, frame = at->frame;
	const struct frame *f = &s->dict->frames.at[frame];
	struct jit_stage_position p = { f->image, f->offset, n->from_ns, n->to_ns };

	jit_stage_find_position(s, &p, time_ns);
	n->from_ns = p.from_ns;
	n->to_ns = p.to_ns;
	if (p.image != f->image)
		frame = dict_frame(s->dict, p.image, p.offset);
	if (frame == DICT_NONE)
		return -ENOMEM;
	if (n->stack == parent && frame == at->frame)
		n->stack = stack;
	else
		n->stack = dict_stack(s->dict, n->stack, frame);
	return n->stack == DICT_NONE ? -ENOMEM : keep_node(s, stack, n);
}

static bool jit_stage_is_whole(const struct dict *d, uint32_t stack)
{
	uint32_t frame = d->stacks.at[stack].frame;

	return frame < d->frames.nr && d->frames.at[frame].image < d->images.nr &&
	       d->stacks.at[stack].parent < stack;
}

uint32_t jit_stage_stack(struct jit_stage *s, uint32_t stack, uint64_t time_ns)
{
	struct node n = { .to_ns = UINT64_MAX };
	const struct node *known = NULL;
	uint32_t at = stack;

	if (stack >= s->dict->stacks.nr)
		return stack;
	/* The last time is included in the last span. */
	time_ns -= time_ns == UINT64_MAX;
	s->path.nr = 0;
	while (at >= STACK_FIRST && !(known = node_at(s, at, time_ns))) {
		if (!jit_stage_is_whole(s->dict, at))
			break;
		if (!vec_push(&s->path, at))
			return DICT_NONE;
		at = s->dict->stacks.at[at].parent;
	}
	if (known)
		n = *known;
	else
		n.stack = at;
	while (s->path.nr)
		if (jit_stage_step(s, s->path.at[--s->path.nr], time_ns, &n))
			return DICT_NONE;
	return n.stack;
}
