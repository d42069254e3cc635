/* SPDX-License-Identifier: GPL-2.0-or-later */
/* query_table.c - the queries "table" and "values". */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "view/query_priv.h"
#include "view/table.h"

enum {
	TABLE_TOP = 200,
	VALUES_TOP = 50
};

static int view_query_order(const struct view_answer *a, enum view_table_order *order)
{
	static const char *const names[] = { [VIEW_BY_SELF] = "self",
					     [VIEW_BY_TOTAL] = "total",
					     [VIEW_BY_NAME] = "name",
					     [VIEW_BY_DELTA] = "delta" };
	const char *text = view_params_get(a->params, "sort");

	*order = VIEW_BY_SELF;
	if (!text)
		return 0;
	while (*order <= VIEW_BY_DELTA && strcmp(names[*order], text) != 0)
		++*order;
	return *order <= VIEW_BY_DELTA
		       ? 0
		       : err_set(a->err, -EINVAL,
				 "sort: invalid value '%s': give self, total, name or delta",
				 text);
}

/* Makes a table with the parameters of a query. */
static int view_query_make_table(struct view_answer *a, struct view_table *t,
				 const char *keys)
{
	struct view_selection s;
	int r = view_selection_make(&s, a->m, a->params, a->err);

	if (!r && strstr(keys, "event") && !view_params_get(a->params, "event"))
		view_selection_all_events(&s, a->params);
	if (!r)
		r = view_table_make(t, &s, keys, a->err);
	view_selection_done(&s);
	return r;
}

/* ---- table ---- */

/* Returns the short form of the row's function name, or NULL if it equals the full name. Returns
 * NULL also if the key is not a symbol. */
static const char *view_query_short(struct view_answer *a, const struct view_table *t,
				    const struct view_row *row, size_t key)
{
	const char *shown;

	if (row->function == VIEW_NONE || t->keys.keys.at[key].row->id != KEY_SYMBOL)
		return NULL;
	shown = view_function_short(a->m, row->function);
	return strcmp(shown, view_function_name(&a->m->data, row->function)) != 0
		       ? shown
		       : NULL;
}

static void view_query_put_row(struct view_answer *a, const struct view_table *t,
			       const struct view_row *row)
{
	struct json *j = &a->json;
	const char *full = NULL;

	json_begin_object(j);
	json_name(j, "values");
	json_begin_array(j);
	for (size_t k = 0; k < t->keys.keys.nr; k++) {
		char room[VIEW_VALUE_ROOM];
		const char *text = view_table_text(t, row, k, room);
		const char *shown = view_query_short(a, t, row, k);

		if (shown)
			full = text;
		json_text(j, shown ? shown : text);
	}
	json_end_array(j);
	if (full)
		json_member_text(j, "full", full);
	json_member_u64(j, "self", row->self);
	json_member_u64(j, "total", row->total);
	if (a->m->options.nr_sides > 1) {
		json_member_u64(j, "base", row->side_self[0]);
		json_member_u64(j, "new", row->side_self[1]);
		json_member_u64(j, "base_total", row->side_total[0]);
		json_member_u64(j, "new_total", row->side_total[1]);
	}
	json_end_object(j);
}

static void view_query_put_table(struct view_answer *a, const struct view_table *t,
				 uint64_t from, uint64_t top)
{
	struct json *j = &a->json;

	json_begin_object(j);
	json_name(j, "keys");
	json_begin_array(j);
	for (size_t k = 0; k < t->keys.keys.nr; k++)
		json_text(j, t->keys.keys.at[k].typed);
	json_end_array(j);
	json_member_u64(j, "rows_total", t->rows.nr);
	json_member_u64(j, "samples", t->samples[0] + t->samples[1]);
	if (a->m->options.nr_sides > 1) {
		json_member_u64(j, "base_samples", t->samples[0]);
		json_member_u64(j, "new_samples", t->samples[1]);
	}
	json_name(j, "rows");
	json_begin_array(j);
	for (size_t i = from; i < t->rows.nr && i - from < top; i++)
		view_query_put_row(a, t, &t->rows.at[i]);
	json_end_array(j);
	json_end_object(j);
}

int view_query_table(struct view_answer *a)
{
	const char *keys = view_params_get(a->params, "by");
	uint64_t from = 0, top = TABLE_TOP;
	enum view_table_order order;
	struct view_table t = { 0 };
	int r = view_query_order(a, &order);

	if (!r)
		r = view_params_u64(a->params, "top", &top, a->err);
	if (!r)
		r = view_params_u64(a->params, "from_row", &from, a->err);
	if (!r)
		r = view_query_make_table(a, &t, keys ? keys : "symbol,image");
	if (!r) {
		view_table_sort(&t, order);
		view_query_put_table(a, &t, from, top);
	}
	view_table_done(&t);
	return r;
}

/* ---- values ---- */

/* Returns the name of a process or thread for a menu, or NULL. */
static const char *view_query_label(const struct view_data *d, enum key_id id,
				    int64_t number)
{
	const char *label = NULL;

	for (size_t i = 0; i < d->threads.nr; i++) {
		const struct view_thread *t = &d->threads.at[i];

		if (id == KEY_TID && t->tid == number)
			label = view_text(d, t->comm);
		if (id == KEY_PID && t->pid == number && (!label || t->tid == t->pid))
			label = view_text(d, t->comm);
	}
	return label;
}

static void view_query_put_value(struct view_answer *a, const struct view_table *t,
				 const struct view_row *row, const char *text)
{
	enum key_id id = t->keys.keys.at[0].row->id;
	struct json *j = &a->json;
	const char *label = NULL;

	json_begin_array(j);
	json_text(j, text);
	json_u64(j, row->self);
	if (id == KEY_PID || id == KEY_TID)
		label = view_query_label(&a->m->data, id, (int64_t)row->values[0]);
	if (label)
		json_text(j, label);
	json_end_array(j);
}

int view_query_values(struct view_answer *a)
{
	const char *of = view_params_get(a->params, "of");
	const char *part = view_params_get(a->params, "prefix");
	struct view_table t = { 0 };
	uint64_t top = VALUES_TOP, nr = 0;
	int r = view_params_u64(a->params, "top", &top, a->err);

	if (!of || strchr(of, ','))
		return err_set(
			a->err, -EINVAL,
			"of: give one of comm, pid, tid, cpu, cgroup, image, symbol");
	if (!r)
		r = view_query_make_table(a, &t, of);
	if (!r) {
		view_table_sort(&t, VIEW_BY_SELF);
		json_begin_object(&a->json);
		json_name(&a->json, "rows");
		json_begin_array(&a->json);
		for (size_t i = 0; i < t.rows.nr && nr < top; i++) {
			char room[VIEW_VALUE_ROOM];
			const char *text = view_table_text(&t, &t.rows.at[i], 0, room);

			if (part && !strcasestr(text, part))
				continue;
			view_query_put_value(a, &t, &t.rows.at[i], text);
			nr++;
		}
		json_end_array(&a->json);
		json_end_object(&a->json);
	}
	view_table_done(&t);
	return r;
}
