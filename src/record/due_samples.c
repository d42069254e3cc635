/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/due_samples.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "decode/record.h"

enum {
	CHUNK_BYTES = 1 << 20 /* holds many records; each is shorter than 64 KB */
};

/* Copies a sample without the unused bytes of its stack. In a record the stack is stored as in
 * <linux/perf_event.h>: the size of the area, the area, and the number of bytes used. The fields
 * before and after it are copied as they are. */
static void put_short(struct buf *out, const struct record *rec, const void *bytes,
		      size_t len)
{
	const struct record_bytes *stack = &rec->sample.user_stack;
	uint64_t room, used = stack->len, kept = (used + 7) / 8 * 8;
	struct perf_event_header header;
	const uint8_t *tail;

	memcpy(&room, stack->at - sizeof(room), sizeof(room));
	tail = stack->at + room + sizeof(used);
	buf_put(out, bytes,
		(size_t)(stack->at - sizeof(room) - (const uint8_t *)bytes));
	buf_put(out, &kept, sizeof(kept));
	buf_put(out, stack->at, (size_t)kept);
	buf_put(out, &used, sizeof(used));
	buf_put(out, tail, (size_t)((const uint8_t *)bytes + len - tail));
	if (out->failed)
		return;
	memcpy(&header, out->data, sizeof(header));
	header.size = (uint16_t)out->len;
	memcpy(out->data, &header, sizeof(header));
}

static uint8_t *due_samples_room_for(struct due_samples *d, size_t len)
{
	uint8_t *chunk;

	if (!d->chunks.nr || CHUNK_BYTES - d->used < len) {
		chunk = malloc(CHUNK_BYTES);
		if (!chunk || !vec_push(&d->chunks, chunk)) {
			free(chunk);
			return NULL;
		}
		d->used = 0;
	}
	d->used += len;
	return d->chunks.at[d->chunks.nr - 1] + (d->used - len);
}

int due_samples_add(struct due_samples *d, const struct record *rec, const void *bytes,
		    size_t len, uint32_t image)
{
	struct due_sample sample = { .time_ns = rec->id.time_ns, .image = image };
	uint8_t *room;

	buf_clear(&d->sample);
	if (rec->sample.user_stack.len)
		put_short(&d->sample, rec, bytes, len);
	else
		buf_put(&d->sample, bytes, len);
	room = d->sample.failed ? NULL : due_samples_room_for(d, d->sample.len);
	if (!room)
		return -ENOMEM;
	memcpy(room, d->sample.data, d->sample.len);
	sample.bytes = room;
	sample.len = d->sample.len;
	return vec_push(&d->list, sample) ? 0 : -ENOMEM;
}

void due_samples_keep(struct due_samples *d, size_t nr)
{
	struct due_samples packed = { 0 };
	size_t bytes = 0;

	d->list.nr = nr;
	for (size_t i = 0; i < nr; i++)
		bytes += d->list.at[i].len;
	if (d->chunks.nr < 2 || bytes > due_samples_bytes(d) / 2)
		return;
	for (size_t i = 0; i < nr; i++) {
		struct due_sample sample = d->list.at[i];
		uint8_t *room = due_samples_room_for(&packed, sample.len);

		if (!room) {
			due_samples_done(&packed);
			return;
		}
		memcpy(room, sample.bytes, sample.len);
		sample.bytes = room;
		if (!vec_push(&packed.list, sample)) {
			due_samples_done(&packed);
			return;
		}
	}
	due_samples_done(d);
	*d = packed;
}

uint64_t due_samples_since(const struct due_samples *d)
{
	uint64_t since = UINT64_MAX;

	for (size_t i = 0; i < d->list.nr; i++)
		if (d->list.at[i].time_ns < since)
			since = d->list.at[i].time_ns;
	return since;
}

size_t due_samples_bytes(const struct due_samples *d)
{
	return d->chunks.nr * (size_t)CHUNK_BYTES;
}

void due_samples_done(struct due_samples *d)
{
	for (size_t i = 0; i < d->chunks.nr; i++)
		free(d->chunks.at[i]);
	vec_done(&d->chunks);
	vec_done(&d->list);
	buf_done(&d->sample);
	*d = (struct due_samples){ 0 };
}
