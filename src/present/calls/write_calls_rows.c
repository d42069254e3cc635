/* SPDX-License-Identifier: GPL-2.0-or-later */
/* write_calls_rows.c - writes --callgraph as CSV and JSON: for each function its own samples,
 * those including callees, and its calls in both directions; one event after the other. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "base/err.h"
#include "present/calls/links.h"
#include "present/calls/write_calls.h"
#include "present/lines/call_focus.h"
#include "present/lines/columns.h"
#include "present/lines/json.h"
#include "present/lines/lines.h"
#include "present/lines/options.h"
#include "present/lines/percent.h"
#include "present/text/csv.h"

static const char schema[] = "oprofile-callgraph/1";

struct write_calls_rows {
	struct profile *p;
	const struct present_options *options;
	FILE *out;
	struct json *json; /* NULL: CSV */
	struct report_lines lines;
	struct call_links links; /* its lines are the profile's rows */
	uint32_t *rank_of;       /* by row */
	uint8_t *focus;          /* by value of the symbol key; NULL: all */
	size_t image;            /* indices of keys */
	size_t symbol;
	bool with_event;
	struct buf text;
};

static void write_calls_rows_put_text(struct buf *b, const char *text)
{
	csv_put_field(b, text, strlen(text));
	buf_put_u8(b, ',');
}

/* ---- CSV: focus, relation, other, counts ---- */

static void put_csv_key(struct write_calls_rows *r, uint32_t group, size_t key)
{
	struct buf value = { 0 };

	column_put_value(&value, r->p, group, key);
	csv_put_field(&r->text, (const char *)value.data, value.len);
	buf_put_u8(&r->text, ',');
	r->text.failed |= value.failed;
	buf_done(&value);
}

static void write_calls_rows_put_csv(struct write_calls_rows *r, uint32_t row,
				     const char *relation, uint32_t other,
				     const uint64_t counts[2])
{
	const struct profile_row *of = &r->p->rows.at[row];
	const struct profile_sums sums =
		profile_sums(r->p, of->event, counts[0], counts[1]);
	bool has_other = other < r->p->rows.nr;
	char share[32];

	buf_clear(&r->text);
	if (r->with_event)
		write_calls_rows_put_text(&r->text,
					  profile_event_name(r->p, of->event));
	for (size_t k = 0; k < r->p->nr_keys; k++)
		put_csv_key(r, of->group, k);
	write_calls_rows_put_text(&r->text, relation);
	if (has_other) {
		put_csv_key(r, r->p->rows.at[other].group, r->image);
		put_csv_key(r, r->p->rows.at[other].group, r->symbol);
	} else {
		write_calls_rows_put_text(&r->text, "");
		write_calls_rows_put_text(
			&r->text, strcmp(relation, "caller") ? "" : "[truncated]");
	}
	snprintf(share, sizeof(share), "%.10g\r\n",
		 percent_of(counts[0], r->p->events.at[of->event].samples));
	buf_put_decimal(&r->text, sums.samples);
	buf_put_u8(&r->text, ',');
	buf_put_decimal(&r->text, sums.period);
	buf_put_u8(&r->text, ',');
	buf_put(&r->text, share, strlen(share));
	if (!r->text.failed)
		fwrite(r->text.data, 1, r->text.len, r->out);
}

static void put_csv_header(struct write_calls_rows *r)
{
	static const char rest[] =
		"relation,other_image,other_symbol,samples,period,percent\r\n";

	if (r->with_event)
		write_calls_rows_put_text(&r->text, "event");
	for (size_t k = 0; k < r->p->nr_keys; k++)
		write_calls_rows_put_text(&r->text,
					  r->p->options.keys->keys.at[k].typed);
	buf_put(&r->text, rest, sizeof(rest) - 1);
	if (!r->text.failed)
		fwrite(r->text.data, 1, r->text.len, r->out);
}

