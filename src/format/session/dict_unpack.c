/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dict_unpack.c - decodes a dictionary from the blocks of a segment. */
#include "format/session/dict_block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/session/dict_fields.h"
#include "format/session/dict_unpack_priv.h"

int dict_unpack_values(struct dict_unpacker *u, uint64_t *values, size_t nr)
{
	struct cursor column;
	const void *bytes;
	uint64_t len;

	if (!cursor_left(&u->in)) {
		if (nr)
			memset(values, 0, nr * sizeof(*values));
		return 0;
	}
	len = cursor_varint(&u->in);
	bytes = cursor_take(&u->in, len);
	if (!bytes)
		return -EBADMSG;
	column = cursor_le(bytes, len);
	return column_decode(u->dec, &column, values, nr);
}

/* Reads the next column, `nr` values, into s->values. */
static int take_column(struct dict_unpacker *u, size_t nr)
{
	return dict_unpack_values(u, u->s->values.at, nr);
}

/* Reads the next two columns: lengths into s->values, and their bytes into s->bytes. */
static int take_blobs(struct dict_unpacker *u, uint64_t len_max)
{
	uint64_t all = 0;
	struct cursor column;
	const void *bytes;
	uint64_t len;
	int r = take_column(u, u->nr);

	if (r)
		return r;
	for (size_t i = 0; i < u->nr; i++) {
		if (u->s->values.at[i] > len_max)
			return -EBADMSG;
		all += u->s->values.at[i];
	}
	/* One string may exceed the limit of a chunk. */
	if (all > (uint64_t)DICT_CHUNK_STRING_BYTES + DICT_STRING_MAX)
		return -EBADMSG;
	buf_clear(&u->s->bytes);
	if (!buf_reserve(&u->s->bytes, all + 1))
		return -ENOMEM;
	len = cursor_varint(&u->in);
	bytes = cursor_take(&u->in, len);
	if (!bytes)
		return -EBADMSG;
	column = cursor_le(bytes, len);
	return column_decode_bytes(u->dec, &column, u->s->bytes.data, all);
}

static bool push_string(struct dict *d, const uint8_t *bytes, size_t len)
{
	char *copy;

	if (!vec_grow(&d->strings.strings))
		return false;
	copy = malloc(len + 1);
	if (!copy)
		return false;
	memcpy(copy, bytes, len);
	copy[len] = '\0';
	d->strings.strings.at[d->strings.strings.nr++] = copy;
	return true;
}

static int take_strings(struct dict_unpacker *u)
{
	const uint8_t *at;
	int r = take_blobs(u, DICT_STRING_MAX);

	if (r)
		return r;
	at = u->s->bytes.data;
	for (size_t i = 0; i < u->nr; i++) {
		size_t len = u->s->values.at[i];

		if (!push_string(u->d, at, len))
			return -ENOMEM;
		at += len;
	}
	return 0;
}

static int take_fields(struct dict_unpacker *u, enum dict_table table, void *entries)
{
	const struct dict_fields *f = &dict_fields[table];

	for (size_t i = 0; i < f->nr; i++) {
		int r = take_column(u, u->nr);

		if (r)
			return r;
		dict_field_set(f, &f->at[i], entries, u->nr, u->s->values.at);
	}
	return 0;
}

static void repair_string(const struct dict_unpacker *u, uint32_t *string)
{
	if (*string >= u->d->strings.strings.nr)
		*string = 0;
}

static int dict_unpack_take_events(struct dict_unpacker *u)
{
	struct event_desc *events;
	int r;

	if (!vec_reserve(&u->d->events, u->first + u->nr))
		return -ENOMEM;
	events = u->d->events.at + u->first;
	memset(events, 0, u->nr * sizeof(*events));
	r = take_fields(u, DICT_EVENTS, events);
	if (r)
		return r;
	for (size_t i = 0; i < u->nr; i++) {
		repair_string(u, &events[i].name);
		repair_string(u, &events[i].about);
		repair_string(u, &events[i].mask_about);
	}
	u->d->events.nr += u->nr;
	return 0;
}

bool dict_unpack_has_image(const struct dict *d, uint32_t image)
{
	return image < d->images.nr && d->images.at[image].kind != IMAGE_LOST;
}

