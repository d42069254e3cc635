#include "present/call_table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile.h"
#include "base/pairs.h"
#include "present/percent.h"
#include "resolve/sort_keys.h"

/* While it is made.  `own` nodes are those of the profile with symbols for functions. */
struct making {
	struct call_table *t;
	struct profile *p;
	struct pairs symbol_by; /* (name, image): number, plus 1 */
	struct pairs line_by;   /* (symbol, line): likewise */
	struct pairs own_by;    /* (parent, symbol): likewise */
	VEC(struct call_place) own;
	uint32_t *symbol_of; /* by function; DICT_NONE: not asked yet */
	uint32_t *own_of;    /* by node of the profile */
	uint8_t *kept;       /* by own node */
	uint32_t *place_of;  /* by own node: where it is in t->nodes */
	uint32_t *who_of;    /* by tuple: position in t->whos */
	size_t stack_key;
	int line_key; /* -1: there is none */
	struct buf text;
};

static const char truncated[] = "[truncated]";

static uint32_t *numbers(size_t nr)
{
	uint32_t *all = malloc((nr + 1) * sizeof(*all));

	if (all)
		memset(all, 0xff, (nr + 1) * sizeof(*all));
	return all;
}

/* ---- symbols ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* "[image]", a string of the profile. */
static uint32_t image_in_brackets(struct making *m, uint32_t image)
{
	const char *name =
		base_name(strtab_get(&m->p->strings, m->p->images.at[image].name));

	buf_clear(&m->text);
	buf_put_u8(&m->text, '[');
	buf_put(&m->text, name, strlen(name));
	buf_put(&m->text, "]", sizeof("]"));
	return m->text.failed ? STRTAB_FAILED
			      : strtab_add(&m->p->strings, (const char *)m->text.data);
}

static uint32_t name_of(struct making *m, uint32_t function)
{
	const struct profile_function *f = &m->p->functions.at[function];

	if (f->kind != FUNCTION_NAMED && f->kind != FUNCTION_INLINED)
		return image_in_brackets(m, f->image);
	if (!profile_function_name(m->p, function))
		return STRTAB_FAILED;
	return m->p->functions.at[function].shown;
}

static uint32_t add_symbol(struct making *m, struct call_symbol s)
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

/* The same symbol at a line. */
static uint32_t add_line(struct making *m, uint32_t symbol, uint32_t line)
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

static uint32_t symbol_of(struct making *m, uint32_t function)
{
	uint32_t *known = &m->symbol_of[function];
	struct call_symbol s = { .function = function };

	if (*known == DICT_NONE) {
		s.image = m->p->functions.at[function].image;
		s.name = name_of(m, function);
		*known = add_symbol(m, s);
	}
	return *known;
}

static const char *line_text(const struct call_table *t, uint32_t symbol)
{
	uint32_t line = t->symbols.at[symbol].line;

	return line == DICT_NONE ? "" : strtab_get(&t->p->strings, line);
}

static int compare_symbols(const void *a, const void *b, void *ctx)
{
	const struct call_table *t = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int names = strcmp(call_symbol_name(t, x), call_symbol_name(t, y));

	if (names)
		return names;
	names = strcmp(call_symbol_image(t, x), call_symbol_image(t, y));
	if (!names)
		names = strcmp(line_text(t, x), line_text(t, y));
	return names ? names : x < y ? -1 : x > y;
}

static int rank_symbols(struct call_table *t)
{
	uint32_t *order = numbers(t->symbols.nr);

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->symbols.nr; i++)
		order[i] = i;
	qsort_r(order, t->symbols.nr, sizeof(*order), compare_symbols, t);
	for (uint32_t i = 0; i < t->symbols.nr; i++)
		t->symbols.at[order[i]].rank = i;
	free(order);
	return 0;
}

/* ---- nodes ---- */

