/* SPDX-License-Identifier: GPL-2.0-or-later */
/* query_times.c - the queries "timeline" and "heat". */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "view/query_priv.h"
#include "view/times.h"

enum {
	TIMELINE_BINS = 1000,
	TIMELINE_TOP = 20,
	HEAT_COLUMNS = 600,
	HEAT_ROWS = 50
};

static int view_query_lanes(const struct view_answer *a, enum view_lanes *lanes)
{
	static const char *const names[] = { [VIEW_LANES_NONE] = "none",
					     [VIEW_LANES_THREAD] = "thread",
					     [VIEW_LANES_CPU] = "cpu",
					     [VIEW_LANES_COMM] = "comm" };
	const char *text = view_params_get(a->params, "tracks");

	*lanes = VIEW_LANES_NONE;
	if (!text)
		return 0;
	while (*lanes <= VIEW_LANES_COMM && strcmp(names[*lanes], text) != 0)
		++*lanes;
	return *lanes <= VIEW_LANES_COMM
		       ? 0
		       : err_set(a->err, -EINVAL,
				 "tracks: invalid value '%s': give thread, cpu, comm or none",
				 text);
}

static void view_query_put_lane(struct view_answer *a, const struct view_lane *lane,
				enum view_lanes lanes, size_t nr_bins)
{
	const struct view_data *d = &a->m->data;
	struct json *j = &a->json;
	const struct view_thread *t =
		lane->thread == VIEW_NONE ? NULL : &d->threads.at[lane->thread];
	char name[32];

	json_begin_object(j);
	(void)snprintf(name, sizeof(name), "CPU %d", (int)lane->cpu);
	json_member_text(j, "name", t ? view_text(d, t->comm) : name);
	if (t)
		json_member_text(j, "comm", view_text(d, t->comm));
	if (t && lanes == VIEW_LANES_THREAD) {
		view_answer_signed(a, "pid", t->pid);
		view_answer_signed(a, "tid", t->tid);
	}
	if (!t)
		view_answer_signed(a, "cpu", lane->cpu);
	json_member_u64(j, "samples", lane->samples);
	view_answer_numbers(a, "bins", lane->bins, nr_bins);
	json_end_object(j);
}

static void view_query_put_timeline(struct view_answer *a, struct view_timeline *t,
				    enum view_lanes lanes)
{
	struct json *j = &a->json;

	json_begin_object(j);
	json_member_u64(j, "from_ns", t->from_ns);
	json_member_u64(j, "to_ns", t->from_ns + t->nr_bins * t->bin_ns);
	json_member_u64(j, "bin_ns", t->bin_ns);
	if (a->m->options.nr_sides > 1) {
		view_answer_numbers(a, "base", t->total[0], t->nr_bins);
		view_answer_numbers(a, "new", t->total[1], t->nr_bins);
	}
	for (size_t i = 0; i < t->nr_bins; i++)
		t->total[0][i] += t->total[1][i];
	view_answer_numbers(a, "total", t->total[0], t->nr_bins);
	json_name(j, "lost");
	json_begin_array(j);
	json_end_array(j);
	json_name(j, "tracks");
	json_begin_array(j);
	for (size_t i = 0; i < t->lanes.nr && t->lanes.at[i].bins; i++)
		view_query_put_lane(a, &t->lanes.at[i], lanes, t->nr_bins);
	json_end_array(j);
	json_end_object(j);
}

int view_query_timeline(struct view_answer *a)
{
	struct view_timeline_options o = { 0 };
	struct view_selection s = { 0 };
	struct view_timeline t = { 0 };
	uint64_t bins = TIMELINE_BINS, top = TIMELINE_TOP;
	int r = view_query_lanes(a, &o.lanes);

	if (!r)
		r = view_params_u64(a->params, "bins", &bins, a->err);
	if (!r)
		r = view_params_u64(a->params, "top", &top, a->err);
	o.bins = bins;
	o.top = top;
	if (!r)
		r = view_selection_make(&s, a->m, a->params, a->err);
	if (!r && view_timeline_make(&t, &s, &o))
		r = view_answer_no_memory(a);
	if (!r)
		view_query_put_timeline(a, &t, o.lanes);
	view_timeline_done(&t);
	view_selection_done(&s);
	return r;
}

static void view_query_put_heat(struct view_answer *a, const struct view_heat *h)
{
	struct json *j = &a->json;

	json_begin_object(j);
	json_member_u64(j, "from_ns", h->from_ns);
	json_member_u64(j, "column_ns", h->row_ns * h->rows);
	json_member_u64(j, "row_ns", h->row_ns);
	json_member_u64(j, "columns", h->columns);
	json_member_u64(j, "rows", h->rows);
	json_name(j, "cells");
	json_begin_array(j);
	for (size_t i = 0; i < h->columns * h->rows; i++) {
		if (!h->cells[i])
			continue;
		json_begin_array(j);
		json_u64(j, i / h->rows);
		json_u64(j, i % h->rows);
		json_u64(j, h->cells[i]);
		json_end_array(j);
	}
	json_end_array(j);
	json_end_object(j);
}

int view_query_heat(struct view_answer *a)
{
	uint64_t columns = HEAT_COLUMNS, rows = HEAT_ROWS;
	struct view_selection s = { 0 };
	struct view_heat h = { 0 };
	int r = view_params_u64(a->params, "columns", &columns, a->err);

	if (!r)
		r = view_params_u64(a->params, "rows", &rows, a->err);
	if (!r)
		r = view_selection_make(&s, a->m, a->params, a->err);
	if (!r && view_heat_make(&h, &s, columns, rows))
		r = view_answer_no_memory(a);
	if (!r)
		view_query_put_heat(a, &h);
	view_heat_done(&h);
	view_selection_done(&s);
	return r;
}