static int dict_unpack_take_images(struct dict_unpacker *u)
{
	struct image *images;
	const uint8_t *id;
	int r = take_blobs(u, BUILD_ID_MAX);

	if (r)
		return r;
	if (!vec_reserve(&u->d->images, u->first + u->nr))
		return -ENOMEM;
	images = u->d->images.at + u->first;
	memset(images, 0, u->nr * sizeof(*images));
	id = u->s->bytes.data;
	for (size_t i = 0; i < u->nr; i++) {
		images[i].build_id.len = (uint8_t)u->s->values.at[i];
		memcpy(images[i].build_id.bytes, id, images[i].build_id.len);
		id += images[i].build_id.len;
	}
	r = take_fields(u, DICT_IMAGES, images);
	if (r)
		return r;
	for (size_t i = 0; i < u->nr; i++) {
		repair_string(u, &images[i].name);
		repair_string(u, &images[i].ref_name);
		/* The kind is from a newer format version. */
		if ((uint32_t)images[i].kind >= IMAGE_COUNT)
			images[i].kind = IMAGE_LOST;
		u->holes |= images[i].kind == IMAGE_LOST;
	}
	u->d->images.nr += u->nr;
	return 0;
}

static int take_threads(struct dict_unpacker *u)
{
	struct thread *threads;
	int r;

	if (!vec_reserve(&u->d->threads, u->first + u->nr))
		return -ENOMEM;
	threads = u->d->threads.at + u->first;
	memset(threads, 0, u->nr * sizeof(*threads));
	r = take_fields(u, DICT_THREADS, threads);
	if (r)
		return r;
	for (size_t i = 0; i < u->nr; i++) {
		repair_string(u, &threads[i].comm);
		repair_string(u, &threads[i].cgroup);
		if (!dict_unpack_has_image(u->d, threads[i].app))
			threads[i].app = DICT_NONE;
	}
	u->d->threads.nr += u->nr;
	return 0;
}

static int dict_unpack_take_frames(struct dict_unpacker *u)
{
	size_t nr_images = u->d->images.nr;
	struct frame *frames;
	uint64_t *last;
	int r = take_column(u, u->nr);

	if (r)
		return r;
	if (!vec_reserve(&u->d->frames, u->first + u->nr) ||
	    !vec_reserve(&u->s->last_offsets, nr_images + 1))
		return -ENOMEM;
	frames = u->d->frames.at + u->first;
	for (size_t i = 0; i < u->nr; i++)
		frames[i].image = (uint32_t)u->s->values.at[i];
	r = take_column(u, u->nr);
	if (r)
		return r;
	last = u->s->last_offsets.at;
	memset(last, 0, (nr_images + 1) * sizeof(*last));
	for (size_t i = 0; i < u->nr; i++) {
		size_t image =
			frames[i].image < nr_images ? frames[i].image : nr_images;

		last[image] += unzigzag(u->s->values.at[i]);
		frames[i].offset = last[image];
		if (dict_unpack_has_image(u->d, frames[i].image))
			continue;
		frames[i] = (struct frame){ .image = DICT_NONE };
		u->holes = true;
	}
	u->d->frames.nr += u->nr;
	return 0;
}

void dict_unpack_repair_stack(struct dict_unpacker *u, uint32_t number)
{
	struct stack *stacks = u->d->stacks.at;
	struct stack *node = &stacks[number];

	if (node->frame >= u->d->frames.nr ||
	    u->d->frames.at[node->frame].image == DICT_NONE) {
		*node = (struct stack){ .parent = STACK_TRUNCATED, .frame = DICT_NONE };
		u->holes = true;
		return;
	}
	/* A caller must precede its callees, so that following callers always ends. */
	if (node->parent >= number ||
	    (node->parent >= STACK_FIRST && stacks[node->parent].frame == DICT_NONE))
		node->parent = STACK_TRUNCATED;
}

static int take_stacks(struct dict_unpacker *u)
{
	const uint64_t *values;
	struct stack *stacks;
	uint32_t next_frame;
	int r = take_column(u, 1);

	if (r)
		return r;
	values = u->s->values.at;
	next_frame = (uint32_t)values[0];
	if (!vec_reserve(&u->d->stacks, u->first + u->nr))
		return -ENOMEM;
	stacks = u->d->stacks.at + u->first;
	r = take_column(u, u->nr);
	if (r)
		return r;
	for (size_t i = 0; i < u->nr; i++)
		stacks[i].parent = (uint32_t)(u->first + i - 1 - values[i]);
	r = take_column(u, u->nr);
	if (r)
		return r;
	for (size_t i = 0; i < u->nr; i++) {
		uint32_t frame = (uint32_t)(next_frame - values[i]);

		stacks[i].frame = frame;
		if (frame >= next_frame && frame != DICT_NONE)
			next_frame = frame + 1;
	}
	for (size_t i = 0; i < u->nr; i++)
		dict_unpack_repair_stack(u, (uint32_t)(u->first + i));
	u->d->stacks.nr += u->nr;
	return 0;
}

