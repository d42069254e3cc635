/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/session/dict.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/hash.h"

int dict_init(struct dict *d)
{
	static const struct stack no_frame = { .parent = STACK_ROOT,
					       .frame = DICT_NONE };
	int r;

	*d = (struct dict){ 0 };
	r = strtab_init(&d->strings);
	if (!r && (!vec_push(&d->stacks, no_frame) || !vec_push(&d->stacks, no_frame)))
		r = -ENOMEM;
	if (r)
		dict_done(d);
	return r;
}

void dict_done(struct dict *d)
{
	dict_seal(d);
	strtab_done(&d->strings);
	vec_done(&d->events);
	vec_done(&d->images);
	vec_done(&d->frames);
	vec_done(&d->stacks);
	vec_done(&d->threads);
}

void dict_seal(struct dict *d)
{
	vec_done(&d->leaves);
	d->chains = true;
	pairs_done(&d->frame_by);
	map_done(&d->far_frame_by);
	pairs_done(&d->stack_by);
	map_done(&d->image_by);
	map_done(&d->thread_by);
}

static size_t pairs_bytes(const struct pairs *p)
{
	return p->slots ? (p->mask + 1) * sizeof(*p->slots) : 0;
}

static size_t map_bytes(const struct map *m)
{
	return m->slots ? (m->mask + 1) * sizeof(*m->slots) : 0;
}

size_t dict_bytes(const struct dict *d)
{
	const size_t string_bytes = 64; /* including the overhead of the heap */

	return d->strings.strings.nr * (sizeof(char *) + string_bytes) +
	       d->events.nr * sizeof(*d->events.at) +
	       d->images.nr * sizeof(*d->images.at) +
	       d->frames.nr * sizeof(*d->frames.at) +
	       d->stacks.nr * sizeof(*d->stacks.at) +
	       d->threads.nr * sizeof(*d->threads.at) +
	       d->leaves.nr * sizeof(*d->leaves.at) + pairs_bytes(&d->strings.by_hash) +
	       pairs_bytes(&d->frame_by) + pairs_bytes(&d->stack_by) +
	       map_bytes(&d->far_frame_by) + map_bytes(&d->image_by) +
	       map_bytes(&d->thread_by);
}

uint32_t dict_string(struct dict *d, const char *s)
{
	return strtab_add(&d->strings, s); /* STRTAB_FAILED is DICT_NONE */
}

uint32_t dict_own_string(struct dict *d, const char *s)
{
	char *copy = d->strings.strings.nr < DICT_NONE ? strdup(s) : NULL;

	if (!copy || !vec_push(&d->strings.strings, copy)) {
		free(copy);
		return DICT_NONE;
	}
	return (uint32_t)d->strings.strings.nr - 1;
}

int dict_change_string(struct dict *d, uint32_t own, const char *s)
{
	char *copy = strdup(s);

	if (!copy)
		return -ENOMEM;
	free(d->strings.strings.at[own]);
	d->strings.strings.at[own] = copy;
	return 0;
}

const char *dict_str(const struct dict *d, uint32_t string)
{
	return strtab_get(&d->strings, string);
}

/* Returns whether two events are equal. Compares field by field, as the structs can have padding.
 */
static bool event_is(const struct event_desc *a, const struct event_desc *b)
{
	return a->name == b->name && a->about == b->about && a->type == b->type &&
	       a->flags == b->flags && a->config == b->config &&
	       a->config1 == b->config1 && a->config2 == b->config2 &&
	       a->count == b->count && a->frequency_hz == b->frequency_hz &&
	       a->unit_mask == b->unit_mask && a->mask_about == b->mask_about;
}

uint32_t dict_event(struct dict *d, const struct event_desc *event)
{
	for (size_t i = 0; i < d->events.nr; i++)
		if (event_is(&d->events.at[i], event))
			return (uint32_t)i;
	if (!vec_push(&d->events, *event))
		return DICT_NONE;
	return (uint32_t)d->events.nr - 1;
}

static bool build_id_is(const struct build_id *a, const struct build_id *b)
{
	return a->len == b->len && !memcmp(a->bytes, b->bytes, a->len);
}

static bool same_file(const struct image *a, const struct image *b)
{
	return a->dev == b->dev && a->inode == b->inode && a->mtime_ns == b->mtime_ns &&
	       a->file_bytes == b->file_bytes;
}

static bool image_is(const struct image *a, const struct image *b)
{
	if (a->kind != b->kind || a->name != b->name ||
	    !build_id_is(&a->build_id, &b->build_id) ||
	    (a->kind == IMAGE_FILE && a->ref_name != b->ref_name))
		return false;
	if (a->build_id.len)
		return true;
	return a->dev == b->dev && a->inode == b->inode &&
	       a->inode_gen == b->inode_gen && a->mtime_ns == b->mtime_ns &&
	       a->file_bytes == b->file_bytes && a->start == b->start &&
	       a->end == b->end && a->pid == b->pid;
}

