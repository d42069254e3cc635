/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dict_pack.c - encodes the new entries of a dictionary. */
#include "format/session/dict_block.h"

#include <errno.h>
#include <string.h>

#include "format/session/dict_fields.h"

struct dict_pack_packer {
	const struct dict *d;
	struct dict_scratch *s;
	struct column_encoder *e;
	size_t first; /* entries [first, first + nr) of a table */
	size_t nr;
	/* dict_counts.next_frame, which advances with the stacks. */
	uint32_t next_frame;
	size_t first_frame; /* for a section of calls: the first frame that is not encoded yet */
	size_t first_chain;
};

struct dict_counts dict_counts_none(void)
{
	return (struct dict_counts){
		.nr = { [DICT_STRINGS] = 1, [DICT_STACKS] = STACK_FIRST }
	};
}

void dict_scratch_done(struct dict_scratch *s)
{
	vec_done(&s->values);
	vec_done(&s->last_offsets);
	buf_done(&s->bytes);
	buf_done(&s->column);
	buf_done(&s->section);
	dict_calls_done(&s->calls);
	vec_done(&s->ends.stacks);
}

/* Appends an encoded column, after its length, so that readers can skip columns that they do not
 * know. */
static int end_column(const struct dict_pack_packer *p)
{
	buf_put_varint(&p->s->section, p->s->column.len);
	buf_put(&p->s->section, p->s->column.data, p->s->column.len);
	return p->s->section.failed ? -ENOMEM : 0;
}

static int dict_pack_put_values(const struct dict_pack_packer *p,
				const uint64_t *values, size_t nr)
{
	int r;

	buf_clear(&p->s->column);
	r = column_encode(p->e, values, nr, &p->s->column);
	return r ? r : end_column(p);
}

static int dict_pack_put_column(const struct dict_pack_packer *p, size_t nr)
{
	return dict_pack_put_values(p, p->s->values.at, nr);
}

/* Writes a column of lengths (s->values) and one with all their bytes (s->bytes). */
static int put_blobs(const struct dict_pack_packer *p)
{
	int r;

	if (p->s->bytes.failed)
		return -ENOMEM;
	r = dict_pack_put_column(p, p->nr);
	if (r)
		return r;
	buf_clear(&p->s->column);
	r = column_encode_bytes(p->e, p->s->bytes.data, p->s->bytes.len, &p->s->column);
	return r ? r : end_column(p);
}

static int dict_pack_put_strings(struct dict_pack_packer *p)
{
	buf_clear(&p->s->bytes);
	for (size_t i = 0; i < p->nr; i++) {
		const char *string =
			strtab_get(&p->d->strings, (uint32_t)(p->first + i));
		size_t len = strnlen(string, DICT_STRING_MAX);

		if (i && p->s->bytes.len + len > DICT_CHUNK_STRING_BYTES) {
			p->nr = i;
			break;
		}
		p->s->values.at[i] = len;
		buf_put(&p->s->bytes, string, len);
	}
	return put_blobs(p);
}

static int put_fields(const struct dict_pack_packer *p, enum dict_table table,
		      const void *entries)
{
	const struct dict_fields *f = &dict_fields[table];

	for (size_t i = 0; i < f->nr; i++) {
		int r;

		dict_field_get(f, &f->at[i], entries, p->nr, p->s->values.at);
		r = dict_pack_put_column(p, p->nr);
		if (r)
			return r;
	}
	return 0;
}

static int dict_pack_put_events(struct dict_pack_packer *p)
{
	return put_fields(p, DICT_EVENTS, p->d->events.at + p->first);
}

static int dict_pack_put_threads(struct dict_pack_packer *p)
{
	return put_fields(p, DICT_THREADS, p->d->threads.at + p->first);
}

static int put_images(struct dict_pack_packer *p)
{
	const struct image *images = p->d->images.at + p->first;
	int r;

	buf_clear(&p->s->bytes);
	for (size_t i = 0; i < p->nr; i++) {
		p->s->values.at[i] = images[i].build_id.len;
		buf_put(&p->s->bytes, images[i].build_id.bytes, images[i].build_id.len);
	}
	r = put_blobs(p);
	return r ? r : put_fields(p, DICT_IMAGES, images);
}

