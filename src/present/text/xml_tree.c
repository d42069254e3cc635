/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/text/xml_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/count/classes.h"
#include "aggregate/profile/profile.h"
#include "present/lines/options.h"

static int xml_tree_find_keys(struct xml_tree *t)
{
	const struct key_list *keys = t->p->options.keys;
	struct xml_keys *k = &t->keys;

	*k = (struct xml_keys){
		.app = keys_find(keys, KEY_APP),
		.image = keys_find(keys, KEY_IMAGE),
		.symbol = keys_find(keys, KEY_SYMBOL),
		.line = keys_find(keys, KEY_FUNCTION_LINE),
		.address = keys_find(keys, KEY_ADDRESS),
		.detail_line = keys_find(keys, KEY_LINE),
		.pid = keys_find(keys, KEY_PID),
		.tid = keys_find(keys, KEY_TID),
		.cpu = keys_find(keys, KEY_CPU),
	};
	t->threads = k->pid >= 0 || k->tid >= 0;
	return k->app < 0 || k->image < 0 || k->symbol < 0 ? -EINVAL : 0;
}

static uint64_t xml_tree_value_of(const struct xml_tree *t, uint32_t group, int key)
{
	return key < 0 ? 0 : profile_value(t->p, group, (size_t)key);
}

/* ---- symbols and classes from rows ---- */

/* Returns the number of the pair in `m`.  A new pair gets the next number, starting with 0.
 * MAP_NONE if memory is short. */
static uint32_t xml_tree_number_of(struct map *m, uint64_t a, uint64_t b, bool *ret_new)
{
	struct map_slot *slot = map_at(m, a, b, ret_new);

	if (!slot)
		return MAP_NONE;
	if (*ret_new)
		slot->value_plus_1 = (uint32_t)m->nr;
	return slot->value_plus_1 - 1;
}

static uint32_t symbol_of_group(struct xml_tree *t, uint32_t group)
{
	struct xml_symbol s = {
		.pid = (int64_t)xml_tree_value_of(t, group, t->keys.pid),
		.tid = (int64_t)xml_tree_value_of(t, group, t->keys.tid),
		.app = (uint32_t)xml_tree_value_of(t, group, t->keys.app),
		.image = (uint32_t)xml_tree_value_of(t, group, t->keys.image),
		.function = xml_tree_value_of(t, group, t->keys.symbol),
		.group = group,
	};
	bool is_new;
	uint32_t actor = xml_tree_number_of(&t->actor_by, (uint64_t)s.pid,
					    (uint64_t)s.tid, &is_new);

	if (actor == MAP_NONE)
		return MAP_NONE;
	s.counts = xml_tree_number_of(&t->symbol_by, (uint64_t)s.app << 32 | s.image,
				      s.function << 32 | actor, &is_new);
	if (s.counts == MAP_NONE || (is_new && !vec_push(&t->symbols, s)))
		return MAP_NONE;
	return s.counts;
}

/* Returns the first event that differs only in the unit mask, if unit masks are merged. */
static uint32_t main_event(const struct xml_tree *t, uint32_t event)
{
	const struct profile_event *events = t->p->events.at;

	for (uint32_t i = 0; !(t->kept & KEEP_UNIT_MASK) && i < event; i++)
		if (events[i].name == events[event].name &&
		    events[i].count == events[event].count)
			return i;
	return event;
}

static uint32_t class_of_row(struct xml_tree *t, const struct profile_row *row)
{
	struct xml_class class = { .event = main_event(t, row->event), .cpu = -1 };
	bool is_new;
	uint32_t number;

	if (t->keys.cpu >= 0)
		class.cpu = (int64_t)xml_tree_value_of(t, row->group, t->keys.cpu);
	number = xml_tree_number_of(&t->class_by, class.event, (uint64_t) class.cpu,
				    &is_new);
	if (number == MAP_NONE || (is_new && !vec_push(&t->classes, class)))
		return MAP_NONE;
	return number;
}

static int compare_classes(const void *x, const void *y, void *ctx)
{
	const struct xml_tree *t = ctx;
	const struct xml_class *a = x, *b = y;
	uint32_t rank_a = t->p->events.at[a->event].rank;
	uint32_t rank_b = t->p->events.at[b->event].rank;

	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	return rank_a < rank_b ? -1 : rank_a > rank_b;
}

/* Sorts the classes and updates the class numbers of the rows. */
static int sort_classes(struct xml_tree *t)
{
	size_t nr = t->classes.nr;
	uint32_t *to = calloc(nr + 1, sizeof(*to));

	if (!to)
		return -ENOMEM;
	if (nr)
		qsort_r(t->classes.at, nr, sizeof(*t->classes.at), compare_classes, t);
	for (uint32_t i = 0; i < nr; i++) {
		const struct xml_class *c = &t->classes.at[i];

		to[map_get(&t->class_by, c->event, (uint64_t)c->cpu)] = i;
	}
	for (size_t i = 0; i < t->p->rows.nr; i++)
		t->class_of[i] = to[t->class_of[i]];
	free(to);
	return 0;
}