static uint32_t own_node(struct making *m, uint32_t parent, uint32_t symbol)
{
	uint32_t *cell;
	bool is_new;

	if (parent == DICT_NONE || symbol == DICT_NONE)
		return DICT_NONE;
	cell = pairs_at(&m->own_by, parent, symbol, &is_new);
	if (!cell)
		return DICT_NONE;
	if (is_new) {
		if (!vec_push(&m->own, (struct call_place){ parent, symbol }))
			return DICT_NONE;
		*cell = (uint32_t)m->own.nr;
	}
	return *cell - 1;
}

static uint32_t node_for(struct making *m, uint32_t node)
{
	const struct call_node *from = &m->p->calls.nodes.at[node];

	if (node == CALL_ROOT)
		return 0;
	if (node != CALL_TRUNCATED)
		return own_node(m, m->own_of[from->caller],
				add_line(m, symbol_of(m, from->function),
					 call_tree_line(&m->p->calls, node)));
	return own_node(
		m, 0,
		add_symbol(m, (struct call_symbol){
				      .name = strtab_add(&m->p->strings, truncated),
				      .image = DICT_NONE,
				      .function = DICT_NONE }));
}

static int make_own(struct making *m)
{
	const struct call_tree *calls = &m->p->calls;

	m->own_of = numbers(calls->nodes.nr);
	m->symbol_of = numbers(m->p->functions.nr);
	if (!m->own_of || !m->symbol_of ||
	    !vec_push(&m->own, (struct call_place){ 0, DICT_NONE }))
		return -ENOMEM;
	for (uint32_t i = 0; i < calls->nodes.nr; i++) {
		m->own_of[i] = node_for(m, i);
		if (m->own_of[i] == DICT_NONE)
			return -ENOMEM;
	}
	return rank_symbols(m->t);
}

static uint32_t row_node(const struct making *m, const struct profile_row *row)
{
	uint64_t node = profile_value(m->p, row->group, m->stack_key);

	return node < m->p->calls.nodes.nr ? m->own_of[node] : 0;
}

/* Marks the nodes with enough of an event; sums[] has room for all nodes. */
static void keep_of_event(struct making *m, uint32_t event, double threshold,
			  uint64_t *sums)
{
	uint64_t all = m->p->events.at[event].samples;

	memset(sums, 0, m->own.nr * sizeof(*sums));
	for (size_t i = 0; i < m->p->rows.nr; i++)
		if (m->p->rows.at[i].event == event)
			sums[row_node(m, &m->p->rows.at[i])] +=
				m->p->rows.at[i].samples;
	for (size_t i = m->own.nr - 1; i; i--) {
		if (sums[i] && percent_of(sums[i], all) >= threshold)
			m->kept[i] = 1;
		sums[m->own.at[i].parent] += sums[i];
	}
}

static int choose_kept(struct making *m, double threshold)
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

/* The kept nodes but the root, those of a parent together and by name. */
static struct sort_key *sort_children(const struct making *m, size_t *ret_nr)
{
	struct sort_key *keys = malloc((m->own.nr + 1) * sizeof(*keys));
	size_t nr = 0;

