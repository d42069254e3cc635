/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/selection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"

/* ---- threads ---- */

/* Returns whether a parameter with this name has the value `text`, or there is no such
 * parameter. */
static bool view_selection_text(const struct view_params *p, const char *name,
				const char *text)
{
	bool any = false;

	for (size_t i = 0; i < p->nr; i++) {
		if (strcmp(p->at[i].name, name) != 0)
			continue;
		if (!strcmp(p->at[i].value, text))
			return true;
		any = true;
	}
	return !any;
}

static bool view_selection_number(const struct view_params *p, const char *name,
				  int64_t number)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%lld", (long long)number);
	return view_selection_text(p, name, text);
}

static bool view_selection_wants_track(const struct view_selection *s,
				       const struct view_params *p, size_t track)
{
	const struct view_data *d = s->data;
	const struct view_track *t = &d->tracks.at[track];
	const struct view_thread *thread = &d->threads.at[t->thread];

	return view_selection_text(p, "comm", view_text(d, thread->comm)) &&
	       view_selection_text(p, "cgroup", view_text(d, thread->cgroup)) &&
	       view_selection_number(p, "pid", thread->pid) &&
	       view_selection_number(p, "tid", thread->tid) &&
	       view_selection_number(p, "cpu", t->cpu) &&
	       view_selection_text(p, "side", t->side ? "new" : "base");
}

static int view_selection_tracks(struct view_selection *s, const struct view_params *p)
{
	const struct view_data *d = s->data;

	s->tracks = calloc(d->tracks.nr + 1, 1);
	if (!s->tracks)
		return -ENOMEM;
	s->all_threads = true;
	for (size_t i = 0; i < d->tracks.nr; i++) {
		if (s->event != VIEW_NONE && d->tracks.at[i].event != s->event)
			continue;
		s->tracks[i] = view_selection_wants_track(s, p, i);
		s->all_threads &= s->tracks[i];
	}
	return 0;
}

/* ---- functions ---- */

bool view_function_is(struct view_model *m, uint32_t function, const char *name)
{
	return !strcmp(view_function_name(&m->data, function), name) ||
	       !strcmp(view_function_short(m, function), name);
}

enum view_matching {
	VIEW_MATCH_IMAGE,
	VIEW_MATCH_SYMBOL,
	VIEW_MATCH_TEXT
};

static bool view_selection_matches(struct view_model *m, uint32_t function,
				   enum view_matching by, const char *value)
{
	const struct view_data *d = &m->data;

	switch (by) {
	case VIEW_MATCH_IMAGE:
		return !strcmp(view_function_image(d, function), value);
	case VIEW_MATCH_SYMBOL:
		return view_function_is(m, function, value);
	case VIEW_MATCH_TEXT:
	default:
		return strcasestr(view_function_name(d, function), value) ||
		       strcasestr(view_function_image(d, function), value);
	}
}

/* Sets by[function] if one of the values matches.  Returns false if there are no values. */
static bool view_selection_functions(struct view_model *m, const struct view_params *p,
				     const char *name, enum view_matching match,
				     uint8_t *by)
{
	bool any = false;

	memset(by, 0, m->data.functions.nr);
	for (size_t i = 0; i < p->nr; i++) {
		if (strcmp(p->at[i].name, name) != 0)
			continue;
		any = true;
		for (uint32_t f = 0; f < m->data.functions.nr; f++)
			by[f] |= view_selection_matches(m, f, match, p->at[i].value);
	}
	return any;
}

/* Restricts the selected nodes to those of the functions with by[function] != 0. If `above` is set,
 * also keeps their direct and indirect callees. */
static int view_selection_restrict(struct view_selection *s, const uint8_t *by,
				   bool above)
{
	const struct view_data *d = s->data;
	uint32_t below = 0; /* end of the callees of the last match */

	if (!s->nodes) {
		s->nodes = malloc(d->nodes.nr + 1);
		if (!s->nodes)
			return -ENOMEM;
		memset(s->nodes, 1, d->nodes.nr + 1);
	}
	for (uint32_t i = 0; i < d->nodes.nr; i++) {
		const struct view_node *n = &d->nodes.at[i];

		if (above && by[n->function] && n->end > below)
			below = n->end;
		s->nodes[i] &= by[n->function] || i < below;
	}
	return 0;
}

