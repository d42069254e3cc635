#include "format/dict_block.h"

#include <errno.h>
#include <string.h>

#include "format/dict_fields.h"

struct packer {
	const struct dict *d;
	struct dict_scratch *s;
	struct column_encoder *e;
	size_t first; /* entries [first, first + nr) of a table */
	size_t nr;
	uint32_t next_frame; /* of stacks, moves on with them */
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
}

/* Behind its length, so that a reader can skip what it does not know. */
static int end_column(const struct packer *p)
{
	buf_put_varint(&p->s->section, p->s->column.len);
	buf_put(&p->s->section, p->s->column.data, p->s->column.len);
	return p->s->section.failed ? -ENOMEM : 0;
}

static int put_column(const struct packer *p, size_t nr)
{
	int r;

	buf_clear(&p->s->column);
	r = column_encode(p->e, p->s->values.at, nr, &p->s->column);
	return r ? r : end_column(p);
}

/* A column of lengths (in s->values) and one of all their bytes (in s->bytes). */
static int put_blobs(const struct packer *p)
{
	int r;

	if (p->s->bytes.failed)
		return -ENOMEM;
	r = put_column(p, p->nr);
	if (r)
		return r;
	buf_clear(&p->s->column);
	r = column_encode_bytes(p->e, p->s->bytes.data, p->s->bytes.len, &p->s->column);
	return r ? r : end_column(p);
}

static int put_strings(struct packer *p)
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

static int put_fields(const struct packer *p, enum dict_table table,
		      const void *entries)
{
	const struct dict_fields *f = &dict_fields[table];

	for (size_t i = 0; i < f->nr; i++) {
		int r;

		dict_field_get(f, &f->at[i], entries, p->nr, p->s->values.at);
		r = put_column(p, p->nr);
		if (r)
			return r;
	}
	return 0;
}

static int put_events(struct packer *p)
{
	return put_fields(p, DICT_EVENTS, p->d->events.at + p->first);
}

static int put_threads(struct packer *p)
{
	return put_fields(p, DICT_THREADS, p->d->threads.at + p->first);
}

static int put_images(struct packer *p)
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

static int put_frames(struct packer *p)
{
	const struct frame *frames = p->d->frames.at + p->first;
	size_t nr_images = p->d->images.nr;
	uint64_t *last;
	int r;

	for (size_t i = 0; i < p->nr; i++)
		p->s->values.at[i] = frames[i].image;
	r = put_column(p, p->nr);
	if (r)
		return r;
	/* One more for all that do not exist: DICT_NONE. */
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
	return put_column(p, p->nr);
}

static int put_stacks(struct packer *p)
{
	const struct stack *stacks = p->d->stacks.at + p->first;
	uint64_t *values = p->s->values.at;
	int r;

	values[0] = p->next_frame;
	r = put_column(p, 1);
	if (r)
		return r;
	for (size_t i = 0; i < p->nr; i++)
		values[i] = p->first + i - 1 - stacks[i].parent;
	r = put_column(p, p->nr);
	if (r)
		return r;
	for (size_t i = 0; i < p->nr; i++) {
		values[i] = (uint64_t)p->next_frame - stacks[i].frame;
		if (stacks[i].frame >= p->next_frame && stacks[i].frame != DICT_NONE)
			p->next_frame = stacks[i].frame + 1;
	}
	return put_column(p, p->nr);
}

static int (*const put_table[DICT_TABLE_COUNT])(struct packer *) = {
	[DICT_STRINGS] = put_strings, [DICT_EVENTS] = put_events,
	[DICT_IMAGES] = put_images,   [DICT_FRAMES] = put_frames,
	[DICT_STACKS] = put_stacks,   [DICT_THREADS] = put_threads,
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

int dict_pack(const struct dict *d, struct dict_counts *done, struct dict_scratch *s,
	      struct column_encoder *e, struct buf *out)
{
	struct dict_counts all = dict_counts_of(d);
	struct packer p = { .d = d, .s = s, .e = e, .next_frame = done->next_frame };
	size_t table = 0;
	int r;

	while (table < DICT_TABLE_COUNT && done->nr[table] == all.nr[table])
		table++;
	if (table == DICT_TABLE_COUNT)
		return 1;
	p.first = done->nr[table];
	p.nr = all.nr[table] - p.first;
	if (p.nr > DICT_CHUNK_ENTRIES)
		p.nr = DICT_CHUNK_ENTRIES;
	if (!vec_reserve(&s->values, p.nr))
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
	done->nr[table] += p.nr;
	done->next_frame = p.next_frame;
	return 0;
}
