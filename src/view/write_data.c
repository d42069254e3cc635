/* SPDX-License-Identifier: GPL-2.0-or-later */
/* write_data.c - the data of a page that works without a server.
 * Its size is bounded: small nodes of the call tree are merged into their callers, and bins of time
 * become wider, until few enough cells remain.  No sample is left out. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "view/query.h"
#include "view/query_priv.h"

enum {
	DATA_VERSION = 1,
	BINS_MAX = 2000,
	NODES_MAX = 40000,
	CELLS_MAX = 400000,
	ROUNDS_MAX = 12,
	FUNCTIONS_MAX = 20, /* with source and code */
	FUNCTIONS_BYTES = 3 << 20
};

/* Functions with a smaller share of the samples are written without source and code. */
static const double function_share = 0.005;

/* Samples of one track, bin of time and node. */
struct view_cell {
	uint32_t track, bin, node;
	uint64_t count;
};

struct view_reduction {
	const struct view_data *d;
	uint32_t bins_in_one; /* bins of the model that become one */
	size_t nodes_max;
	/* By node of the model: the node that counts its samples, which is itself if it is kept. */
	uint32_t *kept;
	uint32_t *number; /* by node: its number among those that are kept */
	uint64_t nr_dropped, nr_moved; /* nodes that were dropped, and their samples */
	VEC(struct view_cell) cells;
};

/* ---- nodes ---- */

/* Adds up the samples of each node with its callees.  Returns NULL if memory is short. */
static uint64_t *view_data_totals(const struct view_data *d)
{
	uint64_t *total = calloc(d->nodes.nr + 1, sizeof(*total));

	for (size_t i = 0; total && i < d->node_of.nr; i++)
		total[d->node_of.at[i]] += d->count_of.at[i];
	for (uint32_t i = (uint32_t)d->nodes.nr; total && i-- > 0;)
		if (d->nodes.at[i].caller != VIEW_NONE)
			total[d->nodes.at[i].caller] += total[i];
	return total;
}

static size_t view_data_nodes_with(const struct view_data *d, const uint64_t *total,
				   uint64_t least)
{
	size_t nr = 0;

	for (size_t i = 0; i < d->nodes.nr; i++)
		nr += d->nodes.at[i].caller == VIEW_NONE || total[i] >= least;
	return nr;
}

/* Chooses the nodes to keep: all roots, and the nodes with the most samples. Sets `kept`, `number`
 * and `nr_dropped`. */
static int view_reduce_nodes(struct view_reduction *r)
{
	const struct view_data *d = r->d;
	uint64_t *total = view_data_totals(d);
	uint64_t least = 1;
	uint32_t nr = 0;

	if (!total)
		return -ENOMEM;
	while (view_data_nodes_with(d, total, least) > r->nodes_max &&
	       least < UINT64_MAX / 2)
		least *= 2;
	r->nr_dropped = 0;
	for (uint32_t i = 0; i < d->nodes.nr; i++) {
		uint32_t caller = d->nodes.at[i].caller;
		bool keep = caller == VIEW_NONE || total[i] >= least;

		/* Callers are before their callees, and have at least their samples. */
		r->kept[i] = keep ? i : r->kept[caller];
		r->number[i] = nr;
		nr += keep;
		r->nr_dropped += !keep;
	}
	free(total);
	return 0;
}

/* ---- cells ---- */

static int view_cell_compare(const void *va, const void *vb)
{
	const struct view_cell *a = va, *b = vb;

	return a->node < b->node ? -1 : a->node > b->node;
}

/* Sorts the cells from `first` on, which have the same track and bin, and adds up equal nodes. */
static void view_reduce_merge(struct view_reduction *r, size_t first)
{
	struct view_cell *cells = r->cells.at;
	size_t to = first;

	if (r->cells.nr - first < 2)
		return;
	qsort(cells + first, r->cells.nr - first, sizeof(*cells), view_cell_compare);
	for (size_t i = first + 1; i < r->cells.nr; i++) {
		if (cells[i].node == cells[to].node)
			cells[to].count += cells[i].count;
		else
			cells[++to] = cells[i];
	}
	r->cells.nr = to + 1;
}

