/* SPDX-License-Identifier: GPL-2.0-or-later */
/* decoder.c - finds the attr to which a record belongs. */
#include "base/array.h"
#include "decode/record.h"

#include <errno.h>

#include "base/err.h"
#include "decode/record_priv.h"

void decoder_init(struct decoder *d, bool swap)
{
	*d = (struct decoder){ .swap = swap };
}

/* Computes the offsets of the fields of a sample, whose order is that of PERF_RECORD_SAMPLE in
 * perf_event_open(2). */
static struct sample_layout make_layout(uint64_t type)
{
	struct sample_layout l = { 0 };
	const struct {
		uint64_t bit;
		uint16_t *at;
	} fields[] = {
		{ PERF_SAMPLE_IDENTIFIER, &l.id },    { PERF_SAMPLE_IP, &l.ip },
		{ PERF_SAMPLE_TID, &l.tid },          { PERF_SAMPLE_TIME, &l.time },
		{ PERF_SAMPLE_ADDR, &l.addr },        { PERF_SAMPLE_ID, &l.id },
		{ PERF_SAMPLE_STREAM_ID, &l.stream }, { PERF_SAMPLE_CPU, &l.cpu },
		{ PERF_SAMPLE_PERIOD, &l.period },
	};

	l.bytes = sizeof(struct perf_event_header);
	for (size_t i = 0; i < COUNT_OF(fields); i++) {
		if (!(type & fields[i].bit))
			continue;
		*fields[i].at = l.bytes;
		l.bytes = (uint16_t)(l.bytes + sizeof(uint64_t));
		type &= ~fields[i].bit;
	}
	l.more = type;
	return l;
}

/* Returns the distance from the end of a record other than a sample to its id, or 0 if it has
 * no id. */
static uint16_t id_from_end(const struct perf_event_attr *a)
{
	uint64_t t = a->sample_type;
	uint16_t words = 1;

	if (!a->sample_id_all)
		return 0;
	if (!(t & PERF_SAMPLE_IDENTIFIER)) {
		if (!(t & PERF_SAMPLE_ID))
			return 0;
		words = (uint16_t)(1 + !!(t & PERF_SAMPLE_STREAM_ID) +
				   !!(t & PERF_SAMPLE_CPU));
	}
	return (uint16_t)(words * sizeof(uint64_t));
}

/* Records where samples and other records have the id. A record's attr is only known from its id,
 * so all attrs must have the id at the same position. */
static void note_id_places(struct decoder *d, const struct perf_event_attr *attr,
			   const struct sample_layout *layout)
{
	uint16_t from_end = id_from_end(attr);
	uint16_t in_sample = attr->sample_type & PERF_SAMPLE_IDENTIFIER
				     ? sizeof(struct perf_event_header)
				     : layout->id;

	if (d->attrs.nr == 1) {
		d->id_in_sample = in_sample;
		d->id_from_end = from_end;
		d->trailer_bytes = record_trailer_bytes(attr);
		return;
	}
	if (d->trailer_bytes != record_trailer_bytes(attr))
		d->trailer_bytes = 0;
	if (d->id_in_sample != in_sample)
		d->id_in_sample = 0;
	if (d->id_from_end != from_end)
		d->id_from_end = 0;
}

int decoder_add_attr(struct decoder *d, const struct perf_event_attr *attr)
{
	struct sample_layout layout = make_layout(attr->sample_type);

	if (!layout.period)
		layout.default_period = attr->freq ? 1 : attr->sample_period;
	if (!vec_push(&d->layouts, layout))
		return -ENOMEM;
	if (!vec_push(&d->attrs, *attr)) {
		d->layouts.nr--;
		return -ENOMEM;
	}
	note_id_places(d, attr, &layout);
	d->build_ids = d->build_ids || attr->build_id;
	return 0;
}

void decoder_set_off_cpu(struct decoder *d)
{
	const struct perf_event_attr *a = &d->attrs.at[d->attrs.nr - 1];

	d->layouts.at[d->layouts.nr - 1].off_cpu =
		a->type == PERF_TYPE_SOFTWARE &&
		a->config == PERF_COUNT_SW_BPF_OUTPUT &&
		a->sample_type & PERF_SAMPLE_RAW;
}

enum {
	NEAR_IDS = 4096
};

static int add_near_id(struct decoder *d, uint64_t id, uint32_t attr_index)
{
	if (!d->by_near_id.nr)
		d->first_id = id;
	if (id - d->first_id >= NEAR_IDS)
		return 0;
	while (d->by_near_id.nr <= id - d->first_id)
		if (!vec_push(&d->by_near_id, MAP_NONE))
			return -ENOMEM;
	d->by_near_id.at[id - d->first_id] = attr_index;
	return 0;
}

int decoder_add_id(struct decoder *d, uint64_t id, uint32_t attr_index)
{
	int r = add_near_id(d, id, attr_index);

	return r ? r : map_set(&d->by_id, id, 0, attr_index);
}

void decoder_done(struct decoder *d)
{
	vec_done(&d->attrs);
	vec_done(&d->layouts);
	vec_done(&d->by_near_id);
	map_done(&d->by_id);
}
