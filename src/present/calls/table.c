/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/files/path.h"
#include "present/calls/table_priv.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "base/containers/sort_keys.h"
#include "present/lines/percent.h"

static const char truncated[] = "[truncated]";

/* ---- symbols ---- */

/* Returns "[image]" as a string of the profile. */
static uint32_t image_in_brackets(struct call_making *m, uint32_t image)
{
	const char *name =
		path_base(strtab_get(&m->p->strings, m->p->images.at[image].name));

	buf_clear(&m->text);
	buf_put_u8(&m->text, '[');
	buf_put(&m->text, name, strlen(name));
	buf_put(&m->text, "]", sizeof("]"));
	return m->text.failed ? STRTAB_FAILED
			      : strtab_add(&m->p->strings, (const char *)m->text.data);
}

static uint32_t call_table_name_of(struct call_making *m, uint32_t function)
{
	const struct profile_function *f = &m->p->functions.at[function];

	if (f->kind != FUNCTION_NAMED && f->kind != FUNCTION_INLINED)
		return image_in_brackets(m, f->image);
	if (!profile_function_name(m->p, function))
		return STRTAB_FAILED;
	return m->p->functions.at[function].shown;
}

static uint32_t call_table_add_symbol(struct call_making *m, struct call_symbol s)
{
	uint32_t *cell;
	bool is_new;

	if (s.name == STRTAB_FAILED)
		return DICT_NONE;
	cell = pairs_at(&m->symbol_by, s.name, s.image, &is_new);
	if (!cell)
		return DICT_NONE;
	if (is_new) {
		s.line = DICT_NONE;
		s.whole = (uint32_t)m->t->symbols.nr;
		if (!vec_push(&m->t->symbols, s))
			return DICT_NONE;
		*cell = (uint32_t)m->t->symbols.nr;
	}
	return *cell - 1;
}

/* Returns the symbol for a line of `symbol`. */
static uint32_t call_table_add_line(struct call_making *m, uint32_t symbol,
				    uint32_t line)
{
	struct call_symbol s;
	uint32_t *cell;
	bool is_new;

	if (symbol == DICT_NONE || line == DICT_NONE)
		return symbol;
	cell = pairs_at(&m->line_by, symbol, line, &is_new);
	if (!cell)
		return DICT_NONE;
	if (is_new) {
		s = m->t->symbols.at[symbol];
		s.line = line;
		if (!vec_push(&m->t->symbols, s))
			return DICT_NONE;
		*cell = (uint32_t)m->t->symbols.nr;
	}
	return *cell - 1;
}

static uint32_t symbol_of(struct call_making *m, uint32_t function)
{
	uint32_t *known = &m->symbol_of[function];
	struct call_symbol s = { .function = function };

	if (*known == DICT_NONE) {
		s.image = m->p->functions.at[function].image;
		s.name = call_table_name_of(m, function);
		*known = call_table_add_symbol(m, s);
	}
	return *known;
}

static const char *call_table_line_text(const struct call_table *t, uint32_t symbol)
{
	uint32_t line = t->symbols.at[symbol].line;

	return line == DICT_NONE ? "" : strtab_get(&t->p->strings, line);
}

static int call_table_compare_symbols(const void *a, const void *b, void *ctx)
{
	const struct call_table *t = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int names = strcmp(call_symbol_name(t, x), call_symbol_name(t, y));

	if (names)
		return names;
	names = strcmp(call_symbol_image(t, x), call_symbol_image(t, y));
	if (!names)
		names = strcmp(call_table_line_text(t, x), call_table_line_text(t, y));
	return names ? names : x < y ? -1 : x > y;
}

static int rank_symbols(struct call_table *t)
{
	uint32_t *order = call_numbers(t->symbols.nr);

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->symbols.nr; i++)
		order[i] = i;
	qsort_r(order, t->symbols.nr, sizeof(*order), call_table_compare_symbols, t);
	for (uint32_t i = 0; i < t->symbols.nr; i++)
		t->symbols.at[order[i]].rank = i;
	free(order);
	return 0;
}

/* ---- nodes ---- */

static uint32_t own_node(struct call_making *m, uint32_t parent, uint32_t symbol)
{
	uint32_t *cell;
	bool is_new;

	if (parent == DICT_NONE || symbol == DICT_NONE)
		return DICT_NONE;
	cell = pairs_at(&m->own_by, parent, symbol, &is_new);
	if (!cell)
		return DICT_NONE;
	if (is_new) {
		if (!vec_push(&m->own, (struct call_tree_node){ parent, symbol }))
			return DICT_NONE;
		*cell = (uint32_t)m->own.nr;
	}
	return *cell - 1;
}