static int view_reduce_span(struct view_reduction *r, size_t i)
{
	const struct view_data *d = r->d;
	const struct view_span *span = &d->spans.at[i];

	for (uint32_t at = span->at; at < d->spans.at[i + 1].at; at++) {
		uint32_t node = d->node_of.at[at];
		const struct view_cell cell = { span->track, span->bin / r->bins_in_one,
						r->kept[node], d->count_of.at[at] };

		if (r->kept[node] != node)
			r->nr_moved += cell.count;
		if (!vec_push(&r->cells, cell))
			return -ENOMEM;
	}
	return 0;
}

/* Makes the cells. Returns 0, 1 if there are too many, or -ENOMEM. */
static int view_reduce_cells(struct view_reduction *r)
{
	const struct view_data *d = r->d;
	size_t first = 0;

	r->cells.nr = 0;
	r->nr_moved = 0;
	for (size_t i = 0; i + 1 < d->spans.nr; i++) {
		const struct view_span *span = &d->spans.at[i];

		if (first < r->cells.nr &&
		    (r->cells.at[first].track != span->track ||
		     r->cells.at[first].bin != span->bin / r->bins_in_one)) {
			view_reduce_merge(r, first);
			first = r->cells.nr;
		}
		if (r->cells.nr > CELLS_MAX)
			return 1;
		if (view_reduce_span(r, i))
			return -ENOMEM;
	}
	view_reduce_merge(r, first);
	return r->cells.nr > CELLS_MAX;
}

static int view_reduce(struct view_reduction *r)
{
	const struct view_data *d = r->d;
	int done = 1;

	r->kept = calloc(d->nodes.nr + 1, sizeof(*r->kept));
	r->number = calloc(d->nodes.nr + 1, sizeof(*r->number));
	if (!r->kept || !r->number)
		return -ENOMEM;
	r->bins_in_one = d->nr_bins / BINS_MAX + 1;
	r->nodes_max = NODES_MAX;
	for (unsigned int i = 0; done > 0 && i < ROUNDS_MAX; i++) {
		done = view_reduce_nodes(r);
		if (!done)
			done = view_reduce_cells(r);
		if (done <= 0)
			break;
		r->bins_in_one *= 2;
		r->nodes_max /= 2;
	}
	return done;
}

static void view_reduction_done(struct view_reduction *r)
{
	free(r->kept);
	free(r->number);
	vec_done(&r->cells);
}

/* ---- JSON ---- */

/* Writes images, symbols and nodes. */
static int view_data_put_nodes(struct view_answer *a, const struct view_reduction *r)
{
	const struct view_data *d = r->d;
	uint32_t *wanted = calloc(d->functions.nr + 1, sizeof(*wanted));
	uint64_t *symbol = calloc(d->nodes.nr + 1, sizeof(*symbol));
	uint64_t *up = calloc(d->nodes.nr + 1, sizeof(*up));
	int status = wanted && symbol && up ? 0 : -ENOMEM;
	size_t nr = 0;

	for (uint32_t i = 0; !status && i < d->nodes.nr; i++)
		if (r->kept[i] == i)
			wanted[d->nodes.at[i].function] = 1;
	if (!status)
		status = view_answer_put_symbols(a, wanted);
	for (uint32_t i = 0; !status && i < d->nodes.nr; i++) {
		uint32_t caller = d->nodes.at[i].caller;

		if (r->kept[i] != i)
			continue;
		symbol[nr] = wanted[d->nodes.at[i].function] - 1;
		up[nr++] = caller == VIEW_NONE ? 0 : r->number[i] - r->number[caller];
	}
	if (!status) {
		view_answer_numbers(a, "symbol", symbol, nr);
		view_answer_numbers(a, "up", up, nr);
	}
	free(wanted);
	free(symbol);
	free(up);
	return status;
}