bool dict_unpack_has_room(const struct dict_unpacker *u, uint64_t more)
{
	struct dict_counts counts = dict_counts_of(u->d);
	uint64_t nr = more + u->s->ends.stacks.nr;

	for (int i = 0; i < DICT_TABLE_COUNT; i++)
		nr += counts.nr[i];
	return nr <= DICT_ENTRIES_FREE + u->s->unpacked * DICT_ENTRIES_A_BYTE;
}

bool dict_unpack_add_frame_hole(struct dict *d)
{
	return vec_push(&d->frames, (struct frame){ .image = DICT_NONE });
}

bool dict_unpack_add_stack_hole(struct dict *d)
{
	return vec_push(&d->stacks, (struct stack){ .parent = STACK_TRUNCATED,
						    .frame = DICT_NONE });
}

static bool add_string_hole(struct dict *d)
{
	return push_string(d, (const uint8_t *)"", 0);
}

static bool add_event_hole(struct dict *d)
{
	return vec_push(&d->events, (struct event_desc){ .flags = EVENT_LOST });
}

static bool add_image_hole(struct dict *d)
{
	return vec_push(&d->images, (struct image){ .kind = IMAGE_LOST });
}

static bool add_thread_hole(struct dict *d)
{
	return vec_push(&d->threads, (struct thread){ .pid = -1,
						      .tid = -1,
						      .ns_pid = -1,
						      .ns_tid = -1,
						      .app = DICT_NONE,
						      .flags = THREAD_LOST });
}

static const struct dict_unpack_table {
	int (*take)(struct dict_unpacker *u);
	bool (*add_hole)(struct dict *d);
} tables[DICT_SECTION_COUNT] = {
	[DICT_STRINGS] = { take_strings, add_string_hole },
	[DICT_EVENTS] = { dict_unpack_take_events, add_event_hole },
	[DICT_IMAGES] = { dict_unpack_take_images, add_image_hole },
	[DICT_FRAMES] = { dict_unpack_take_frames, dict_unpack_add_frame_hole },
	[DICT_STACKS] = { take_stacks, dict_unpack_add_stack_hole },
	[DICT_THREADS] = { take_threads, add_thread_hole },
	[DICT_OLD_CALLS] = { dict_unpack_old_calls, dict_unpack_add_stack_hole },
	[DICT_CALLS] = { dict_unpack_calls, dict_unpack_add_stack_hole },
};

static int dict_unpack_take_section(struct dict_unpacker *u, enum dict_table table)
{
	bool is_calls = table >= DICT_TABLE_COUNT;
	size_t have = dict_counts_of(u->d).nr[is_calls ? DICT_STACKS : table];
	size_t most = table == DICT_CALLS ? DICT_CALLS_MOST : DICT_CHUNK_ENTRIES;

	if (!u->nr || u->nr > most || u->first < have ||
	    u->first - have > DICT_HOLES_MAX || u->first > DICT_NONE - u->nr ||
	    !dict_unpack_has_room(u, u->first - have + u->nr))
		return -EBADMSG;
	/* s->values is not needed for sections of calls, which have separate columns. */
	if (!is_calls && !vec_reserve(&u->s->values, u->nr))
		return -ENOMEM;
	for (; have < u->first; have++) {
		if (!tables[table].add_hole(u->d))
			return -ENOMEM;
		u->holes = true;
	}
	return tables[table].take(u);
}

int dict_unpack(struct dict *d, struct cursor *payload, struct dict_scratch *s,
		struct column_decoder *dec, bool *ret_holes)
{
	struct dict_unpacker u = { .d = d, .s = s, .dec = dec };
	int r = 0;

	d->chains = true;
	while (!r && cursor_left(payload)) {
		uint8_t table = cursor_u8(payload);
		uint64_t len;
		const void *bytes;

		u.first = cursor_varint(payload);
		u.nr = cursor_varint(payload);
		len = cursor_varint(payload);
		bytes = cursor_take(payload, len);
		if (!bytes)
			r = -EBADMSG;
		s->unpacked += bytes ? len : 0;
		if (!r && table < DICT_SECTION_COUNT) {
			u.in = cursor_le(bytes, len);
			r = dict_unpack_take_section(&u, table);
		}
	}
	if (u.holes)
		*ret_holes = true;
	return r;
}
