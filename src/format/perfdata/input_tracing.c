/* SPDX-License-Identifier: GPL-2.0-or-later */
/* input_tracing.c - names tracepoints by the formats of events in TRACING_DATA, for recordings
 * without EVENT_DESC. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "format/perfdata/input_priv.h"

/* The layout is that of tools/perf/util/trace-event-read.c: a magic, the version, the byte order
 * and sizes of the machine; then files of tracefs, each a u64 length and its text. */
enum {
	LINE_MAX_BYTES = 256
};

static const char magic[] = "\x17\x08\x44tracing";

/* Skips a file that is stored in the tracing data after its length. */
static void skip_file(struct cursor *c)
{
	uint64_t len = cursor_u64(c);

	if (len > cursor_left(c))
		c->failed = true;
	else
		cursor_take(c, len);
}

/* Skips a name and the file that follows it. */
static void skip_named(struct cursor *c, const char *name)
{
	const void *found = cursor_take(c, strlen(name) + 1);

	if (!found || memcmp(found, name, strlen(name) + 1) != 0)
		c->failed = true;
	skip_file(c);
}

static const char *take_string(struct cursor *c)
{
	size_t left = cursor_left(c);
	const char *text = (const char *)c->data + c->pos;
	size_t len = strnlen(text, left);

	if (c->failed || len == left) {
		c->failed = true;
		return "";
	}
	return cursor_take(c, len + 1);
}

/* Copies the value of a line such as "name: sched_switch" of an event's format. Returns false if
 * the format has no such line. */
static bool find_format_value(const char *text, size_t len, const char *key,
			      char ret_value[LINE_MAX_BYTES])
{
	const char *end = text + len;

	while (text < end) {
		const char *line_end = memchr(text, '\n', (size_t)(end - text));
		size_t key_len = strlen(key), line_len;

		line_end = line_end ? line_end : end;
		line_len = (size_t)(line_end - text);
		if (line_len > key_len && !memcmp(text, key, key_len)) {
			line_len -= key_len;
			if (line_len >= LINE_MAX_BYTES)
				return false;
			memcpy(ret_value, text + key_len, line_len);
			ret_value[line_len] = '\0';
			return true;
		}
		text = line_end + 1;
	}
	return false;
}

static bool is_recorded(const struct perf_input *in, uint64_t id)
{
	for (size_t i = 0; i < in->info.events.nr; i++) {
		const struct perf_event_attr *a = &in->info.events.at[i].attr;

		if (a->type == PERF_TYPE_TRACEPOINT && a->config == id)
			return true;
	}
	return false;
}

/* Stores the id and the name of an event from its format file. */
static int take_format(struct perf_input *in, struct cursor *c, const char *system)
{
	char name[LINE_MAX_BYTES], number[LINE_MAX_BYTES];
	struct perf_tracepoint tracepoint;
	uint64_t len = cursor_u64(c);
	const char *text = len <= cursor_left(c) ? cursor_take(c, len) : NULL;

	if (!text)
		return -EBADMSG;
	if (!find_format_value(text, len, "name: ", name) ||
	    !find_format_value(text, len, "ID: ", number) ||
	    !parse_u64(number, &tracepoint.id) || !is_recorded(in, tracepoint.id))
		return 0;
	if (asprintf(&tracepoint.name, "%s:%s", system, name) < 0)
		return -ENOMEM;
	if (vec_push(&in->tracepoints, tracepoint))
		return 0;
	free(tracepoint.name);
	return -ENOMEM;
}

static int take_systems(struct perf_input *in, struct cursor *c)
{
	uint32_t systems = cursor_u32(c);
	int r = 0;

	while (!r && systems-- && !c->failed) {
		const char *system = take_string(c);
		uint32_t nr = cursor_u32(c);

		while (!r && nr-- && !c->failed)
			r = take_format(in, c, system);
	}
	return !r && c->failed ? -EBADMSG : r;
}

int perf_tracing_parse(struct perf_input *in, struct cursor *payload)
{
	const void *found = cursor_take(payload, sizeof(magic) - 1);
	uint32_t nr;
	bool big;

	if (in->frozen)
		return 0;
	if (!found || memcmp(found, magic, sizeof(magic) - 1) != 0)
		return -EBADMSG;
	take_string(payload); /* the version */
	big = cursor_u8(payload);
	payload->swap = big == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
	cursor_u8(payload);  /* bytes of a long */
	cursor_u32(payload); /* bytes of a page */
	skip_named(payload, "header_page");
	skip_named(payload, "header_event");
	nr = cursor_u32(payload); /* number of ftrace's events */
	while (nr-- && !payload->failed)
		skip_file(payload);
	return payload->failed ? -EBADMSG : take_systems(in, payload);
}

const char *perf_tracepoint_name(const struct perf_input *in,
				 const struct perf_event_attr *attr)
{
	for (size_t i = 0; i < in->tracepoints.nr; i++)
		if (attr->type == PERF_TYPE_TRACEPOINT &&
		    in->tracepoints.at[i].id == attr->config)
			return in->tracepoints.at[i].name;
	return NULL;
}
