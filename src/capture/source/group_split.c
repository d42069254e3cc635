/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/source/group_split.h"

#include <errno.h>
#include <string.h>

/* The beginning of a sample, up to the period: the fields that attrs.c requests. */
struct group_split_head {
	struct perf_event_header header;
	uint64_t id;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu, reserved;
};

enum {
	/* Flags in `formats`, in addition to the bits of read_format. */
	HAS_PERIOD = 1 << 16,
	INHERITS = 1 << 17
};

/* A sample of a group, cut into its sections. */
struct group_split_parts {
	struct group_split_head head;
	const uint8_t *values;
	size_t nr;
	size_t value_bytes;
	const uint8_t *rest;
	size_t rest_len;
};

void group_split_lead(struct perf_event_attr *a)
{
	a->sample_type |= PERF_SAMPLE_READ;
	a->read_format |= PERF_FORMAT_GROUP;
}

void group_split_follow(struct perf_event_attr *a)
{
	a->sample_type |= PERF_SAMPLE_READ;
	a->freq = 0;
	a->sample_period = 0;
}

void group_split_reported(struct perf_event_attr *a)
{
	a->sample_type &= ~(uint64_t)PERF_SAMPLE_READ;
	a->sample_type |= PERF_SAMPLE_PERIOD;
	a->read_format &= ~(uint64_t)PERF_FORMAT_GROUP;
}

int group_split_add(struct group_split *g, uint64_t id, const struct perf_event_attr *a)
{
	uint64_t format = a->read_format;

	if (a->sample_type & PERF_SAMPLE_PERIOD)
		format |= HAS_PERIOD;
	if (a->inherit)
		format |= INHERITS;
	if (map_set(&g->leaders, id, 0, (uint32_t)g->formats.nr) ||
	    !vec_push(&g->formats, format))
		return -ENOMEM;
	return 0;
}

void group_split_done(struct group_split *g)
{
	map_done(&g->leaders);
	deltas_done(&g->counted);
	vec_done(&g->formats);
	buf_done(&g->record);
}

static uint64_t group_split_word_at(const uint8_t *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

static bool take_apart(const uint8_t *bytes, size_t len, uint64_t format,
		       struct group_split_parts *p)
{
	size_t at = sizeof(p->head) + (format & HAS_PERIOD ? sizeof(uint64_t) : 0);
	size_t times = sizeof(uint64_t) * (!!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
					   !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING));
	uint64_t nr;

	if (len < at + sizeof(nr) + times)
		return false;
	memcpy(&p->head, bytes, sizeof(p->head));
	nr = group_split_word_at(bytes + at);
	at += sizeof(nr) + times;
	p->value_bytes = sizeof(uint64_t) * (2 + !!(format & PERF_FORMAT_LOST));
	if (nr > (len - at) / p->value_bytes)
		return false;
	p->nr = (size_t)nr;
	p->values = bytes + at;
	p->rest = p->values + p->nr * p->value_bytes;
	p->rest_len = (size_t)(bytes + len - p->rest);
	return true;
}

static int give(struct group_split *g, const struct group_split_parts *p, uint64_t id,
		uint64_t period, group_split_fn fn, void *ctx)
{
	struct group_split_head head = p->head;

	head.id = id;
	head.header.size = (uint16_t)(sizeof(head) + sizeof(period) + p->rest_len);
	buf_clear(&g->record);
	buf_put(&g->record, &head, sizeof(head));
	buf_put(&g->record, &period, sizeof(period));
	buf_put(&g->record, p->rest, p->rest_len);
	return g->record.failed ? -ENOMEM : fn(ctx, g->record.data, g->record.len);
}

int group_split_record(struct group_split *g, const void *record, size_t len,
		       group_split_fn fn, void *ctx)
{
	struct group_split_head head;
	struct group_split_parts p;
	uint32_t leader = MAP_NONE;
	uint64_t format;
	int r = 0;

	if (g->formats.nr && len >= sizeof(head)) {
		memcpy(&head, record, sizeof(head));
		if (head.header.type == PERF_RECORD_SAMPLE)
			leader = map_get(&g->leaders, head.id, 0);
	}
	if (leader == MAP_NONE)
		return fn(ctx, record, len);
	format = g->formats.at[leader];
	if (!take_apart(record, len, format, &p))
		return 0;
	for (size_t i = 0; i < p.nr && !r; i++) {
		const uint8_t *at = p.values + i * p.value_bytes;
		uint64_t id = group_split_word_at(at + sizeof(uint64_t)), delta;

		r = deltas_take(&g->counted, id, format & INHERITS ? p.head.tid : 0,
				group_split_word_at(at), &delta);
		if (!r && delta)
			r = give(g, &p, id, delta, fn, ctx);
	}
	return r;
}
