/* SPDX-License-Identifier: GPL-2.0-or-later */
/* write_tree_rows.c - writes --tree as CSV and JSON: one row per line, callers before callees,
 * with the depth of each.  Nothing is folded, and only --threshold omits lines. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/call_sums.h"
#include "aggregate/profile/profile.h"
#include "base/err.h"
#include "present/lines/call_focus.h"
#include "present/lines/json.h"
#include "present/lines/options.h"
#include "present/lines/percent.h"
#include "present/text/csv.h"
#include "present/text/text_writers.h"
#include "present/text/tree_lines.h"

static const char schema[] = "oprofile-tree/1";

struct write_tree_rows {
	struct profile *p;
	const struct present_options *options;
	FILE *out;
	struct json *json; /* NULL: CSV */
	struct call_sums sums;
	uint32_t event;
	bool with_event;
	struct buf text;
};

/* Returns a key of a function: 0 is its image, 1 its symbol.  Truncated stacks have no image. */
static const char *write_tree_rows_key_text(const struct write_tree_rows *r,
					    uint32_t function, size_t key)
{
	const struct profile *p = r->p;
	const struct tuples *t = &p->tuples[GROUP_WHERE];
	uint32_t tuple;

	if (function == DICT_NONE)
		return key ? "[truncated]" : "";
	tuple = p->tuple_of_function.at[function];
	return strtab_get(
		&p->strings,
		(uint32_t)t->values.at[tuple * t->width + p->key_slots[key].at]);
}

static const char *part_name(enum tree_part part)
{
	return part == TREE_CALLEES ? "callees" : "callers";
}

static void write_tree_rows_put_text(struct buf *b, const char *text)
{
	csv_put_field(b, text, strlen(text));
	buf_put_u8(b, ',');
}

static void write_tree_rows_put_number(struct buf *b, uint64_t n)
{
	buf_put_decimal(b, n);
	buf_put_u8(b, ',');
}

static void write_tree_rows_put_share(struct buf *b, uint64_t part, uint64_t whole)
{
	char text[32];

	snprintf(text, sizeof(text), "%.10g", percent_of(part, whole));
	buf_put(b, text, strlen(text));
}

static void write_tree_rows_put_csv(struct write_tree_rows *r,
				    const struct tree_line *line)
{
	uint64_t total = r->p->events.at[r->event].samples;
	struct buf *b = &r->text;
	size_t e = r->event;
	const struct profile_sums sums =
		profile_sums(r->p, r->event, line->samples[e], line->periods[e]);
	const struct profile_sums self =
		profile_sums(r->p, r->event, line->self[e], line->self_periods[e]);

	buf_clear(b);
	if (r->with_event)
		write_tree_rows_put_text(b, profile_event_name(r->p, r->event));
	write_tree_rows_put_text(b, part_name(line->part));
	write_tree_rows_put_number(b, line->depth);
	write_tree_rows_put_text(b, write_tree_rows_key_text(r, line->function, 0));
	write_tree_rows_put_text(b, write_tree_rows_key_text(r, line->function, 1));
	write_tree_rows_put_number(b, sums.samples);
	write_tree_rows_put_number(b, sums.period);
	write_tree_rows_put_share(b, line->samples[e], total);
	buf_put_u8(b, ',');
	write_tree_rows_put_number(b, self.samples);
	write_tree_rows_put_number(b, self.period);
	write_tree_rows_put_share(b, line->self[e], total);
	buf_put(b, "\r\n", 2);
	if (!b->failed)
		fwrite(b->data, 1, b->len, r->out);
}