static uint32_t node_for(struct call_making *m, uint32_t node)
{
	const struct call_node *from = &m->p->calls.nodes.at[node];

	if (node == CALL_ROOT)
		return 0;
	if (node != CALL_TRUNCATED)
		return own_node(
			m, m->own_of[from->caller],
			call_table_add_line(m, symbol_of(m, from->function),
					    call_tree_line(&m->p->calls, node)));
	return own_node(
		m, 0,
		call_table_add_symbol(
			m, (struct call_symbol){
				   .name = strtab_add(&m->p->strings, truncated),
				   .image = DICT_NONE,
				   .function = DICT_NONE }));
}

static int make_own(struct call_making *m)
{
	const struct call_tree *calls = &m->p->calls;

	m->own_of = call_numbers(calls->nodes.nr);
	m->symbol_of = call_numbers(m->p->functions.nr);
	if (!m->own_of || !m->symbol_of ||
	    !vec_push(&m->own, (struct call_tree_node){ 0, DICT_NONE }))
		return -ENOMEM;
	for (uint32_t i = 0; i < calls->nodes.nr; i++) {
		m->own_of[i] = node_for(m, i);
		if (m->own_of[i] == DICT_NONE)
			return -ENOMEM;
	}
	return rank_symbols(m->t);
}

/* Looks up the node of each tuple once in `own`, because many rows share a tuple. */
static int find_tuple_nodes(struct call_making *m)
{
	const struct tuples *t = &m->p->tuples[GROUP_WHERE];
	size_t at = m->p->key_slots[m->stack_key].at;

	m->own_of_tuple = call_numbers(t->nr);
	if (!m->own_of_tuple)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr; i++) {
		uint64_t node = t->values.at[i * t->width + at];

		m->own_of_tuple[i] = node < m->p->calls.nodes.nr ? m->own_of[node] : 0;
	}
	return 0;
}

static void sum_rows(const struct call_making *m, uint32_t event, uint64_t *sums)
{
	const struct profile_row *rows = m->p->rows.at;

	for (size_t i = 0; i < m->p->rows.nr; i++)
		if (rows[i].event == event)
			sums[call_row_node(m, &rows[i])] += rows[i].samples;
}

static void sum_spans(const struct call_making *m, uint32_t event, uint64_t *sums)
{
	const struct timeline *t = &m->p->timeline;

	for (size_t i = 0; i < t->spans.nr; i++) {
		uint32_t at = t->spans.at[i].at, end = timeline_span_end(t, i);
		uint32_t samples, where;

		while (t->tracks.at[t->spans.at[i].track].what == event && at < end) {
			where = timeline_next(t, &at, &samples);
			sums[m->own_of_tuple[where]] += samples;
		}
	}
}

/* Marks the nodes that reach the threshold in an event.  sums[] has an element for each node. */
static void keep_of_event(struct call_making *m, uint32_t event, double threshold,
			  uint64_t *sums)
{
	uint64_t all = m->p->events.at[event].samples;

	memset(sums, 0, m->own.nr * sizeof(*sums));
	if (m->p->options.timeline)
		sum_spans(m, event, sums);
	else
		sum_rows(m, event, sums);
	for (size_t i = m->own.nr - 1; i; i--) {
		if (sums[i] && percent_of(sums[i], all) >= threshold)
			m->kept[i] = 1;
		sums[m->own.at[i].parent] += sums[i];
	}
}

static int choose_kept(struct call_making *m, double threshold)
{
	uint64_t *sums = calloc(m->own.nr, sizeof(*sums));

	m->kept = calloc(m->own.nr, 1);
	if (!sums || !m->kept) {
		free(sums);
		return -ENOMEM;
	}
	for (size_t i = 0; i < m->t->events.nr; i++)
		keep_of_event(m, m->t->events.at[i], threshold, sums);
	m->kept[0] = 1;
	free(sums);
	return 0;
}

/* Returns the kept nodes except the root, grouped by parent and sorted by name. */
static struct sort_key *sort_children(const struct call_making *m, size_t *ret_nr)
{
	struct sort_key *keys = malloc((m->own.nr + 1) * sizeof(*keys));
	size_t nr = 0;

	for (uint32_t i = 1; keys && i < m->own.nr; i++) {
		const struct call_tree_node *n = &m->own.at[i];

		if (m->kept[i])
			keys[nr++] = (struct sort_key){
				(uint64_t)n->parent << 32 |
					m->t->symbols.at[n->symbol].rank,
				i
			};
	}
	*ret_nr = nr;
	if (!keys || !sort_keys(&keys, nr))
		return keys;
	free(keys);
	return NULL;
}

/* Puts the nodes into their final order: after each node its first child, or else its parent's
 * next child. */