static int dict_pack_put_frames(struct dict_pack_packer *p)
{
	const struct frame *frames = p->d->frames.at + p->first;
	size_t nr_images = p->d->images.nr;
	uint64_t *last;
	int r;

	for (size_t i = 0; i < p->nr; i++)
		p->s->values.at[i] = frames[i].image;
	r = dict_pack_put_column(p, p->nr);
	if (r)
		return r;
	/* The last element is for DICT_NONE. */
	if (!vec_reserve(&p->s->last_offsets, nr_images + 1))
		return -ENOMEM;
	last = p->s->last_offsets.at;
	memset(last, 0, (nr_images + 1) * sizeof(*last));
	for (size_t i = 0; i < p->nr; i++) {
		size_t image =
			frames[i].image < nr_images ? frames[i].image : nr_images;

		p->s->values.at[i] = zigzag(frames[i].offset - last[image]);
		last[image] = frames[i].offset;
	}
	return dict_pack_put_column(p, p->nr);
}

static int dict_pack_put_stacks(struct dict_pack_packer *p)
{
	const struct stack *stacks = p->d->stacks.at + p->first;
	uint64_t *values = p->s->values.at;
	int r;

	values[0] = p->next_frame;
	r = dict_pack_put_column(p, 1);
	if (r)
		return r;
	for (size_t i = 0; i < p->nr; i++)
		values[i] = p->first + i - 1 - stacks[i].parent;
	r = dict_pack_put_column(p, p->nr);
	if (r)
		return r;
	for (size_t i = 0; i < p->nr; i++) {
		values[i] = (uint64_t)p->next_frame - stacks[i].frame;
		if (stacks[i].frame >= p->next_frame && stacks[i].frame != DICT_NONE)
			p->next_frame = stacks[i].frame + 1;
	}
	return dict_pack_put_column(p, p->nr);
}

/* Returns whether to encode the stacks as a section of calls. There must be enough stacks to
 * benefit from the history. And frames that are new must appear in the order of their numbers, as
 * after a merge, or there must be none, as in a recording, where frames are written first. */
static bool reports_calls(const struct dict *d, const struct dict_counts *done,
			  size_t nr, bool is_whole)
{
	const struct stack *stacks = d->stacks.at + done->nr[DICT_STACKS];
	size_t next = done->nr[DICT_FRAMES];

	if (!nr || (nr < DICT_CALLS_LEAST && !is_whole))
		return false;
	for (size_t i = 0; i < nr; i++) {
		if (stacks[i].frame > next)
			return false;
		next += stacks[i].frame == next;
	}
	return true;
}

static int collect_calls(struct dict_pack_packer *p)
{
	struct chain_ends *ends = &p->s->ends;
	uint32_t number = (uint32_t)p->first;

	for (size_t i = 0; i < p->nr; i++, number++) {
		bool ends_chain =
			i + 1 == p->nr || p->d->stacks.at[number + 1].parent != number;

		if (dict_calls_report(&p->s->calls, number) ||
		    (ends_chain && !vec_push(&ends->stacks, number)))
			return -ENOMEM;
	}
	return 0;
}

static int dict_pack_put_calls(struct dict_pack_packer *p)
{
	struct dict_scratch *s = p->s;
	const struct calls_values *columns = s->calls.columns;
	uint64_t head[DICT_CALLS_HEAD];
	int r;

	s->ends.stacks.nr = p->first_chain;
	r = dict_calls_begin(&s->calls, p->d, (uint32_t)p->first_frame, p->d->frames.nr,
			     (uint32_t)p->first);
	if (!r)
		r = collect_calls(p);
	if (r)
		return r;
	head[0] = p->first_frame;
	head[1] = p->first_chain;
	for (size_t i = 0; i < CALLS_COLUMN_COUNT; i++)
		head[2 + i] = columns[i].list.nr;
	r = dict_pack_put_values(p, head, DICT_CALLS_HEAD);
	for (size_t i = 0; i < CALLS_COLUMN_COUNT && !r; i++)
		r = dict_pack_put_values(p, columns[i].list.at, columns[i].list.nr);
	return r;
}

