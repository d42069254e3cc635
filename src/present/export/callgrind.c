/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/export/callgrind.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "base/err.h"
#include "base/parse.h"
#include "present/calls/table.h"
#include "present/lines/screen.h"

enum {
	NAME_OBJECT,
	NAME_FILE,
	NAME_FUNCTION,
	NR_NAMES
};

/* A call from one function to another. */
struct write_callgrind_edge {
	uint32_t from, to; /* symbols */
	uint32_t open;     /* occurrences on the path to the current node */
};

struct write_callgrind_step {
	uint32_t node;
	uint32_t edge; /* DICT_NONE: none */
};

/* A line of a function with samples. */
struct own_line {
	uint32_t symbol;
	uint32_t text; /* string of the profile */
	uint32_t file, line;
	uint32_t number; /* index of its first cost, divided by nr_events */
};

struct callgrind {
	struct profile *p;
	struct call_table calls;
	VEC(size_t) apps;  /* the first row of each */
	uint32_t *file_of; /* by symbol: string of the profile */
	uint32_t *line_of; /* by symbol: line where it begins */
	uint32_t unknown;  /* string: "???" */
	/* Samples of the current application including callees, by node and event. */
	uint64_t *sums;
	size_t nr_events;
	/* The data of the current application. */
	struct map edge_by;
	VEC(struct write_callgrind_edge) edges;
	struct map line_by; /* (symbol, line) */
	VEC(struct own_line) lines;
	VEC(uint64_t) line_costs;
	VEC(uint64_t) edge_costs;
	VEC(struct write_callgrind_step) path; /* to the current node */
	struct map named; /* (kind, string): the number in the file */
	uint32_t nr_named[NR_NAMES];
	FILE *out;
};

/* ---- source positions of functions ---- */

/* Splits "path:12"; an unknown position becomes "???" and 0. */
static int write_callgrind_split(struct callgrind *c, uint32_t text, uint32_t *ret_file,
				 uint32_t *ret_line)
{
	const char *position = strtab_get(&c->p->strings, text);
	size_t len;

	*ret_file = c->unknown;
	*ret_line = 0;
	len = parse_source_position(position, ret_line);
	if (!len)
		return 0;
	*ret_file = strtab_add_len(&c->p->strings, position, len);
	return *ret_file == STRTAB_FAILED ? -ENOMEM : 0;
}

static int write_callgrind_find_files(struct callgrind *c)
{
	size_t nr = c->calls.symbols.nr;

	c->file_of = calloc(nr + 1, sizeof(*c->file_of));
	c->line_of = calloc(nr + 1, sizeof(*c->line_of));
	c->unknown = strtab_add(&c->p->strings, "???");
	if (!c->file_of || !c->line_of || c->unknown == STRTAB_FAILED)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		uint32_t function = c->calls.symbols.at[i].function;
		uint32_t line = function == DICT_NONE
					? DICT_NONE
					: c->p->functions.at[function].line;

		c->file_of[i] = c->unknown;
		if (line != DICT_NONE &&
		    write_callgrind_split(c, line, &c->file_of[i], &c->line_of[i]))
			return -ENOMEM;
	}
	return 0;
}

int callgrind_new(struct profile *p, double threshold, struct callgrind **ret_c,
		  struct err *err)
{
	struct callgrind *c = calloc(1, sizeof(*c));
	int r = -ENOMEM;

	if (!c)
		return err_set(err, r, "out of memory");
	c->p = p;
	r = call_table_make(&c->calls, p, threshold);
	c->nr_events = c->calls.events.nr;
	for (size_t i = 0; !r && i < c->calls.nr_rows; i++)
		if ((!i || call_row_at(&c->calls, i)->who !=
				   call_row_at(&c->calls, i - 1)->who) &&
		    !vec_push(&c->apps, i))
			r = -ENOMEM;
	if (!r)
		r = write_callgrind_find_files(c);
	if (!r) {
		c->sums =
			calloc(c->calls.nodes.nr * c->nr_events + 1, sizeof(*c->sums));
		r = c->sums ? 0 : -ENOMEM;
	}
	if (r) {
		callgrind_free(c);
		return err_set(err, r, "out of memory");
	}
	*ret_c = c;
	return 0;
}