/* ---- JSON: an object per function ---- */

static void put_json_key(struct write_calls_rows *r, uint32_t group, size_t key,
			 const char *name)
{
	const struct key_row *row = r->p->options.keys->keys.at[key].row;

	json_name(r->json, name);
	buf_clear(&r->text);
	column_put_value(&r->text, r->p, group, key);
	buf_put_u8(&r->text, 0);
	if (r->text.failed)
		json_text(r->json, "");
	else if (row->kind == KEY_INTEGER)
		json_number(r->json, (const char *)r->text.data);
	else
		json_text(r->json, (const char *)r->text.data);
}

static void put_json_link(struct write_calls_rows *r, uint32_t other,
			  struct profile_sums sums)
{
	json_begin_object(r->json);
	if (other < r->p->rows.nr) {
		put_json_key(r, r->p->rows.at[other].group, r->image, "image");
		put_json_key(r, r->p->rows.at[other].group, r->symbol, "symbol");
	} else {
		json_name(r->json, "truncated");
		json_bool(r->json, true);
	}
	json_member_u64(r->json, "samples", sums.samples);
	json_member_u64(r->json, "period", sums.period);
	json_end_object(r->json);
}

/* ---- both ---- */

static void write_calls_rows_put_links(struct write_calls_rows *r, uint32_t row,
				       bool to_callees)
{
	const struct call_links *l = &r->links;
	const size_t *from = to_callees ? l->callees_from : l->callers_from;
	const uint32_t *numbers = to_callees ? l->callees : l->callers;

	if (r->json) {
		json_name(r->json, to_callees ? "callees" : "callers");
		json_begin_array(r->json);
	}
	for (size_t i = from[row]; i < from[row + 1]; i++) {
		uint32_t n = numbers[i];
		const uint64_t counts[2] = { l->counts[n], l->periods[n] };
		uint32_t other = to_callees ? l->all.at[n].callee : l->all.at[n].caller;

		if (r->json)
			put_json_link(r, other,
				      profile_sums(r->p, r->p->rows.at[row].event,
						   counts[0], counts[1]));
		else
			write_calls_rows_put_csv(r, row,
						 to_callees ? "callee" : "caller",
						 other, counts);
	}
	if (r->json)
		json_end_array(r->json);
}

static void write_calls_rows_put_function(struct write_calls_rows *r, uint32_t row)
{
	const struct profile_row *of = &r->p->rows.at[row];
	const struct call_total *total = &r->p->graph.totals.at[row];
	const uint64_t own[2] = { of->samples, of->period };
	const uint64_t all[2] = { total->samples, total->period };
	struct profile_sums sums;

	if (!r->json) {
		write_calls_rows_put_links(r, row, false);
		write_calls_rows_put_csv(r, row, "self", CALL_BY_UNKNOWN, own);
		write_calls_rows_put_csv(r, row, "total", CALL_BY_UNKNOWN, all);
		write_calls_rows_put_links(r, row, true);
		return;
	}
	json_begin_object(r->json);
	if (r->with_event) {
		json_name(r->json, "event");
		json_text(r->json, profile_event_name(r->p, of->event));
	}
	for (size_t k = 0; k < r->p->nr_keys; k++)
		put_json_key(r, of->group, k, r->p->options.keys->keys.at[k].typed);
	sums = profile_sums(r->p, of->event, own[0], own[1]);
	json_member_u64(r->json, "samples", sums.samples);
	json_member_u64(r->json, "period", sums.period);
	sums = profile_sums(r->p, of->event, all[0], all[1]);
	json_member_u64(r->json, "total_samples", sums.samples);
	json_member_u64(r->json, "total_period", sums.period);
	write_calls_rows_put_links(r, row, false);
	write_calls_rows_put_links(r, row, true);
	json_end_object(r->json);
}