static uint64_t image_hash(const struct image *image)
{
	uint64_t h = hash_pair(image->name, image->kind);

	if (image->build_id.len)
		return hash_bytes(image->build_id.bytes, image->build_id.len, h);
	h = hash_pair(h, image->dev);
	h = hash_pair(h, image->inode);
	h = hash_pair(h, image->inode_gen);
	h = hash_pair(h, image->mtime_ns);
	h = hash_pair(h, image->file_bytes);
	h = hash_pair(h, image->start);
	h = hash_pair(h, image->end);
	return hash_pair(h, (uint32_t)image->pid);
}

/* Adds an image or finds an equal one. `of_file`: the build-id was read from the file itself. */
static uint32_t dict_add_image(struct dict *d, const struct image *image, bool of_file)
{
	struct image add = *image;
	uint64_t hash;
	uint64_t probe = 0;
	uint32_t number;

	if (add.build_id.len > BUILD_ID_MAX)
		add.build_id.len = BUILD_ID_MAX;
	hash = image_hash(&add);
	while ((number = map_get(&d->image_by, hash, probe)) != MAP_NONE) {
		const struct image *there = &d->images.at[number];

		if (image_is(there, &add) && (!of_file || same_file(there, &add)))
			return number;
		probe++;
	}
	if (!vec_grow(&d->images) ||
	    map_set(&d->image_by, hash, probe, (uint32_t)d->images.nr))
		return DICT_NONE;
	d->images.at[d->images.nr++] = add;
	return (uint32_t)d->images.nr - 1;
}

uint32_t dict_image(struct dict *d, const struct image *image)
{
	return dict_add_image(d, image, false);
}

uint32_t dict_image_of_file(struct dict *d, const struct image *image)
{
	return dict_add_image(d, image, true);
}

static bool thread_is(const struct thread *a, const struct thread *b)
{
	return a->pid == b->pid && a->tid == b->tid && a->ns_pid == b->ns_pid &&
	       a->ns_tid == b->ns_tid && a->comm == b->comm && a->app == b->app &&
	       a->cgroup == b->cgroup && a->flags == b->flags &&
	       a->start_ns == b->start_ns;
}

static uint64_t thread_hash(const struct thread *t)
{
	uint64_t h = hash_pair((uint32_t)t->pid, (uint32_t)t->tid);

	h = hash_pair(h, (uint64_t)(uint32_t)t->ns_pid << 32 | (uint32_t)t->ns_tid);
	h = hash_pair(h, (uint64_t)t->comm << 32 | t->app);
	h = hash_pair(h, (uint64_t)t->cgroup << 32 | t->flags);
	return hash_pair(h, t->start_ns);
}

uint32_t dict_thread(struct dict *d, const struct thread *thread)
{
	uint64_t hash = thread_hash(thread);
	uint64_t probe = 0;
	uint32_t number;

	while ((number = map_get(&d->thread_by, hash, probe)) != MAP_NONE) {
		if (thread_is(&d->threads.at[number], thread))
			return number;
		probe++;
	}
	if (!vec_grow(&d->threads) ||
	    map_set(&d->thread_by, hash, probe, (uint32_t)d->threads.nr))
		return DICT_NONE;
	d->threads.at[d->threads.nr++] = *thread;
	return (uint32_t)d->threads.nr - 1;
}

/* Returns the slot of the lookup table that holds the frame's number plus 1. *ret_new: the slot is
 * new, and the caller has to fill it. Returns NULL if memory is short. */
static uint32_t *dict_frame_slot(struct dict *d, uint32_t image, uint64_t offset,
				 bool *ret_new)
{
	struct map_slot *slot;

	if (offset <= UINT32_MAX)
		return pairs_at(&d->frame_by, image, (uint32_t)offset, ret_new);
	slot = map_at(&d->far_frame_by, image, offset, ret_new);
	return slot ? &slot->value_plus_1 : NULL;
}

static uint32_t dict_add_frame(struct dict *d, uint32_t image, uint64_t offset)
{
	uint32_t *number_plus_1;
	bool is_new;

	if (d->frames.nr >= DICT_NONE || !vec_grow(&d->frames))
		return DICT_NONE;
	number_plus_1 = dict_frame_slot(d, image, offset, &is_new);
	if (!number_plus_1)
		return DICT_NONE;
	if (is_new) {
		d->frames.at[d->frames.nr++] =
			(struct frame){ .image = image, .offset = offset };
		*number_plus_1 = (uint32_t)d->frames.nr;
	}
	return *number_plus_1 - 1;
}

uint32_t dict_frame(struct dict *d, uint32_t image, uint64_t offset)
{
	uint32_t number_plus_1 = 0;

	if (offset <= UINT32_MAX)
		number_plus_1 = pairs_get(&d->frame_by, image, (uint32_t)offset);
	return number_plus_1 ? number_plus_1 - 1 : dict_add_frame(d, image, offset);
}

void dict_prefetch_frame(const struct dict *d, uint32_t image, uint64_t offset)
{
	if (offset <= UINT32_MAX)
		pairs_prefetch(&d->frame_by, image, (uint32_t)offset);
	else
		map_prefetch(&d->far_frame_by, image, offset);
}