static void write_callgrind_forget(struct callgrind *c)
{
	map_done(&c->edge_by);
	map_done(&c->line_by);
	map_done(&c->named);
	c->edges.nr = c->lines.nr = c->line_costs.nr = c->edge_costs.nr = c->path.nr =
		0;
	memset(c->nr_named, 0, sizeof(c->nr_named));
}

void callgrind_free(struct callgrind *c)
{
	if (!c)
		return;
	write_callgrind_forget(c);
	vec_done(&c->edges);
	vec_done(&c->lines);
	vec_done(&c->line_costs);
	vec_done(&c->edge_costs);
	vec_done(&c->path);
	vec_done(&c->apps);
	free(c->file_of);
	free(c->line_of);
	free(c->sums);
	call_table_done(&c->calls);
	free(c);
}

size_t callgrind_nr_apps(const struct callgrind *c)
{
	return c->apps.nr;
}

const char *callgrind_app(const struct callgrind *c, size_t app)
{
	size_t key = (size_t)keys_find(c->p->options.keys, KEY_APP);

	return profile_text(
		c->p, c->calls.whos.at[call_row_at(&c->calls, c->apps.at[app])->who],
		key);
}

/* ---- costs ---- */

/* Adds zeroed costs for one more element. */
static int add_costs(struct callgrind *c, bool of_lines)
{
	for (size_t i = 0; i < c->nr_events; i++)
		if (of_lines ? !vec_push(&c->line_costs, 0)
			     : !vec_push(&c->edge_costs, 0))
			return -ENOMEM;
	return 0;
}

static int write_callgrind_add_row(struct callgrind *c, const struct call_row *row)
{
	uint32_t symbol = row->node ? c->calls.nodes.at[row->node].symbol : DICT_NONE;
	bool is_new;
	struct map_slot *slot = map_at(&c->line_by, symbol, row->line, &is_new);

	if (!slot)
		return -ENOMEM;
	if (is_new) {
		struct own_line line = { .symbol = symbol,
					 .text = row->line,
					 .number = (uint32_t)c->lines.nr };

		if (write_callgrind_split(c, row->line, &line.file, &line.line) ||
		    !vec_push(&c->lines, line) || add_costs(c, true))
			return -ENOMEM;
		slot->value_plus_1 = (uint32_t)c->lines.nr;
	}
	c->line_costs.at[(slot->value_plus_1 - 1) * c->nr_events + row->event] +=
		row->samples;
	c->sums[row->node * c->nr_events + row->event] += row->samples;
	return 0;
}

/* Returns the edge into a node, or DICT_NONE if memory is short. */
static uint32_t edge_to(struct callgrind *c, uint32_t node)
{
	const struct call_tree_node *nodes = c->calls.nodes.at;
	struct write_callgrind_edge edge = { nodes[nodes[node].parent].symbol,
					     nodes[node].symbol, 0 };
	struct map_slot *slot;
	bool is_new;

	slot = map_at(&c->edge_by, edge.from, edge.to, &is_new);
	if (!slot)
		return DICT_NONE;
	if (is_new) {
		if (!vec_push(&c->edges, edge) || add_costs(c, false))
			return DICT_NONE;
		slot->value_plus_1 = (uint32_t)c->edges.nr;
	}
	return slot->value_plus_1 - 1;
}

static bool has_samples(const struct callgrind *c, uint32_t node)
{
	for (size_t i = 0; i < c->nr_events; i++)
		if (c->sums[node * c->nr_events + i])
			return true;
	return false;
}

/* Adds a node's samples to its calls. A recursive call is part of the outer call, so its samples
 * count once. */
static int write_callgrind_add_call(struct callgrind *c, uint32_t node)
{
	uint32_t caller = c->calls.nodes.at[node].parent;
	struct write_callgrind_step step = { node, DICT_NONE };

	while (c->path.nr && c->path.at[c->path.nr - 1].node != caller)
		if (c->path.at[--c->path.nr].edge != DICT_NONE)
			c->edges.at[c->path.at[c->path.nr].edge].open--;
	if (caller && has_samples(c, node)) {
		step.edge = edge_to(c, node);
		if (step.edge == DICT_NONE)
			return -ENOMEM;
		for (size_t i = 0; !c->edges.at[step.edge].open && i < c->nr_events;
		     i++)
			c->edge_costs.at[step.edge * c->nr_events + i] +=
				c->sums[node * c->nr_events + i];
		c->edges.at[step.edge].open++;
	}
	return vec_push(&c->path, step) ? 0 : -ENOMEM;
}