static void view_data_put_threads(struct view_answer *a)
{
	const struct view_data *d = &a->m->data;
	struct json *j = &a->json;

	json_name(j, "threads");
	json_begin_array(j);
	for (size_t i = 0; i < d->threads.nr; i++) {
		const struct view_thread *t = &d->threads.at[i];

		json_begin_array(j);
		view_answer_signed(a, NULL, t->pid);
		view_answer_signed(a, NULL, t->tid);
		json_text(j, view_text(d, t->comm));
		json_text(j, view_text(d, t->cgroup));
		json_end_array(j);
	}
	json_end_array(j);
}

/* A function that returns a number of cell i. */
typedef int64_t view_cell_number(const struct view_reduction *r, size_t i);

static int64_t view_cell_bin(const struct view_reduction *r, size_t i)
{
	return (int64_t)r->cells.at[i].bin - (i ? (int64_t)r->cells.at[i - 1].bin : 0);
}

static const struct view_track *view_cell_track(const struct view_reduction *r,
						size_t i)
{
	return &r->d->tracks.at[r->cells.at[i].track];
}

static int64_t view_cell_thread(const struct view_reduction *r, size_t i)
{
	return view_cell_track(r, i)->thread;
}

static int64_t view_cell_cpu(const struct view_reduction *r, size_t i)
{
	return view_cell_track(r, i)->cpu;
}

static int64_t view_cell_event(const struct view_reduction *r, size_t i)
{
	return view_cell_track(r, i)->event;
}

static int64_t view_cell_side(const struct view_reduction *r, size_t i)
{
	return view_cell_track(r, i)->side;
}

static int64_t view_cell_node(const struct view_reduction *r, size_t i)
{
	return r->number[r->cells.at[i].node];
}

static int64_t view_cell_count(const struct view_reduction *r, size_t i)
{
	return (int64_t)r->cells.at[i].count;
}

static void view_data_put_column(struct view_answer *a, const struct view_reduction *r,
				 const char *name, view_cell_number *number)
{
	json_name(&a->json, name);
	json_begin_array(&a->json);
	for (size_t i = 0; i < r->cells.nr; i++)
		view_answer_signed(a, NULL, number(r, i));
	json_end_array(&a->json);
}

static void view_data_put_cells(struct view_answer *a, const struct view_reduction *r)
{
	json_name(&a->json, "cells");
	json_begin_object(&a->json);
	view_data_put_column(a, r, "bin", view_cell_bin);
	view_data_put_column(a, r, "thread", view_cell_thread);
	view_data_put_column(a, r, "cpu", view_cell_cpu);
	view_data_put_column(a, r, "event", view_cell_event);
	view_data_put_column(a, r, "node", view_cell_node);
	view_data_put_column(a, r, "count", view_cell_count);
	if (a->m->options.nr_sides > 1)
		view_data_put_column(a, r, "side", view_cell_side);
	json_end_object(&a->json);
}

/* ---- sources ---- */

/* A function with its samples. */
struct view_hot {
	uint32_t function;
	uint64_t samples;
};

static int view_hot_compare(const void *va, const void *vb)
{
	const struct view_hot *a = va, *b = vb;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return a->function < b->function ? -1 : a->function > b->function;
}

/* Returns all functions, most samples of the first event first (malloc'd); NULL if memory is
 * short. */
static struct view_hot *view_hot_list(const struct view_data *d, uint64_t *ret_all)
{
	struct view_hot *hot = calloc(d->functions.nr + 1, sizeof(*hot));

	*ret_all = 0;
	for (uint32_t i = 0; hot && i < d->functions.nr; i++)
		hot[i].function = i;
	for (size_t i = 0; hot && i + 1 < d->spans.nr; i++) {
		if (d->tracks.at[d->spans.at[i].track].event)
			continue;
		for (uint32_t at = d->spans.at[i].at; at < d->spans.at[i + 1].at;
		     at++) {
			hot[d->nodes.at[d->node_of.at[at]].function].samples +=
				d->count_of.at[at];
			*ret_all += d->count_of.at[at];
		}
	}
	if (hot)
		qsort(hot, d->functions.nr, sizeof(*hot), view_hot_compare);
	return hot;
}

