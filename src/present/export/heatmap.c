/* SPDX-License-Identifier: GPL-2.0-or-later */
/* heatmap.c - writes a page with a heat map of samples and a flame graph of the selected span of
 * time.  The profile is a timeline; its keys are time and stack, and cpu, or pid, tid and comm,
 * for rows of CPUs or threads.  Without these, a row is an offset within the second.  In
 * addition to the members in flame_page.h, #data has:
 *   heat                 rows: "offset", "cpu" or "thread"; names of the rows; number of columns;
 *                        column_ms, and for offsets row_ms
 *   who                  [column, row] of each cell with samples
 *   rows                 for each cell: [node step, event, samples, ...], as in export/flamegraph.c
 * To limit the size of the page, a column of a long recording is more than a second, and calls
 * with few samples are merged into their callers. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "base/containers/pairs.h"
#include "base/containers/sort_keys.h"
#include "base/err.h"
#include "heatmap_page.h"
#include "present/calls/spans.h"
#include "present/export/export_writers.h"
#include "present/export/flame_page.h"
#include "present/lines/options.h"

enum {
	MOST_COLUMNS = 600,
	MOST_LINES = 250, /* threads; the others share one line */
	MOST_ENTRIES = 250000,
	ROW_MS = 20,
	OFFSETS = 1000 / ROW_MS,
	THRESHOLD_STEP = 2,
	NS_A_MS = 1000000
};

enum heat_rows {
	ROWS_OFFSET,
	ROWS_CPU,
	ROWS_THREAD
};

/* A row of the map for a CPU or thread. */
struct heat_line {
	uint32_t who; /* one of the indices in `whos` that have the line's name */
	int64_t value;
	uint64_t samples;
	uint32_t row;
};

/* Samples of an event at a node in a cell.  The key encodes all three, and sorts in that order. */
struct heat_entry {
	uint64_t key;
	uint64_t samples;
};

struct heat {
	struct flame_page page;
	enum heat_rows kind;
	size_t key;        /* cpu or tid */
	uint64_t width_ns; /* of KEY_TIME */
	VEC(struct heat_line) lines;
	struct pairs line_by;
	uint32_t *line_of; /* by who */
	uint64_t nr_rows, nr_columns, column_ms;
	struct call_spans spans; /* by time, later by cell */
	uint64_t *counts;        /* by node and event, of the current cell */
	VEC(uint32_t) touched;   /* slots of `counts` in use, unsorted */
	VEC(struct heat_entry) entries;
	uint64_t *sums;   /* by node and event, including callees */
	uint32_t *folded; /* by node: the node that its samples are counted at */
};

/* ---- rows and columns ---- */

static uint64_t ms_of(const struct heat *h, struct call_span span)
{
	return span.bucket * h->width_ns / NS_A_MS;
}

/* Returns the line of a thread or CPU; NULL if memory is short. */
static struct heat_line *write_heatmap_line_at(struct heat *h, uint32_t who)
{
	struct profile *p = h->page.p;
	uint32_t group = h->page.calls.whos.at[who];
	int64_t value = (int64_t)profile_value(p, group, h->key);
	uint32_t pid =
		h->kind == ROWS_THREAD
			? (uint32_t)profile_value(
				  p, group, (size_t)keys_find(p->options.keys, KEY_PID))
			: 0;
	bool is_new;
	uint32_t *cell = pairs_at(&h->line_by, (uint32_t)value, pid, &is_new);

	if (!cell)
		return NULL;
	if (is_new) {
		if (!vec_push(&h->lines, (struct heat_line){ .value = value }))
			return NULL;
		*cell = (uint32_t)h->lines.nr;
	}
	h->line_of[who] = *cell - 1;
	h->lines.at[*cell - 1].who = who;
	return &h->lines.at[*cell - 1];
}

static int write_heatmap_by_value(const void *a, const void *b)
{
	const struct heat_line *const *x = a, *const *y = b;

	return (*x)->value < (*y)->value ? -1 : (*x)->value > (*y)->value;
}