/* Computes all costs of an application. */
static int write_callgrind_sum_up(struct callgrind *c, size_t app)
{
	size_t end = app + 1 < c->apps.nr ? c->apps.at[app + 1] : c->calls.nr_rows;
	size_t nr = c->calls.nodes.nr;

	memset(c->sums, 0, nr * c->nr_events * sizeof(*c->sums));
	for (size_t i = c->apps.at[app]; i < end; i++)
		if (write_callgrind_add_row(c, call_row_at(&c->calls, i)))
			return -ENOMEM;
	for (size_t i = nr; i-- > 1;)
		for (size_t event = 0; event < c->nr_events; event++)
			c->sums[c->calls.nodes.at[i].parent * c->nr_events + event] +=
				c->sums[i * c->nr_events + event];
	for (uint32_t i = 1; i < nr; i++)
		if (write_callgrind_add_call(c, i))
			return -ENOMEM;
	return 0;
}

/* ---- text ---- */

/* Writes "fn=(1) main" the first time, and "fn=(1)" afterwards. */
static int write_callgrind_put_name(struct callgrind *c, const char *field,
				    unsigned int kind, uint32_t symbol, uint32_t name)
{
	bool is_new;
	/* If functions of different images have the same name, append a number to it. */
	struct map_slot *slot =
		map_at(&c->named, kind, kind == NAME_FUNCTION ? symbol : name, &is_new);

	if (!slot)
		return -ENOMEM;
	if (is_new)
		slot->value_plus_1 = ++c->nr_named[kind];
	fprintf(c->out, "%s=(%" PRIu32 ")", field, slot->value_plus_1);
	if (is_new) {
		putc_unlocked(' ', c->out);
		screen_write_masked(c->out, strtab_get(&c->p->strings, name));
	}
	putc_unlocked('\n', c->out);
	return 0;
}

static int write_callgrind_put_function(struct callgrind *c, const char *const *fields,
					uint32_t symbol)
{
	const struct call_symbol *s = NULL;
	uint32_t names[] = { c->unknown, c->unknown, c->unknown };

	if (symbol != DICT_NONE) {
		s = &c->calls.symbols.at[symbol];
		names[NAME_FILE] = c->file_of[symbol];
		names[NAME_FUNCTION] = s->name;
	}
	if (s && s->image != DICT_NONE)
		names[NAME_OBJECT] = c->p->images.at[s->image].name;
	for (unsigned int kind = 0; kind < NR_NAMES; kind++)
		if (write_callgrind_put_name(c, fields[kind], kind, symbol,
					     names[kind]))
			return -ENOMEM;
	return 0;
}

static void put_costs(struct callgrind *c, uint32_t line, const uint64_t *costs)
{
	fprintf(c->out, "%" PRIu32, line);
	for (size_t i = 0; i < c->nr_events; i++)
		fprintf(c->out, " %" PRIu64, costs[i]);
	putc_unlocked('\n', c->out);
}

/* Writes the name of an event, which must consist of letters, digits and underscores. */
static void write_callgrind_put_event(struct callgrind *c, size_t i)
{
	for (const char *name = profile_event_name(c->p, c->calls.events.at[i]); *name;
	     name++)
		putc_unlocked(isalnum((unsigned char)*name) ? *name : '_', c->out);
}

static void write_callgrind_put_head(struct callgrind *c, size_t app)
{
	fputs("# callgrind format\nversion: 1\ncreator: oprofile\ncmd: ", c->out);
	screen_write_masked(c->out, callgrind_app(c, app));
	fputs("\npositions: line\nevents:", c->out);
	for (size_t i = 0; i < c->nr_events; i++) {
		putc_unlocked(' ', c->out);
		write_callgrind_put_event(c, i);
	}
	fputs("\nsummary:", c->out);
	for (size_t i = 0; i < c->nr_events; i++)
		fprintf(c->out, " %" PRIu64, c->sums[i]);
	putc_unlocked('\n', c->out);
}