static void put_json(const struct write_tree_rows *r, const struct tree_line *line)
{
	struct json *j = r->json;
	size_t e = r->event;
	struct profile_sums sums =
		profile_sums(r->p, r->event, line->samples[e], line->periods[e]);

	json_begin_object(j);
	if (r->with_event) {
		json_name(j, "event");
		json_text(j, profile_event_name(r->p, r->event));
	}
	json_name(j, "part");
	json_text(j, part_name(line->part));
	json_member_u64(j, "depth", line->depth);
	json_name(j, "image");
	json_text(j, write_tree_rows_key_text(r, line->function, 0));
	json_name(j, "symbol");
	json_text(j, write_tree_rows_key_text(r, line->function, 1));
	json_member_u64(j, "samples", sums.samples);
	json_member_u64(j, "period", sums.period);
	if (line->part == TREE_CALLEES) {
		sums = profile_sums(r->p, r->event, line->self[e],
				    line->self_periods[e]);
		json_member_u64(j, "self_samples", sums.samples);
		json_member_u64(j, "self_period", sums.period);
	}
	json_end_object(j);
}

static int write_tree_rows_put_row(void *ctx, const struct tree_line *line)
{
	struct write_tree_rows *r = ctx;

	if (r->json)
		put_json(r, line);
	else
		write_tree_rows_put_csv(r, line);
	return r->text.failed ? -ENOMEM : 0;
}

static int write_tree_rows_put_part(struct write_tree_rows *r, enum tree_part part,
				    const uint8_t *focus)
{
	const struct tree_how how = { .sums = &r->sums,
				      .part = part,
				      .focus = focus,
				      .lead = r->event,
				      .total = r->p->events.at[r->event].samples,
				      .threshold = r->options->threshold,
				      .put = write_tree_rows_put_row,
				      .ctx = r };

	return tree_lines_put(r->p, &how);
}

static int write_tree_rows_put_event(struct write_tree_rows *r, const uint8_t *focus)
{
	bool both = focus && r->options->both_parts;
	int status = 0;

	if (r->options->callers || both)
		status = write_tree_rows_put_part(r, TREE_CALLERS, focus);
	if (!status && (!r->options->callers || both))
		status = write_tree_rows_put_part(r, TREE_CALLEES, focus);
	return status;
}

/* Writes the events one after the other. */
static int write_tree_rows_put_all(struct write_tree_rows *r, const uint8_t *focus)
{
	int status = 0;

	r->with_event = r->p->events.nr > 1;
	for (uint32_t rank = 0; rank < r->p->events.nr; rank++)
		for (uint32_t e = 0; !status && e < r->p->events.nr; e++) {
			if (r->p->events.at[e].rank != rank ||
			    !r->p->events.at[e].samples)
				continue;
			r->event = e;
			status = write_tree_rows_put_event(r, focus);
		}
	return status;
}

static int write_tree_rows_write_rows(struct write_tree_rows *r, struct err *err)
{
	uint8_t *focus = NULL;
	int status = 0;

	if (call_sums_make(&r->sums, r->p, NULL, r->p->events.nr))
		status = err_set(err, -ENOMEM, "out of memory");
	if (!status && r->options->focus)
		status = call_focus_find(r->p, r->options->focus, &focus, err);
	if (!status && write_tree_rows_put_all(r, focus))
		status = err_set(err, -ENOMEM, "out of memory");
	free(focus);
	call_sums_done(&r->sums);
	buf_done(&r->text);
	return status;
}

int write_tree_csv(FILE *out, struct profile *p, const struct present_options *options,
		   struct err *err)
{
	struct write_tree_rows r = { .p = p, .options = options, .out = out };

	if (!options->no_header)
		fprintf(out,
			"%spart,depth,image,symbol,samples,period,percent,self_samples,self_period,self_percent\r\n",
			p->events.nr > 1 ? "event," : "");
	return write_tree_rows_write_rows(&r, err);
}

int write_tree_json(FILE *out, struct profile *p, const struct present_options *options,
		    struct err *err)
{
	struct json j = { .out = out };
	struct write_tree_rows r = {
		.p = p, .options = options, .out = out, .json = &j
	};
	int status;

	json_begin_object(&j);
	json_name(&j, "schema");
	json_text(&j, schema);
	json_name(&j, "rows");
	json_begin_array(&j);
	status = write_tree_rows_write_rows(&r, err);
	if (status)
		return status;
	json_end_array(&j);
	json_end_object(&j);
	fputc('\n', out);
	return 0;
}