static uint32_t add_stack(struct dict *d, uint32_t parent, uint32_t frame)
{
	d->stacks.at[d->stacks.nr++] =
		(struct stack){ .parent = parent, .frame = frame };
	return (uint32_t)d->stacks.nr - 1;
}

/* Creates the list `leaves`. Call it before adding the first stack for which STACK_FIRST + n is not
 * frame n. Returns false if memory runs out. */
static bool dict_begin_chains(struct dict *d)
{
	size_t nr = d->stacks.nr - STACK_FIRST;

	if (!vec_reserve(&d->leaves, nr))
		return false;
	for (uint32_t frame = 0; frame < nr; frame++)
		d->leaves.at[frame] = STACK_FIRST + frame;
	d->leaves.nr = nr;
	d->chains = true;
	return true;
}

/* Returns the stack that consists of one frame only. Such stacks are in a list indexed by frame,
 * which is smaller and faster than a hash table, because there are about as many as frames. */
static uint32_t dict_leaf_stack(struct dict *d, uint32_t frame)
{
	size_t number = (size_t)STACK_FIRST + frame;

	if (!d->chains) {
		if (number < d->stacks.nr)
			return (uint32_t)number;
		if (number == d->stacks.nr)
			return add_stack(d, STACK_ROOT, frame);
		if (!dict_begin_chains(d))
			return DICT_NONE;
	}
	while (d->leaves.nr <= frame) {
		if (!vec_push(&d->leaves, DICT_NONE))
			return DICT_NONE;
	}
	if (d->leaves.at[frame] == DICT_NONE)
		d->leaves.at[frame] = add_stack(d, STACK_ROOT, frame);
	return d->leaves.at[frame];
}

/* Returns whether the stack (parent, frame) exists and has the number after its parent's. Most
 * stacks have, because they are added from the root inwards; these are in no hash table. */
static bool is_next(const struct dict *d, uint32_t parent, uint32_t frame)
{
	return parent + 1 < d->stacks.nr && d->stacks.at[parent + 1].parent == parent &&
	       d->stacks.at[parent + 1].frame == frame;
}

uint32_t dict_stack(struct dict *d, uint32_t parent, uint32_t frame)
{
	uint32_t *value_plus_1;
	bool is_new;

	if (d->stacks.nr >= DICT_NONE || !vec_grow(&d->stacks))
		return DICT_NONE;
	if (parent == STACK_ROOT && frame < d->frames.nr)
		return dict_leaf_stack(d, frame);
	if (!d->chains && !dict_begin_chains(d))
		return DICT_NONE;
	if (is_next(d, parent, frame))
		return parent + 1;
	if (parent + 1 == d->stacks.nr)
		return add_stack(d, parent, frame);
	value_plus_1 = pairs_at(&d->stack_by, parent, frame, &is_new);
	if (!value_plus_1)
		return DICT_NONE;
	if (is_new)
		*value_plus_1 = add_stack(d, parent, frame) + 1;
	return *value_plus_1 - 1;
}

/* Returns the number of a stack, or DICT_NONE if it does not exist. */
static uint32_t find_stack(const struct dict *d, uint32_t parent, uint32_t frame)
{
	if (parent == STACK_ROOT) {
		size_t number = (size_t)STACK_FIRST + frame;

		if (!d->chains)
			return number < d->stacks.nr ? (uint32_t)number : DICT_NONE;
		return frame < d->leaves.nr ? d->leaves.at[frame] : DICT_NONE;
	}
	return pairs_get(&d->stack_by, parent, frame) - 1;
}

static void ask_for(const struct dict *d, uint32_t parent, uint32_t frame)
{
	if (parent != STACK_ROOT)
		pairs_prefetch(&d->stack_by, parent, frame);
	else if (frame < d->leaves.nr)
		__builtin_prefetch(&d->leaves.at[frame]);
}

void dict_prefetch_callee(const struct dict *d, uint32_t stack)
{
	if (stack < d->stacks.nr)
		__builtin_prefetch(&d->stacks.at[stack + 1]);
}

bool dict_path_step(const struct dict *d, struct dict_path *path)
{
	uint32_t frame, node;

	while (path->left && !path->asked) {
		frame = path->frames[path->left - 1];
		if (path->node == STACK_ROOT || !is_next(d, path->node, frame)) {
			ask_for(d, path->node, frame);
			path->asked = true;
			return true;
		}
		path->node++;
		path->left--;
	}
	if (!path->left)
		return false;
	node = find_stack(d, path->node, path->frames[path->left - 1]);
	if (node == DICT_NONE)
		return false;
	path->asked = false;
	path->node = node;
	path->left--;
	dict_prefetch_callee(d, node);
	return path->left > 0;
}

uint32_t dict_leaf(struct dict *d, uint32_t image, uint64_t offset)
{
	uint32_t frame = dict_frame(d, image, offset);
	size_t number = (size_t)STACK_FIRST + frame;

	if (!d->chains && number < d->stacks.nr)
		return (uint32_t)number;
	return frame == DICT_NONE ? DICT_NONE : dict_stack(d, STACK_ROOT, frame);
}