static int write_callgrind_compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int write_callgrind_compare_lines(const void *a, const void *b, void *ctx)
{
	const struct callgrind *c = ctx;
	const struct own_line *x = a, *y = b;
	int r;

	if (x->symbol != y->symbol)
		return write_callgrind_compare_numbers(x->symbol, y->symbol);
	r = strcmp(strtab_get(&c->p->strings, x->file),
		   strtab_get(&c->p->strings, y->file));
	return r ? r : write_callgrind_compare_numbers(x->line, y->line);
}

static int write_callgrind_compare_edges(const void *a, const void *b, void *ctx)
{
	const struct callgrind *c = ctx;
	const struct write_callgrind_edge *x = &c->edges.at[*(const uint32_t *)a];
	const struct write_callgrind_edge *y = &c->edges.at[*(const uint32_t *)b];

	return x->from != y->from ? write_callgrind_compare_numbers(x->from, y->from)
				  : write_callgrind_compare_numbers(x->to, y->to);
}

/* Writes lines that are in other files than the function, because they were inlined, after the
 * name of their file. */
static int write_callgrind_put_lines(struct callgrind *c, size_t *at, uint32_t symbol)
{
	uint32_t file = symbol == DICT_NONE ? c->unknown : c->file_of[symbol];

	for (; *at < c->lines.nr && c->lines.at[*at].symbol == symbol; ++*at) {
		const struct own_line *l = &c->lines.at[*at];

		if (l->file != file &&
		    write_callgrind_put_name(c, "fi", NAME_FILE, 0, l->file))
			return -ENOMEM;
		file = l->file;
		put_costs(c, l->line, &c->line_costs.at[l->number * c->nr_events]);
	}
	if (symbol != DICT_NONE && file != c->file_of[symbol])
		return write_callgrind_put_name(c, "fe", NAME_FILE, 0,
						c->file_of[symbol]);
	return 0;
}

static int write_callgrind_put_calls(struct callgrind *c, const uint32_t *order,
				     size_t *at, uint32_t symbol)
{
	static const char *const fields[] = { "cob", "cfi", "cfn" };

	for (; *at < c->edges.nr && c->edges.at[order[*at]].from == symbol; ++*at) {
		uint32_t to = c->edges.at[order[*at]].to;

		if (write_callgrind_put_function(c, fields, to))
			return -ENOMEM;
		/* The number of calls is unknown; samples show only that there was at least one. */
		fprintf(c->out, "calls=1 %" PRIu32 "\n", c->line_of[to]);
		put_costs(c, c->line_of[symbol],
			  &c->edge_costs.at[order[*at] * c->nr_events]);
	}
	return 0;
}

static int write_callgrind_put_functions(struct callgrind *c, const uint32_t *order)
{
	static const char *const fields[] = { "ob", "fl", "fn" };
	size_t line = 0, call = 0;

	while (line < c->lines.nr || call < c->edges.nr) {
		uint32_t of_line =
			line < c->lines.nr ? c->lines.at[line].symbol : DICT_NONE;
		uint32_t of_call =
			call < c->edges.nr ? c->edges.at[order[call]].from : DICT_NONE;
		uint32_t symbol = of_line < of_call ? of_line : of_call;

		putc_unlocked('\n', c->out);
		if (write_callgrind_put_function(c, fields, symbol) ||
		    write_callgrind_put_lines(c, &line, symbol) ||
		    write_callgrind_put_calls(c, order, &call, symbol))
			return -ENOMEM;
	}
	return 0;
}

int callgrind_write(struct callgrind *c, size_t app, FILE *out, struct err *err)
{
	uint32_t *order = NULL;
	int r;

	write_callgrind_forget(c);
	c->out = out;
	r = write_callgrind_sum_up(c, app);
	if (!r) {
		order = calloc(c->edges.nr + 1, sizeof(*order));
		r = order ? 0 : -ENOMEM;
	}
	if (!r) {
		for (uint32_t i = 0; i < c->edges.nr; i++)
			order[i] = i;
		qsort_r(order, c->edges.nr, sizeof(*order),
			write_callgrind_compare_edges, c);
		qsort_r(c->lines.at, c->lines.nr, sizeof(*c->lines.at),
			write_callgrind_compare_lines, c);
		write_callgrind_put_head(c, app);
		r = write_callgrind_put_functions(c, order);
	}
	free(order);
	return r ? err_set(err, r, "out of memory") : 0;
}