	for (uint32_t i = 1; keys && i < m->own.nr; i++) {
		const struct call_place *n = &m->own.at[i];

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

/* Nodes in their final order: node by node its first child, or the next one of its parent. */
static int lay_out(struct making *m, const struct sort_key *children, size_t nr)
{
	uint32_t *next = numbers(m->own.nr); /* position in children[] */
	uint32_t at = 0;
	int r = -ENOMEM;

	m->place_of = numbers(m->own.nr);
	if (!next || !m->place_of ||
	    !vec_push(&m->t->nodes, (struct call_place){ 0, DICT_NONE }))
		goto out;
	for (size_t i = nr; i; i--)
		next[children[i - 1].at >> 32] = (uint32_t)i - 1;
	m->place_of[0] = 0;
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
		m->place_of[child] = (uint32_t)m->t->nodes.nr;
		if (!vec_push(&m->t->nodes,
			      (struct call_place){ m->place_of[at],
						   m->own.at[child].symbol }))
			goto out;
		at = child;
	}
	/* What is not kept is its caller's, which has a lower number. */
	for (uint32_t i = 1; i < m->own.nr; i++)
		if (!m->kept[i])
			m->place_of[i] = m->place_of[m->own.at[i].parent];
	r = 0;
out:
	free(next);
	return r;
}

static int make_nodes(struct making *m, double threshold)
{
	struct sort_key *children;
	size_t nr;
	int r = make_own(m);

	if (!r)
		r = choose_kept(m, threshold);
	if (r)
		return r;
	children = sort_children(m, &nr);
	if (!children)
		return -ENOMEM;
	r = lay_out(m, children, nr);
	free(children);
	return r;
}

/* ---- rows ---- */

/* A group's value of a key against another's. */
static int compare_values(struct profile *p, size_t key, uint32_t a, uint32_t b)
{
	uint64_t x = profile_value(p, a, key), y = profile_value(p, b, key);

	switch (p->options.keys->keys.at[key].row->kind) {
	case KEY_TEXT:
		return x == y ? 0
			      : strcmp(strtab_get(&p->strings, (uint32_t)x),
				       strtab_get(&p->strings, (uint32_t)y));
	case KEY_INTEGER:
		return (int64_t)x < (int64_t)y ? -1 : (int64_t)x > (int64_t)y;
	case KEY_HEX:
	case KEY_TIMES:
		break;
	}
	return x < y ? -1 : x > y;
}

static bool is_who(const struct profile *p, size_t key)
{
	return p->options.keys->keys.at[key].row->id != KEY_EVENT &&
	       p->key_slots[key].side == GROUP_WHO;
}

static int compare_whos(const void *a, const void *b, void *ctx)
{
	struct profile *p = ctx;
	int r = 0;

	for (size_t key = 0; !r && key < p->nr_keys; key++)
		if (is_who(p, key))
			r = compare_values(p, key, *(const uint32_t *)a,
					   *(const uint32_t *)b);
	return r;
}

static uint32_t tuple_of(const struct profile *p, uint32_t group)
{
	return p->groups.at[group].tuple[GROUP_WHO];
}

static int make_whos(struct making *m)
{
	struct profile *p = m->p;

	m->who_of = numbers(p->tuples[GROUP_WHO].nr);
	if (!m->who_of)
		return -ENOMEM;
	for (size_t i = 0; i < p->rows.nr; i++) {
		uint32_t group = p->rows.at[i].group;
		uint32_t *who = &m->who_of[tuple_of(p, group)];

		if (*who == DICT_NONE && !vec_push(&m->t->whos, group))
			return -ENOMEM;
		*who = 0;
	}
	qsort_r(m->t->whos.at, m->t->whos.nr, sizeof(*m->t->whos.at), compare_whos, p);
	for (uint32_t i = 0; i < m->t->whos.nr; i++)
		m->who_of[tuple_of(p, m->t->whos.at[i])] = i;
	return 0;
}

static int compare_events(const void *a, const void *b, void *ctx)
{
	const struct profile *p = ctx;
	uint32_t x = p->events.at[*(const uint32_t *)a].rank;
	uint32_t y = p->events.at[*(const uint32_t *)b].rank;

	return x < y ? -1 : x > y;
}

static int list_events(struct making *m)
{
	struct call_table *t = m->t;

	t->event_at = numbers(m->p->events.nr);
	if (!t->event_at)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->p->events.nr; i++)
		if (m->p->events.at[i].samples && !vec_push(&t->events, i))
			return -ENOMEM;
	qsort_r(t->events.at, t->events.nr, sizeof(*t->events.at), compare_events,
		m->p);
	for (uint32_t i = 0; i < t->events.nr; i++)
		t->event_at[t->events.at[i]] = i;
	return 0;
}