static int xml_tree_take_rows(struct xml_tree *t)
{
	const struct profile *p = t->p;

	t->symbol_of = calloc(p->rows.nr + 1, sizeof(*t->symbol_of));
	t->class_of = calloc(p->rows.nr + 1, sizeof(*t->class_of));
	if (!t->symbol_of || !t->class_of)
		return -ENOMEM;
	for (size_t i = 0; i < p->rows.nr; i++) {
		const struct profile_row *row = &p->rows.at[i];

		t->symbol_of[i] = symbol_of_group(t, row->group);
		t->class_of[i] = class_of_row(t, row);
		if (t->symbol_of[i] == MAP_NONE || t->class_of[i] == MAP_NONE)
			return -ENOMEM;
	}
	return sort_classes(t);
}

static int xml_tree_take_counts(struct xml_tree *t)
{
	const struct profile *p = t->p;
	size_t nr = t->classes.nr;

	t->counts = calloc(t->symbols.nr * nr + 1, sizeof(*t->counts));
	t->totals = calloc(nr + 1, sizeof(*t->totals));
	if (!t->counts || !t->totals)
		return -ENOMEM;
	for (size_t i = 0; i < p->rows.nr; i++) {
		const struct profile_row *row = &p->rows.at[i];
		struct xml_detail d = { .symbol = t->symbol_of[i],
					.class = t->class_of[i],
					.group = row->group,
					.address = xml_tree_value_of(t, row->group,
								     t->keys.address),
					.samples = row->samples };

		t->counts[d.symbol * nr + d.class] += row->samples;
		t->totals[d.class] += row->samples;
		if (t->keys.address >= 0 && !vec_push(&t->details, d))
			return -ENOMEM;
	}
	return 0;
}

uint64_t xml_tree_samples(const struct xml_tree *t, const struct xml_symbol *s)
{
	uint64_t sum = 0;

	for (size_t c = 0; c < t->classes.nr; c++)
		sum += t->counts[s->counts * t->classes.nr + c];
	return sum;
}

/* ---- order ---- */

#define COMPARE(a, b)                                                                  \
	do {                                                                           \
		if ((a) != (b))                                                        \
			return (a) < (b) ? -1 : 1;                                     \
	} while (0)

static bool same_program(const struct xml_symbol *a, const struct xml_symbol *b)
{
	return a->pid == b->pid && a->app == b->app;
}

static bool same_thread(const struct xml_symbol *a, const struct xml_symbol *b)
{
	return same_program(a, b) && a->tid == b->tid;
}

/* Puts the program's own functions before its modules. */
static int compare_positions(const void *x, const void *y)
{
	const struct xml_symbol *a = x, *b = y;

	COMPARE(a->pid, b->pid);
	COMPARE(a->app, b->app);
	COMPARE(a->tid, b->tid);
	COMPARE(a->image != a->app, b->image != b->app);
	COMPARE(a->image, b->image);
	COMPARE(a->function, b->function);
	return 0;
}

static int compare_names(const struct xml_tree *t, const struct xml_symbol *a,
			 const struct xml_symbol *b, int key)
{
	return strcmp(profile_text(t->p, a->group, (size_t)key),
		      profile_text(t->p, b->group, (size_t)key));
}

static int xml_tree_compare_symbols(const void *x, const void *y, void *ctx)
{
	const struct xml_symbol *a = x, *b = y;
	const struct xml_tree *t = ctx;
	int r;

	COMPARE(b->of_program, a->of_program);
	COMPARE(a->pid, b->pid);
	COMPARE(a->app, b->app);
	COMPARE(b->of_thread, a->of_thread);
	COMPARE(a->tid, b->tid);
	COMPARE(a->image != a->app, b->image != b->app);
	r = a->image == b->image ? 0 : compare_names(t, a, b, t->keys.image);
	if (r)
		return r;
	COMPARE(a->image, b->image);
	COMPARE(xml_tree_samples(t, b), xml_tree_samples(t, a));
	r = compare_names(t, a, b, t->keys.symbol);
	return r ? r : compare_positions(x, y);
}

/* Stores the sum of each run of equal symbols in every symbol of the run. */
static void xml_tree_sum_up(struct xml_tree *t,
			    bool (*same)(const struct xml_symbol *,
					 const struct xml_symbol *),
			    size_t offset)
{
	struct xml_symbol *all = t->symbols.at;
	size_t end;

	for (size_t i = 0; i < t->symbols.nr; i = end) {
		uint64_t sum = 0;

		for (end = i; end < t->symbols.nr && same(&all[i], &all[end]); end++)
			sum += xml_tree_samples(t, &all[end]);
		for (size_t k = i; k < end; k++)
			memcpy((char *)&all[k] + offset, &sum, sizeof(sum));
	}
}