static int by_samples(const void *a, const void *b)
{
	const struct heat_line *const *x = a, *const *y = b;

	if ((*x)->samples != (*y)->samples)
		return (*x)->samples > (*y)->samples ? -1 : 1;
	return write_heatmap_by_value(a, b);
}

/* Sorts CPUs by number, and threads by samples.  All lines beyond the limit share the last row. */
static int rank_lines(struct heat *h)
{
	struct heat_line **order = calloc(h->lines.nr + 1, sizeof(*order));
	size_t nr = h->lines.nr;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		order[i] = &h->lines.at[i];
	qsort(order, nr, sizeof(struct heat_line *), by_samples);
	if (h->kind == ROWS_CPU && nr <= MOST_LINES)
		qsort(order, nr, sizeof(struct heat_line *), write_heatmap_by_value);
	for (size_t i = 0; i < nr; i++)
		order[i]->row = i < MOST_LINES ? (uint32_t)i : MOST_LINES;
	h->nr_rows = nr <= MOST_LINES ? nr : MOST_LINES + 1;
	free(order);
	return 0;
}

static uint64_t write_heatmap_samples_of(const struct heat *h, struct call_span span)
{
	uint64_t sum = 0;
	uint32_t samples;

	while (span.at < span.end) {
		call_spans_next(&h->spans, &span, &samples);
		sum += samples;
	}
	return sum;
}

/* Makes the lines.  The name of a thread's line is the last name that the thread had. */
static int write_heatmap_make_lines(struct heat *h)
{
	h->line_of = calloc(h->page.calls.whos.nr + 1, sizeof(*h->line_of));
	if (!h->line_of)
		return -ENOMEM;
	for (size_t i = 0; i < h->spans.nr; i++) {
		struct call_span span = call_spans_at(&h->spans, i);
		struct heat_line *line = write_heatmap_line_at(h, span.who);

		if (!line)
			return -ENOMEM;
		line->samples += write_heatmap_samples_of(h, span);
	}
	return rank_lines(h);
}

static int write_heatmap_lay_out(struct heat *h)
{
	uint64_t last = 0, unit = h->kind == ROWS_OFFSET ? OFFSETS * ROW_MS : ROW_MS;

	if (h->spans.nr)
		last = ms_of(h, call_spans_at(&h->spans, h->spans.nr - 1));
	h->column_ms = (last / unit / MOST_COLUMNS + 1) * unit;
	h->nr_columns = last / h->column_ms + 1;
	h->nr_rows = OFFSETS;
	return h->kind == ROWS_OFFSET ? 0 : write_heatmap_make_lines(h);
}

static uint64_t write_heatmap_cell_of(const struct heat *h, struct call_span span)
{
	uint64_t ms = ms_of(h, span), column = ms / h->column_ms;
	uint64_t row = h->kind == ROWS_OFFSET ? ms / ROW_MS % OFFSETS
					      : h->lines.at[h->line_of[span.who]].row;

	return column * h->nr_rows + row;
}

/* Groups the spans by cell. */
static int order_spans(struct heat *h)
{
	for (size_t i = 0; i < h->spans.nr; i++)
		h->spans.keys[i].at =
			write_heatmap_cell_of(h, call_spans_at(&h->spans, i));
	return call_spans_sort(&h->spans);
}

/* ---- entries ---- */

static size_t nr_events(const struct heat *h)
{
	return h->page.calls.events.nr ? h->page.calls.events.nr : 1;
}

static size_t nr_nodes(const struct heat *h)
{
	return h->page.calls.nodes.nr ? h->page.calls.nodes.nr : 1;
}

static uint32_t write_heatmap_node_of(const struct heat *h, const struct heat_entry *e)
{
	return (uint32_t)(e->key / nr_events(h) % nr_nodes(h));
}