/* There is room for it. */
static void add_row(struct call_row *rows, size_t *nr, struct call_row row)
{
	struct call_row *last = *nr ? &rows[*nr - 1] : NULL;

	if (last && last->who == row.who && last->node == row.node &&
	    last->line == row.line && last->event == row.event) {
		last->samples += row.samples;
		last->period += row.period;
		return;
	}
	rows[(*nr)++] = row;
}

static struct call_row row_at(const struct making *m, uint32_t i)
{
	const struct profile_row *from = &m->p->rows.at[i];

	return (struct call_row){
		.who = m->who_of[tuple_of(m->p, from->group)],
		.node = m->place_of[row_node(m, from)],
		.event = m->t->event_at[from->event],
		.line = m->line_key < 0 ? 0
					: (uint32_t)profile_value(m->p, from->group,
								  (size_t)m->line_key),
		.samples = from->samples,
		.period = from->period,
	};
}

static uint64_t place_key(const struct making *m, uint32_t i)
{
	struct call_row row = row_at(m, i);

	return (uint64_t)row.who << 32 | row.node;
}

/* The profile's rows in the order of the table's.  0 or -ENOMEM. */
static int sort_rows(const struct making *m, struct sort_key **keys, size_t nr)
{
	int r;

	/* The sort is stable: the last one counts most. */
	if (m->line_key >= 0 || m->t->events.nr > 1) {
		for (size_t i = 0; i < nr; i++) {
			struct call_row row = row_at(m, (*keys)[i].index);

			(*keys)[i].at =
				(uint64_t)row.line * m->t->events.nr + row.event;
		}
		r = sort_keys(keys, nr);
		if (r)
			return r;
	}
	for (size_t i = 0; i < nr; i++)
		(*keys)[i].at = place_key(m, (*keys)[i].index);
	return sort_keys(keys, nr);
}

static int make_rows(struct making *m)
{
	const struct profile_row *rows = m->p->rows.at;
	struct sort_key *keys = malloc((m->p->rows.nr + 1) * sizeof(*keys));
	size_t nr = 0;
	int r = -ENOMEM;

	if (!keys || make_whos(m))
		goto out;
	for (uint32_t i = 0; i < m->p->rows.nr; i++)
		if (rows[i].samples || rows[i].period)
			keys[nr++].index = i;
	r = sort_rows(m, &keys, nr);
	m->t->rows = calloc(nr + 1, sizeof(*m->t->rows));
	if (!m->t->rows)
		r = -ENOMEM;
	for (size_t i = 0; !r && i < nr; i++)
		add_row(m->t->rows, &m->t->nr_rows, row_at(m, keys[i].index));
out:
	free(keys);
	return r;
}

int call_table_make(struct call_table *t, struct profile *p, double threshold)
{
	struct making m = { .t = t,
			    .p = p,
			    .stack_key = (size_t)keys_find(p->options.keys, KEY_STACK),
			    .line_key = keys_find(p->options.keys, KEY_LINE) };
	int r;

	t->p = p;
	r = list_events(&m);
	if (!r)
		r = make_nodes(&m, threshold);
	if (!r)
		r = make_rows(&m);
	pairs_done(&m.symbol_by);
	pairs_done(&m.line_by);
	pairs_done(&m.own_by);
	vec_done(&m.own);
	free(m.symbol_of);
	free(m.own_of);
	free(m.kept);
	free(m.place_of);
	free(m.who_of);
	buf_done(&m.text);
	return r;
}

void call_table_done(struct call_table *t)
{
	vec_done(&t->symbols);
	vec_done(&t->nodes);
	vec_done(&t->whos);
	free(t->rows);
	vec_done(&t->events);
	free(t->event_at);
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
		if (t->rows[i].event == event)
			sums[t->rows[i].node] += t->rows[i].samples;
	for (size_t i = t->nodes.nr; i-- > 1;)
		sums[t->nodes.at[i].parent] += sums[i];
	return sums;
}