static int view_selection_nodes(struct view_selection *s, struct view_model *m,
				const struct view_params *p)
{
	static const struct {
		const char *name;
		enum view_matching match;
		bool above;
	} rows[] = {
		{ "image", VIEW_MATCH_IMAGE, false },
		{ "symbol", VIEW_MATCH_SYMBOL, false },
		{ "through", VIEW_MATCH_SYMBOL, true },
		{ "text", VIEW_MATCH_TEXT, true },
	};
	uint8_t *by = malloc(m->data.functions.nr + 1);
	int r = by ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < COUNT_OF(rows); i++)
		if (view_selection_functions(m, p, rows[i].name, rows[i].match, by))
			r = view_selection_restrict(s, by, rows[i].above);
	free(by);
	return r;
}

/* ---- all ---- */

static int view_selection_event(struct view_selection *s, const struct view_params *p,
				struct err *err)
{
	const char *name = view_params_get(p, "event");
	uint32_t i = 0;

	while (name && i < s->data->events.nr &&
	       strcmp(view_text(s->data, s->data->events.at[i].name), name) != 0)
		i++;
	if (name && i == s->data->events.nr)
		return err_set(err, -ENOENT, "there is no event '%s'", name);
	s->event = i;
	return 0;
}

static int view_selection_times(struct view_selection *s, const struct view_params *p,
				struct err *err)
{
	uint64_t width = s->data->bin_ns, from = 0, to = UINT64_MAX;
	int r = view_params_u64(p, "from", &from, err);

	if (!r)
		r = view_params_u64(p, "to", &to, err);
	if (r)
		return r;
	from = from / width + (from % width != 0);
	to = to / width + (to % width != 0);
	s->from_bin = from < VIEW_NONE ? (uint32_t)from : VIEW_NONE;
	s->to_bin = to < s->data->nr_bins ? (uint32_t)to : s->data->nr_bins;
	return 0;
}

int view_selection_make(struct view_selection *s, struct view_model *m,
			const struct view_params *params, struct err *err)
{
	int r;

	*s = (struct view_selection){ .data = &m->data };
	r = view_selection_event(s, params, err);
	if (!r)
		r = view_selection_times(s, params, err);
	if (r)
		return r;
	if (view_selection_tracks(s, params) || view_selection_nodes(s, m, params))
		return err_set(err, -ENOMEM, "out of memory");
	return 0;
}

void view_selection_all_events(struct view_selection *s,
			       const struct view_params *params)
{
	s->event = VIEW_NONE;
	for (size_t i = 0; i < s->data->tracks.nr; i++)
		s->tracks[i] = view_selection_wants_track(s, params, i);
}

void view_selection_done(struct view_selection *s)
{
	free(s->tracks);
	free(s->nodes);
	*s = (struct view_selection){ 0 };
}

uint64_t view_selection_count(const struct view_selection *s, size_t span)
{
	const struct view_data *d = s->data;
	uint32_t end = d->spans.at[span + 1].at;
	uint64_t sum = 0;

	for (uint32_t i = d->spans.at[span].at; i < end; i++)
		if (!s->nodes || s->nodes[d->node_of.at[i]])
			sum += d->count_of.at[i];
	return sum;
}

void view_selection_sum(const struct view_selection *s, uint64_t *self, bool by_side)
{
	const struct view_data *d = s->data;
	const uint32_t *node_of = d->node_of.at;

	for (size_t at = 0; at + 1 < d->spans.nr; at++) {
		const struct view_span *span = &d->spans.at[at];
		uint32_t end = d->spans.at[at + 1].at;
		size_t step = by_side ? VIEW_SIDES : 1;
		uint64_t *to = self;

		if (!view_selection_span(s, span))
			continue;
		if (by_side)
			to += d->tracks.at[span->track].side;
		for (uint32_t i = span->at; i < end; i++)
			if (!s->nodes || s->nodes[node_of[i]])
				to[node_of[i] * step] += d->count_of.at[i];
	}
}
