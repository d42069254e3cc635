/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/reading.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/read/profile_feed.h"
#include "base/array.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "recordings/profile_reading.h"
#include "recordings/sources.h"

/* Parameters, and the tags of profile specifications that select the same samples. */
static const struct {
	const char *name;
	const char *tag;
} view_reading_tags[] = {
	{ "event", "event" },     { "comm", "comm" },     { "pid", "tgid" },
	{ "tid", "tid" },         { "cpu", "cpu" },       { "cgroup", "cgroup" },
	{ "image", "lib-image" }, { "symbol", "symbol" },
};

/* Appends a value, in which a comma is written "\,". */
static void view_reading_put(struct buf *word, const char *value)
{
	for (; *value; value++) {
		if (*value == ',')
			buf_put_u8(word, '\\');
		buf_put_u8(word, (uint8_t)*value);
	}
}

static int view_reading_word(struct view_reading *r, struct buf *word, struct err *err)
{
	buf_put_u8(word, 0);
	if (word->failed)
		return err_set(err, -ENOMEM, "out of memory");
	return spec_add(&r->spec, (const char *)word->data, err);
}

/* Adds all values of a parameter to the specification. Samples must match one of them. */
static int view_reading_tag(struct view_reading *r, const char *name, const char *tag,
			    struct err *err)
{
	struct buf word = { 0 };
	int status = 0;

	for (size_t i = 0; i < r->params->nr; i++) {
		if (strcmp(r->params->at[i].name, name) != 0)
			continue;
		buf_put(&word, word.len ? "," : tag, word.len ? 1 : strlen(tag));
		if (word.len == strlen(tag))
			buf_put_u8(&word, ':');
		view_reading_put(&word, r->params->at[i].value);
	}
	if (word.len)
		status = view_reading_word(r, &word, err);
	buf_done(&word);
	return status;
}

static int view_reading_value(struct view_reading *r, const char *tag,
			      const char *value, struct err *err)
{
	struct buf word = { 0 };
	int status;

	if (!value)
		return 0;
	buf_put(&word, tag, strlen(tag));
	view_reading_put(&word, value);
	status = view_reading_word(r, &word, err);
	buf_done(&word);
	return status;
}

static int view_reading_times(struct view_reading *r, struct err *err)
{
	uint64_t from = 0, to = UINT64_MAX;
	char text[80];
	int status = view_params_u64(r->params, "from", &from, err);
	int len;

	if (!status)
		status = view_params_u64(r->params, "to", &to, err);
	if (status || (!from && to == UINT64_MAX))
		return status;
	len = snprintf(text, sizeof(text), "time:%" PRIu64 ".%09" PRIu64 "s-",
		       from / NS_PER_S, from % NS_PER_S);
	if (to != UINT64_MAX && to > from)
		(void)snprintf(text + len, sizeof(text) - (size_t)len,
			       "%" PRIu64 ".%09" PRIu64 "s", to / NS_PER_S,
			       to % NS_PER_S);
	return spec_add(&r->spec, text, err);
}

/* Makes the profile specification: that of the model, restricted to the selection. */
static int view_reading_spec(struct view_reading *r, struct err *err)
{
	const struct spec *of = r->m->options.spec;
	int status = 0;

	for (size_t i = 0; of && !status && i < SPEC_COUNT; i++)
		if (of->lists[i].text)
			status = spec_add(&r->spec, of->lists[i].text, err);
	for (size_t i = 0; !status && i < COUNT_OF(view_reading_tags); i++) {
		const char *tag = view_reading_tags[i].tag;

		/* The function of the reading takes precedence. */
		if (r->symbol && (!strcmp(tag, "symbol") || !strcmp(tag, "lib-image")))
			continue;
		status = view_reading_tag(r, view_reading_tags[i].name, tag, err);
	}
	if (!status && r->first_event && r->m->data.events.nr &&
	    !view_params_get(r->params, "event"))
		status = view_reading_value(
			r,
			"event:", view_text(&r->m->data, r->m->data.events.at[0].name),
			err);
	if (!status)
		status = view_reading_value(r, "lib-image:", r->image, err);
	if (!status)
		status = view_reading_value(r, "symbol:", r->symbol, err);
	return status ? status : view_reading_times(r, err);
}

int view_reading_run(struct view_reading *r, struct err *err)
{
	const struct view_options *o = &r->m->options;
	const struct view_side *side = &o->sides[r->side];
	struct profile_reading reading = { .sources = side->sources,
					   .options = &r->options };
	int status = keys_parse(&r->list, r->keys, err);

	if (!status)
		status = view_reading_spec(r, err);
	if (status)
		return status;
	r->options.keys = &r->list;
	r->options.spec = &r->spec;
	r->options.trust = side->sources->trust;
	r->options.names = NAMES_PERF;
	r->options.separation = PROFILE_SEPARATE_KERNEL;
	r->options.values = true;
	r->options.locations = o->locations;
	r->options.threads = o->threads;
	status = profile_reading_run(&reading, &r->profile, err);
	if (!status)
		profile_finish(&r->profile);
	return status;
}

void view_reading_done(struct view_reading *r)
{
	profile_done(&r->profile);
	keys_done(&r->list);
	spec_done(&r->spec);
}