static int call_table_lay_out(struct call_making *m, const struct sort_key *children,
			      size_t nr)
{
	uint32_t *next = call_numbers(m->own.nr); /* index in children[] */
	uint32_t at = 0;
	int r = -ENOMEM;

	m->position_of = call_numbers(m->own.nr);
	if (!next || !m->position_of ||
	    !vec_push(&m->t->nodes, (struct call_tree_node){ 0, DICT_NONE }))
		goto out;
	for (size_t i = nr; i; i--)
		next[children[i - 1].at >> 32] = (uint32_t)i - 1;
	m->position_of[0] = 0;
	for (;;) {
		uint32_t i = next[at], child;

		if (i >= nr || children[i].at >> 32 != at) {
			if (!at)
				break;
			at = m->own.at[at].parent;
			continue;
		}
		next[at]++;
		child = children[i].index;
		m->position_of[child] = (uint32_t)m->t->nodes.nr;
		if (!vec_push(&m->t->nodes,
			      (struct call_tree_node){ m->position_of[at],
						       m->own.at[child].symbol }))
			goto out;
		at = child;
	}
	/* A dropped node is merged into its caller, which has a lower number. */
	for (uint32_t i = 1; i < m->own.nr; i++)
		if (!m->kept[i])
			m->position_of[i] = m->position_of[m->own.at[i].parent];
	r = 0;
out:
	free(next);
	return r;
}

static int call_table_make_nodes(struct call_making *m, double threshold)
{
	struct sort_key *children;
	size_t nr;
	int r = make_own(m);

	if (!r)
		r = find_tuple_nodes(m);
	if (!r)
		r = choose_kept(m, threshold);
	if (r)
		return r;
	children = sort_children(m, &nr);
	if (!children)
		return -ENOMEM;
	r = call_table_lay_out(m, children, nr);
	free(children);
	return r;
}

int call_table_make(struct call_table *t, struct profile *p, double threshold)
{
	struct call_making m = { .t = t,
				 .p = p,
				 .stack_key =
					 (size_t)keys_find(p->options.keys, KEY_STACK),
				 .line_key = keys_find(p->options.keys, KEY_LINE) };
	int r;

	t->p = p;
	r = call_table_list_events(&m);
	if (!r)
		r = call_table_make_nodes(&m, threshold);
	if (!r)
		r = call_table_make_rows(&m);
	pairs_done(&m.symbol_by);
	pairs_done(&m.line_by);
	pairs_done(&m.own_by);
	vec_done(&m.own);
	free(m.symbol_of);
	free(m.own_of);
	free(m.own_of_tuple);
	free(m.kept);
	free(m.position_of);
	free(m.who_of);
	vec_done(&m.keys);
	vec_done(&m.room);
	buf_done(&m.text);
	return r;
}

void call_table_done(struct call_table *t)
{
	vec_done(&t->symbols);
	vec_done(&t->nodes);
	vec_done(&t->whos);
	free(t->rows);
	free(t->order);
	vec_done(&t->events);
	free(t->event_at);
	free(t->node_of);
	free(t->who_of);
	*t = (struct call_table){ 0 };
}

const char *call_symbol_name(const struct call_table *t, uint32_t symbol)
{
	return strtab_get(&t->p->strings, t->symbols.at[symbol].name);
}

const char *call_symbol_image(const struct call_table *t, uint32_t symbol)
{
	uint32_t image = t->symbols.at[symbol].image;

	return image < t->p->images.nr
		       ? strtab_get(&t->p->strings, t->p->images.at[image].name)
		       : "";
}

bool call_symbol_in_kernel(const struct call_table *t, uint32_t symbol)
{
	uint32_t image = t->symbols.at[symbol].image;

	if (image >= t->p->images.nr)
		return false;
	return t->p->images.at[image].kind == IMAGE_KERNEL ||
	       t->p->images.at[image].kind == IMAGE_MODULE ||
	       t->p->images.at[image].kind == IMAGE_BPF ||
	       t->p->images.at[image].kind == IMAGE_GUEST_KERNEL ||
	       t->p->images.at[image].kind == IMAGE_KERNEL_UNMAPPED;
}

uint64_t *call_table_inclusive(const struct call_table *t, uint32_t event)
{
	uint64_t *sums = calloc(t->nodes.nr + 1, sizeof(*sums));

	if (!sums)
		return NULL;
	for (size_t i = 0; i < t->nr_rows; i++)
		if (call_row_at(t, i)->event == event)
			sums[call_row_at(t, i)->node] += call_row_at(t, i)->samples;
	for (size_t i = t->nodes.nr; i-- > 1;)
		sums[t->nodes.at[i].parent] += sums[i];
	return sums;
}