static int view_data_put_function(struct view_answer *a, uint32_t function)
{
	const struct view_data *d = &a->m->data;
	const char *image = view_function_image(d, function);
	const char *name = view_function_name(d, function);
	struct buf key = { 0 };
	int status = -ENOMEM;

	buf_put(&key, image, strlen(image) + 1);
	buf_put(&key, name, strlen(name));
	if (!key.failed) {
		json_name_len(&a->json, (const char *)key.data, key.len);
		status = view_answer_put_source(a, function, true);
	}
	buf_done(&key);
	return status;
}

/* Writes sources and code of the functions with the most samples. */
static int view_data_put_functions(struct view_answer *a, size_t *ret_left_out)
{
	const struct view_data *d = &a->m->data;
	uint64_t all;
	struct view_hot *hot = view_hot_list(d, &all);
	off_t begin = ftello(a->json.out);
	int status = hot ? 0 : -ENOMEM;
	size_t i = 0;

	json_name(&a->json, "functions");
	json_begin_object(&a->json);
	for (; !status && i < d->functions.nr && i < FUNCTIONS_MAX; i++) {
		if ((double)hot[i].samples < function_share * (double)all ||
		    !hot[i].samples || ftello(a->json.out) - begin > FUNCTIONS_BYTES)
			break;
		status = view_data_put_function(a, hot[i].function);
	}
	json_end_object(&a->json);
	for (*ret_left_out = 0; hot && i < d->functions.nr; i++)
		*ret_left_out += hot[i].samples != 0;
	free(hot);
	return status;
}

static void view_data_put_cut(struct view_answer *a, const struct view_reduction *r,
			      size_t functions)
{
	struct json *j = &a->json;

	json_name(j, "cut");
	json_begin_object(j);
	json_member_u64(j, "nodes", r->nr_dropped);
	json_member_u64(j, "samples_merged", r->nr_moved);
	json_member_u64(j, "functions", functions);
	json_end_object(j);
}

/* Writes the answer to "info", for a page that neither follows a live recording nor records. */
static int view_data_put_info(struct view_answer *a)
{
	struct view_options *o = &a->m->options;
	bool live = o->live, can_record = o->can_record;
	int r;

	json_name(&a->json, "info");
	o->live = o->can_record = false;
	r = view_query_info(a);
	o->live = live;
	o->can_record = can_record;
	return r;
}

static int view_data_put(struct view_answer *a)
{
	struct view_reduction r = { .d = &a->m->data };
	int status = view_reduce(&r);
	size_t functions = 0;

	if (status > 0)
		status = err_set(a->err, -E2BIG,
				 "the recording has too many threads for one file");
	json_begin_object(&a->json);
	if (!status) {
		json_member_u64(&a->json, "version", DATA_VERSION);
		status = view_data_put_info(a);
	}
	if (!status) {
		status = view_data_put_nodes(a, &r);
		view_data_put_threads(a);
		json_member_u64(&a->json, "bin_ns", r.d->bin_ns * r.bins_in_one);
		view_data_put_cells(a, &r);
		json_name(&a->json, "quality");
	}
	if (!status)
		status = view_query_quality(a);
	if (!status)
		status = view_data_put_functions(a, &functions);
	if (!status)
		view_data_put_cut(a, &r, functions);
	json_end_object(&a->json);
	view_reduction_done(&r);
	return status == -ENOMEM ? view_answer_no_memory(a) : status;
}

int view_write_data(struct view_model *m, struct buf *out, struct err *err)
{
	const struct view_params none = { 0 };
	struct view_answer a = { .m = m, .params = &none, .err = err };

	return view_answer_make(&a, view_data_put, out);
}
