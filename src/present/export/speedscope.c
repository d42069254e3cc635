/* SPDX-License-Identifier: GPL-2.0-or-later */
/* speedscope.c - writes speedscope's own JSON (github.com/jlfwong/speedscope,
 * file-format-spec.ts): frames, and for each event a profile of stacks with weights.  The
 * profile's keys are comm and stack; the command is the outermost frame, as in folded stacks. */
#include <errno.h>
#include <stdlib.h>

#include "aggregate/profile/profile.h"
#include "base/err.h"
#include "present/calls/table.h"
#include "present/export/export_writers.h"
#include "present/lines/json.h"
#include "present/lines/options.h"

struct scope {
	struct call_table calls;
	struct json json;
	uint32_t *path; /* nodes of a stack, innermost first */
};

static void write_speedscope_put_frames(struct scope *s)
{
	struct json *j = &s->json;
	struct profile *p = s->calls.p;
	size_t comm = (size_t)keys_find(p->options.keys, KEY_COMM);

	json_name(j, "frames");
	json_begin_array(j);
	for (uint32_t i = 0; i < s->calls.symbols.nr; i++) {
		json_begin_object(j);
		json_name(j, "name");
		json_text(j, call_symbol_name(&s->calls, i));
		if (*call_symbol_image(&s->calls, i)) {
			json_name(j, "file");
			json_text(j, call_symbol_image(&s->calls, i));
		}
		json_end_object(j);
	}
	for (uint32_t i = 0; i < s->calls.whos.nr; i++) {
		json_begin_object(j);
		json_name(j, "name");
		json_text(j, profile_text(p, s->calls.whos.at[i], comm));
		json_end_object(j);
	}
	json_end_array(j);
}

static void write_speedscope_put_stack(struct scope *s, const struct call_row *row)
{
	const struct call_tree_node *nodes = s->calls.nodes.at;
	size_t nr = 0;

	for (uint32_t node = row->node; node; node = nodes[node].parent)
		s->path[nr++] = nodes[node].symbol;
	json_begin_array(&s->json);
	json_u64(&s->json, s->calls.symbols.nr + row->who);
	while (nr)
		json_u64(&s->json, s->path[--nr]);
	json_end_array(&s->json);
}

static void put_profile(struct scope *s, uint32_t event)
{
	const struct call_table *t = &s->calls;
	struct json *j = &s->json;
	uint32_t number = t->events.at[event];

	json_begin_object(j);
	json_name(j, "type");
	json_text(j, "sampled");
	json_name(j, "name");
	json_text(j, profile_event_name(t->p, number));
	json_name(j, "unit");
	json_text(j, "none");
	json_name(j, "startValue");
	json_u64(j, 0);
	json_name(j, "endValue");
	json_u64(j, t->p->events.at[number].samples);
	json_name(j, "samples");
	json_begin_array(j);
	for (size_t i = 0; i < t->nr_rows; i++)
		if (call_row_at(t, i)->event == event)
			write_speedscope_put_stack(s, call_row_at(t, i));
	json_end_array(j);
	json_name(j, "weights");
	json_begin_array(j);
	for (size_t i = 0; i < t->nr_rows; i++)
		if (call_row_at(t, i)->event == event)
			json_u64(j, call_row_at(t, i)->samples);
	json_end_array(j);
	json_end_object(j);
}

static void write_speedscope_put_all(struct scope *s)
{
	struct json *j = &s->json;

	json_begin_object(j);
	json_name(j, "$schema");
	json_text(j, "https://www.speedscope.app/file-format-schema.json");
	json_name(j, "exporter");
	json_text(j, "oprofile");
	json_name(j, "activeProfileIndex");
	json_u64(j, 0);
	json_name(j, "shared");
	json_begin_object(j);
	write_speedscope_put_frames(s);
	json_end_object(j);
	json_name(j, "profiles");
	json_begin_array(j);
	for (uint32_t i = 0; i < s->calls.events.nr; i++)
		put_profile(s, i);
	json_end_array(j);
	json_end_object(j);
	putc_unlocked('\n', j->out);
}

int write_speedscope(FILE *out, struct profile *p,
		     const struct present_options *options, struct err *err)
{
	struct scope s = { .json = { .out = out } };
	int r = call_table_make(&s.calls, p, options->threshold);

	s.path = r ? NULL : malloc((s.calls.nodes.nr + 1) * sizeof(*s.path));
	if (!s.path)
		r = -ENOMEM;
	if (!r)
		write_speedscope_put_all(&s);
	free(s.path);
	call_table_done(&s.calls);
	return r ? err_set(err, r, "out of memory") : 0;
}