static uint64_t entry_cell(const struct heat *h, const struct heat_entry *e)
{
	return e->key / nr_events(h) / nr_nodes(h);
}

static void sum_span(struct heat *h, struct call_span span)
{
	size_t events = nr_events(h);

	while (span.at < span.end) {
		uint32_t samples, node = call_spans_next(&h->spans, &span, &samples);
		size_t slot = h->folded[node] * events + span.event;

		/* h->touched has enough capacity: it was reserved at the beginning. */
		if (!h->counts[slot])
			h->touched.at[h->touched.nr++] = (uint32_t)slot;
		h->counts[slot] += samples;
	}
}

/* Counts the cell of the span at `at`.  Returns the index of the next cell's first span. */
static size_t sum_cell(struct heat *h, size_t at)
{
	uint64_t cell = h->spans.keys[at].at;

	h->touched.nr = 0;
	for (; at < h->spans.nr && h->spans.keys[at].at == cell; at++)
		sum_span(h, call_spans_at(&h->spans, at));
	return at;
}

static void forget_counts(struct heat *h)
{
	for (size_t i = 0; i < h->touched.nr; i++)
		h->counts[h->touched.at[i]] = 0;
}

static int write_heatmap_compare_slots(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Makes the entries by cell, node and event.  Stops after a cell if there are more than `most`. */
static int make_entries(struct heat *h, size_t most)
{
	size_t slots = nr_nodes(h) * nr_events(h);

	h->entries.nr = 0;
	for (size_t at = 0; at < h->spans.nr && h->entries.nr <= most;) {
		uint64_t cell = h->spans.keys[at].at;

		at = sum_cell(h, at);
		qsort(h->touched.at, h->touched.nr, sizeof(*h->touched.at),
		      write_heatmap_compare_slots);
		for (size_t i = 0; i < h->touched.nr; i++) {
			uint32_t slot = h->touched.at[i];

			if (!vec_push(&h->entries,
				      (struct heat_entry){ cell * slots + slot,
							   h->counts[slot] }))
				return -ENOMEM;
		}
		forget_counts(h);
	}
	return 0;
}

/* Merges calls with less than `threshold` percent of each event into their callers. */
static void write_heatmap_fold(struct heat *h, double threshold)
{
	const struct call_table *t = &h->page.calls;
	size_t events = nr_events(h);

	for (uint32_t i = 1; i < t->nodes.nr; i++) {
		bool kept = false;

		for (size_t e = 0; e < t->events.nr; e++) {
			uint64_t sum = h->sums[i * events + e], all = h->sums[e];

			kept |= sum && (double)sum * 100 >= threshold * (double)all;
		}
		/* A caller has at least as many samples as its callees. */
		h->folded[i] = kept ? i : h->folded[t->nodes.at[i].parent];
	}
}

static int make_sums(struct heat *h)
{
	const struct call_table *t = &h->page.calls;
	size_t events = nr_events(h);

	h->folded = calloc(t->nodes.nr + 1, sizeof(*h->folded));
	h->sums = calloc(t->nodes.nr * events + 1, sizeof(*h->sums));
	h->counts = calloc(t->nodes.nr * events + 1, sizeof(*h->counts));
	if (!h->folded || !h->sums || !h->counts || t->nodes.nr * events > UINT32_MAX ||
	    !vec_reserve(&h->touched, t->nodes.nr * events + 1))
		return -ENOMEM;
	for (size_t i = 0; i < h->spans.nr; i++) {
		struct call_span span = call_spans_at(&h->spans, i);

		while (span.at < span.end) {
			uint32_t samples,
				node = call_spans_next(&h->spans, &span, &samples);

			h->sums[node * events + span.event] += samples;
		}
	}
	for (size_t i = t->nodes.nr; i-- > 1;)
		for (size_t e = 0; e < events; e++)
			h->sums[t->nodes.at[i].parent * events + e] +=
				h->sums[i * events + e];
	for (uint32_t i = 0; i < t->nodes.nr; i++)
		h->folded[i] = i;
	return 0;
}

/* Raises the threshold until the entries are few enough for a browser. Each cell with samples keeps
 * at least one entry. */
static int write_heatmap_limit(struct heat *h, double threshold)
{
	int r = make_sums(h);

	if (threshold <= 0)
		threshold = 0.005;
	while (!r && !(r = make_entries(h, MOST_ENTRIES)) &&
	       h->entries.nr > MOST_ENTRIES && threshold < 100) {
		threshold *= THRESHOLD_STEP;
		write_heatmap_fold(h, threshold);
	}
	/* make_entries() may have stopped early. */
	if (!r && h->entries.nr > MOST_ENTRIES)
		r = make_entries(h, SIZE_MAX);
	return r;
}

/* ---- the page ---- */

/* Numbers the shown nodes: those with samples, and their callers. */
static void write_heatmap_number_nodes(struct heat *h)
{
	const struct call_tree_node *nodes = h->page.calls.nodes.at;
	size_t nr = h->page.calls.nodes.nr;
	uint32_t number = 0;

	for (size_t i = 0; i < nr; i++)
		h->folded[i] = DICT_NONE;
	h->folded[0] = 0;
	for (size_t i = 0; i < h->entries.nr; i++) {
		uint32_t at = write_heatmap_node_of(h, &h->entries.at[i]);

		for (; h->folded[at] == DICT_NONE; at = nodes[at].parent)
			h->folded[at] = 0;
	}
	for (size_t i = 0; i < nr; i++)
		if (h->folded[i] != DICT_NONE)
			h->folded[i] = number++;
}

static void put_line_name(struct heat *h, uint32_t who)
{
	struct profile *p = h->page.p;
	const struct key_list *keys = p->options.keys;
	uint32_t group = h->page.calls.whos.at[who];
	char text[300];

	if (h->kind == ROWS_CPU)
		snprintf(text, sizeof(text), "CPU %" PRId64,
			 (int64_t)profile_value(p, group, h->key));
	else
		snprintf(text, sizeof(text), "%s %" PRId64 "/%" PRId64,
			 profile_text(p, group, (size_t)keys_find(keys, KEY_COMM)),
			 (int64_t)profile_value(p, group,
						(size_t)keys_find(keys, KEY_PID)),
			 (int64_t)profile_value(p, group, h->key));
	flame_page_text(&h->page, text);
}

static void write_heatmap_put_lines(struct heat *h)
{
	struct json *j = &h->page.json;

	json_name(j, "names");
	json_begin_array(j);
	for (uint32_t row = 0; row < h->nr_rows && h->kind != ROWS_OFFSET; row++) {
		const struct heat_line *line = NULL;

		for (size_t i = 0; row < MOST_LINES && i < h->lines.nr; i++)
			if (h->lines.at[i].row == row)
				line = &h->lines.at[i];
		if (line)
			put_line_name(h, line->who);
		else
			flame_page_text(&h->page, "others");
	}
	json_end_array(j);
}

static void put_heat(struct heat *h)
{
	static const char *const kinds[] = { "offset", "cpu", "thread" };
	struct json *j = &h->page.json;

	json_name(j, "heat");
	json_begin_object(j);
	json_member_text(j, "rows", kinds[h->kind]);
	write_heatmap_put_lines(h);
	json_member_u64(j, "nr_rows", h->nr_rows);
	json_member_u64(j, "columns", h->nr_columns);
	json_member_u64(j, "column_ms", h->column_ms);
	json_member_u64(j, "row_ms", ROW_MS);
	json_end_object(j);
	json_member_u64(j, "levels", 0);
	json_member_u64(j, "sessions", 1);
}

static bool begins_cell(const struct heat *h, size_t i)
{
	return !i ||
	       entry_cell(h, &h->entries.at[i]) != entry_cell(h, &h->entries.at[i - 1]);
}

static void write_heatmap_put_cells(struct heat *h)
{
	struct json *j = &h->page.json;

	json_name(j, "who");
	json_begin_array(j);
	for (size_t i = 0; i < h->entries.nr; i++) {
		uint64_t cell = entry_cell(h, &h->entries.at[i]);

		if (!begins_cell(h, i))
			continue;
		json_begin_array(j);
		json_u64(j, cell / h->nr_rows);
		json_u64(j, cell % h->nr_rows);
		json_end_array(j);
	}
	json_end_array(j);
}

static void write_heatmap_put_rows(struct heat *h)
{
	struct json *j = &h->page.json;
	uint32_t last = 0;

	json_name(j, "rows");
	json_begin_array(j);
	for (size_t i = 0; i < h->entries.nr; i++) {
		const struct heat_entry *e = &h->entries.at[i];
		uint32_t node = h->folded[write_heatmap_node_of(h, e)];

		if (begins_cell(h, i)) {
			last = 0;
			json_begin_array(j);
		}
		json_u64(j, node - last);
		json_u64(j, e->key % nr_events(h));
		json_u64(j, e->samples);
		last = node;
		if (i + 1 == h->entries.nr || begins_cell(h, i + 1))
			json_end_array(j);
	}
	json_end_array(j);
}

static void write_heatmap_put_page(struct heat *h)
{
	static const struct flame_page_more more = {
		.title = "Heat map",
		.style = HEAT_CSS,
		.style_hash = "'" HEAT_CSS_HASH "'",
		.script = HEAT_JS,
		.script_hash = "'" HEAT_JS_HASH "'",
		.body = "<section id=heat-side aria-label=\"Heat map\">\n"
			"<canvas id=heat tabindex=0 role=application aria-label=\"Heat map of time: "
			"arrow keys move, with Shift they choose a span, Escape chooses all; "
			"the flame graph below is of the span\" aria-describedby=span></canvas>\n"
			"<div id=span role=status aria-live=polite></div>\n"
			"</section>\n",
	};

	write_heatmap_number_nodes(h);
	flame_page_begin(&h->page, &more);
	json_begin_object(&h->page.json);
	flame_page_calls(&h->page, h->folded);
	put_heat(h);
	write_heatmap_put_cells(h);
	write_heatmap_put_rows(h);
	json_end_object(&h->page.json);
	flame_page_end(&h->page, &more);
}

static void choose_kind(struct heat *h, const struct key_list *keys)
{
	h->width_ns = keys->keys.at[keys_find(keys, KEY_TIME)].width_ns;
	h->kind = keys_find(keys, KEY_CPU) >= 0   ? ROWS_CPU
		  : keys_find(keys, KEY_TID) >= 0 ? ROWS_THREAD
						  : ROWS_OFFSET;
	if (h->kind != ROWS_OFFSET)
		h->key = (size_t)keys_find(keys,
					   h->kind == ROWS_CPU ? KEY_CPU : KEY_TID);
}

int write_heatmap(FILE *out, struct profile *p, const struct present_options *options,
		  struct err *err)
{
	struct heat h = { 0 };
	int r = flame_page_make(&h.page, out, p, options->threshold);

	choose_kind(&h, p->options.keys);
	if (!r)
		r = call_spans_make(&h.spans, &h.page.calls, SPANS_BY_TIME);
	if (!r)
		r = write_heatmap_lay_out(&h);
	if (!r)
		r = order_spans(&h);
	if (!r)
		r = write_heatmap_limit(&h, options->threshold);
	if (!r)
		write_heatmap_put_page(&h);
	if (!r && h.page.text.failed)
		r = -ENOMEM;
	vec_done(&h.lines);
	pairs_done(&h.line_by);
	free(h.line_of);
	call_spans_done(&h.spans);
	free(h.counts);
	vec_done(&h.touched);
	vec_done(&h.entries);
	free(h.sums);
	free(h.folded);
	flame_page_done(&h.page);
	return r ? err_set(err, r, "out of memory") : 0;
}