static int write_calls_rows_make_links(struct write_calls_rows *r)
{
	struct call_lines how = { .nr_lines = r->p->rows.nr, .nr_columns = 1 };

	r->rank_of = calloc(r->p->rows.nr + 1, sizeof(*r->rank_of));
	if (!r->rank_of)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->lines.all.nr; i++)
		r->rank_of[r->lines.all.at[i].number] = i;
	how.rank_of = r->rank_of;
	return call_links_make(&r->links, r->p, &how);
}

/* Finds the names with the focus. The focus is by function, while the values of the key are names.
 */
static int write_calls_rows_find_focus(struct write_calls_rows *r, struct err *err)
{
	uint8_t *functions = NULL;
	int status = call_focus_find(r->p, r->options->focus, &functions, err);
	size_t nr = profile_nr_values(r->p, r->symbol);

	if (status)
		return status;
	r->focus = calloc(nr + 1, sizeof(*r->focus));
	for (uint32_t i = 0; r->focus && i < r->p->functions.nr; i++) {
		uint32_t shown = r->p->functions.at[i].shown;

		if (functions[i] && shown < nr)
			r->focus[shown] = 1;
	}
	free(functions);
	return r->focus ? 0 : err_set(err, -ENOMEM, "out of memory");
}

static int write_calls_rows_prepare(struct write_calls_rows *r, struct err *err)
{
	struct present_options all = *r->options;
	int status;

	r->image = (size_t)keys_find(r->p->options.keys, KEY_IMAGE);
	r->symbol = (size_t)keys_find(r->p->options.keys, KEY_SYMBOL);
	r->with_event = r->p->events.nr > 1;
	all.threshold = 0;
	status = r->options->focus ? write_calls_rows_find_focus(r, err) : 0;
	if (!status)
		status = lines_of_rows(r->p, &all, r->with_event, &r->lines, err);
	if (!status && write_calls_rows_make_links(r))
		status = err_set(err, -ENOMEM, "out of memory");
	return status;
}

static void write_calls_rows_put_functions(struct write_calls_rows *r)
{
	for (size_t i = 0; i < r->lines.all.nr; i++) {
		const struct line *line = &r->lines.all.at[i];
		uint32_t event = r->p->rows.at[line->number].event;

		if (percent_of(line->counts[0], r->p->events.at[event].samples) <
		    r->options->threshold)
			continue;
		if (!r->focus || r->focus[profile_value(r->p, line->group, r->symbol)])
			write_calls_rows_put_function(r, line->number);
	}
}

static void rows_done(struct write_calls_rows *r)
{
	lines_done(&r->lines);
	call_links_done(&r->links);
	free(r->rank_of);
	free(r->focus);
	buf_done(&r->text);
}

int write_calls_csv(FILE *out, struct profile *p, const struct present_options *options,
		    struct err *err)
{
	struct write_calls_rows r = { .p = p, .options = options, .out = out };
	int status = write_calls_rows_prepare(&r, err);

	if (!status) {
		if (!options->no_header)
			put_csv_header(&r);
		write_calls_rows_put_functions(&r);
		if (r.text.failed)
			status = err_set(err, -ENOMEM, "out of memory");
	}
	rows_done(&r);
	return status;
}

int write_calls_json(FILE *out, struct profile *p,
		     const struct present_options *options, struct err *err)
{
	struct json j = { .out = out };
	struct write_calls_rows r = {
		.p = p, .options = options, .out = out, .json = &j
	};
	int status = write_calls_rows_prepare(&r, err);

	if (!status) {
		json_begin_object(&j);
		json_name(&j, "schema");
		json_text(&j, schema);
		json_name(&j, "functions");
		json_begin_array(&j);
		write_calls_rows_put_functions(&r);
		json_end_array(&j);
		json_end_object(&j);
		fputc('\n', out);
		if (r.text.failed)
			status = err_set(err, -ENOMEM, "out of memory");
	}
	rows_done(&r);
	return status;
}