static int sort_symbols(struct xml_tree *t)
{
	size_t nr = t->symbols.nr;

	t->position_of = calloc(nr + 1, sizeof(*t->position_of));
	if (!t->position_of)
		return -ENOMEM;
	if (!nr)
		return 0;
	qsort(t->symbols.at, nr, sizeof(*t->symbols.at), compare_positions);
	xml_tree_sum_up(t, same_program, offsetof(struct xml_symbol, of_program));
	xml_tree_sum_up(t, same_thread, offsetof(struct xml_symbol, of_thread));
	qsort_r(t->symbols.at, nr, sizeof(*t->symbols.at), xml_tree_compare_symbols, t);
	for (uint32_t i = 0; i < nr; i++)
		t->position_of[t->symbols.at[i].counts] = i;
	return 0;
}

static int xml_tree_compare_details(const void *x, const void *y, void *ctx)
{
	const struct xml_detail *a = x, *b = y;
	const struct xml_tree *t = ctx;

	COMPARE(t->position_of[a->symbol], t->position_of[b->symbol]);
	COMPARE(a->address, b->address);
	COMPARE(a->class, b->class);
	return 0;
}

static void xml_tree_sort_details(struct xml_tree *t)
{
	if (t->details.nr)
		qsort_r(t->details.at, t->details.nr, sizeof(*t->details.at),
			xml_tree_compare_details, t);
	for (size_t i = 0; i < t->details.nr; i++) {
		struct xml_symbol *s =
			&t->symbols.at[t->position_of[t->details.at[i].symbol]];

		if (!s->nr_details++)
			s->first_detail = i;
	}
}

/* ---- calls ---- */

static uint32_t xml_tree_position(const struct xml_tree *t, uint32_t symbol)
{
	return symbol == UINT32_MAX ? UINT32_MAX : t->position_of[symbol];
}

static int compare_callers(const void *x, const void *y, void *ctx)
{
	const struct xml_arc *a = x, *b = y;
	const struct xml_tree *t = ctx;

	COMPARE(xml_tree_position(t, a->callee), xml_tree_position(t, b->callee));
	COMPARE(xml_tree_position(t, a->caller), xml_tree_position(t, b->caller));
	COMPARE(a->class, b->class);
	return 0;
}

static int compare_callees(const void *x, const void *y, void *ctx)
{
	const struct xml_tree *t = ctx;
	const struct xml_arc *a = &t->arcs.at[*(const uint32_t *)x];
	const struct xml_arc *b = &t->arcs.at[*(const uint32_t *)y];

	COMPARE(xml_tree_position(t, a->caller), xml_tree_position(t, b->caller));
	COMPARE(xml_tree_position(t, a->callee), xml_tree_position(t, b->callee));
	COMPARE(a->class, b->class);
	return 0;
}

static int take_arcs(struct xml_tree *t)
{
	const struct call_graph *g = &t->p->graph;

	for (size_t i = 0; i < g->arcs.nr; i++) {
		const struct call_arc *arc = &g->arcs.at[i];
		struct xml_arc a = { .caller = UINT32_MAX,
				     .callee = t->symbol_of[arc->callee],
				     .class = t->class_of[arc->callee],
				     .samples = arc->samples };

		if (arc->caller != CALL_BY_UNKNOWN)
			a.caller = t->symbol_of[arc->caller];
		if (!vec_push(&t->arcs, a))
			return -ENOMEM;
	}
	t->arcs_out = calloc(t->arcs.nr + 1, sizeof(*t->arcs_out));
	if (!t->arcs_out)
		return -ENOMEM;
	if (!t->arcs.nr)
		return 0;
	qsort_r(t->arcs.at, t->arcs.nr, sizeof(*t->arcs.at), compare_callers, t);
	for (uint32_t i = 0; i < t->arcs.nr; i++)
		t->arcs_out[i] = i;
	qsort_r(t->arcs_out, t->arcs.nr, sizeof(*t->arcs_out), compare_callees, t);
	return 0;
}

int xml_tree_make(struct xml_tree *t, struct profile *p,
		  const struct present_options *options)
{
	int r;

	*t = (struct xml_tree){ .p = p, .kept = options->kept };
	r = xml_tree_find_keys(t);
	if (!r)
		r = xml_tree_take_rows(t);
	if (!r)
		r = xml_tree_take_counts(t);
	if (!r)
		r = sort_symbols(t);
	if (!r)
		xml_tree_sort_details(t);
	return r ? r : take_arcs(t);
}

void xml_tree_done(struct xml_tree *t)
{
	map_done(&t->symbol_by);
	map_done(&t->actor_by);
	map_done(&t->class_by);
	vec_done(&t->classes);
	vec_done(&t->symbols);
	vec_done(&t->details);
	vec_done(&t->arcs);
	free(t->symbol_of);
	free(t->class_of);
	free(t->counts);
	free(t->totals);
	free(t->arcs_out);
	free(t->position_of);
	*t = (struct xml_tree){ 0 };
}