static int (*const put_table[DICT_SECTION_COUNT])(struct dict_pack_packer *) = {
	[DICT_STRINGS] = dict_pack_put_strings,
	[DICT_EVENTS] = dict_pack_put_events,
	[DICT_IMAGES] = put_images,
	[DICT_FRAMES] = dict_pack_put_frames,
	[DICT_STACKS] = dict_pack_put_stacks,
	[DICT_THREADS] = dict_pack_put_threads,
	[DICT_CALLS] = dict_pack_put_calls,
};

struct dict_counts dict_counts_of(const struct dict *d)
{
	return (struct dict_counts){ .nr = {
					     [DICT_STRINGS] = d->strings.strings.nr,
					     [DICT_EVENTS] = d->events.nr,
					     [DICT_IMAGES] = d->images.nr,
					     [DICT_FRAMES] = d->frames.nr,
					     [DICT_STACKS] = d->stacks.nr,
					     [DICT_THREADS] = d->threads.nr,
				     } };
}

/* Returns the number of stacks in the next section of calls, which ends after a chain. */
static size_t nr_calls(const struct dict *d, const struct dict_counts *done)
{
	size_t first = done->nr[DICT_STACKS];
	size_t nr = d->stacks.nr - first;

	if (nr <= DICT_CALLS_MOST)
		return nr;
	for (nr = DICT_CALLS_MOST; nr > 1; nr--)
		if (d->stacks.at[first + nr].parent != first + nr - 1)
			return nr;
	return DICT_CALLS_MOST;
}

/* Selects the next section, its first entry and its number of entries. Returns 1 if nothing
 * is left. */
static int dict_pack_next_section(struct dict_pack_packer *p,
				  const struct dict_counts *done, size_t *ret_table)
{
	struct dict_counts all = dict_counts_of(p->d);
	size_t table = 0;
	size_t stacks = nr_calls(p->d, done);

	while (table < DICT_TABLE_COUNT && done->nr[table] == all.nr[table])
		table++;
	if (table == DICT_TABLE_COUNT)
		return 1;
	*ret_table = table;
	p->first = done->nr[table];
	p->nr = all.nr[table] - p->first;
	if ((table == DICT_FRAMES || table == DICT_STACKS) &&
	    reports_calls(p->d, done, stacks, p->s->is_whole)) {
		*ret_table = DICT_CALLS;
		p->first = done->nr[DICT_STACKS];
		p->first_frame = done->nr[DICT_FRAMES];
		p->first_chain = done->nr_chains;
		p->nr = stacks;
		return 0;
	}
	if (p->nr > DICT_CHUNK_ENTRIES)
		p->nr = DICT_CHUNK_ENTRIES;
	return 0;
}

static void count_done(const struct dict_pack_packer *p, size_t table,
		       struct dict_counts *done)
{
	if (table == DICT_CALLS) {
		done->nr[DICT_STACKS] += p->nr;
		done->nr[DICT_FRAMES] = p->s->calls.next;
		done->nr_chains = p->s->ends.stacks.nr;
		if (done->next_frame < p->s->calls.next)
			done->next_frame = p->s->calls.next;
		return;
	}
	done->nr[table] += p->nr;
	done->next_frame = p->next_frame;
}

int dict_pack(const struct dict *d, struct dict_counts *done, struct dict_scratch *s,
	      struct column_encoder *e, struct buf *out)
{
	struct dict_pack_packer p = {
		.d = d, .s = s, .e = e, .next_frame = done->next_frame
	};
	size_t table;
	int r = dict_pack_next_section(&p, done, &table);

	if (r)
		return r;
	/* s->values is not needed for sections of calls, which have separate columns. */
	if (table != DICT_CALLS && !vec_reserve(&s->values, p.nr))
		return -ENOMEM;
	buf_clear(&s->section);
	r = put_table[table](&p);
	if (r)
		return r;
	buf_put_u8(out, (uint8_t)table);
	buf_put_varint(out, p.first);
	buf_put_varint(out, p.nr);
	buf_put_varint(out, s->section.len);
	buf_put(out, s->section.data, s->section.len);
	if (out->failed)
		return -ENOMEM;
	count_done(&p, table, done);
	return 0;
}
