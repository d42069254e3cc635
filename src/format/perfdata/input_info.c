/* SPDX-License-Identifier: GPL-2.0-or-later */
/* input_info.c - reads the records that describe the file, which pipes use instead of a header. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/perfdata/input_priv.h"

/* The layouts are struct perf_record_header_attr, _event_update, _header_feature and
 * _header_build_id of tools/lib/perf/include/perf/event.h. */
enum {
	HEADER_BYTES = sizeof(struct perf_event_header),
	UPDATE_NAME = 2, /* PERF_EVENT_UPDATE__NAME */
	EVENTS_MAX = 1 << 16
};

static int add_attr(struct perf_input *in, struct cursor *c)
{
	uint32_t bytes = perf_attr_bytes(c);
	struct perf_input_event *event;

	/* Ignore these records in a file, where they only repeat the header. */
	if (in->frozen || !in->info.is_pipe)
		return 0;
	if (bytes < PERF_ATTR_SIZE_VER0 || bytes > cursor_left(c) ||
	    in->info.events.nr >= EVENTS_MAX)
		return -EBADMSG;
	if (!vec_grow(&in->info.events))
		return -ENOMEM;
	event = &in->info.events.at[in->info.events.nr++];
	*event = (struct perf_input_event){ 0 };
	perf_attr_decode(c, bytes, &event->attr);
	while (cursor_left(c) >= sizeof(uint64_t)) {
		if (!vec_push(&event->ids, cursor_u64(c)))
			return -ENOMEM;
	}
	return 0;
}

static struct perf_input_event *perf_input_info_find_event(struct perf_input *in,
							   uint64_t id)
{
	for (size_t i = 0; i < in->info.events.nr; i++) {
		struct perf_input_event *event = &in->info.events.at[i];

		for (size_t j = 0; j < event->ids.nr; j++) {
			if (event->ids.at[j] == id)
				return event;
		}
	}
	return NULL;
}

static int update_event(struct perf_input *in, struct cursor *c)
{
	uint64_t type = cursor_u64(c);
	uint64_t id = cursor_u64(c);
	struct perf_input_event *event = perf_input_info_find_event(in, id);

	if (c->failed)
		return -EBADMSG;
	if (type != UPDATE_NAME || in->frozen || !event)
		return 0;
	return perf_text_set(&event->name, (const char *)c->data + c->pos,
			     cursor_left(c));
}

static int parse_feature(struct perf_input *in, struct cursor *c)
{
	uint64_t bit = cursor_u64(c);

	if (c->failed || bit >= PERF_INPUT_FEATURES)
		return -EBADMSG;
	/* After the first sample, other threads use the names, so do not change them. */
	if (in->frozen)
		return 0;
	return perf_feature_parse(in, (uint32_t)bit, c);
}

int perf_info_record(struct perf_input *in, uint32_t type, const void *bytes,
		     size_t len)
{
	struct cursor c = cursor_of(bytes, len, in->info.swap);
	uint16_t misc;
	int r = 0;

	cursor_u32(&c);
	misc = cursor_u16(&c);
	cursor_u16(&c);
	if (type == PERF_USER_HEADER_ATTR)
		r = add_attr(in, &c);
	else if (type == PERF_USER_EVENT_UPDATE)
		r = update_event(in, &c);
	else if (type == PERF_USER_FEATURE)
		r = parse_feature(in, &c);
	else if (type == PERF_USER_BUILD_ID)
		r = perf_build_id_add(in, misc, &c);
	else if (type == PERF_USER_STAT_CONFIG && !in->frozen)
		in->info.is_stat = true;
	if (r != -EBADMSG)
		return r;
	in->damage.bad_features++;
	return 0;
}
