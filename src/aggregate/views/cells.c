/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/views/cells.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/groups.h"
#include "aggregate/views/cells_priv.h"
#include "aggregate/views/cells_rows.h"
#include "aggregate/views/quality.h"
#include "aggregate/views/source_lines.h"
#include "aggregate/views/view.h"
#include "base/saturate.h"

const struct actor cells_unknown_actor = { .app = DICT_NONE };
const struct position cells_nowhere = { .image = DICT_NONE, .function = DICT_NONE };

enum {
	/* Used as an image number: the kernel, regardless of its file. */
	APP_KERNEL = 0xfffffffe,
	AHEAD_CELLS = 16
};

/* The tuple of an application, valid for cells whose other values are the same. */
struct app_who {
	uint32_t generation;
	uint32_t who;
};

/* Cache entry: the tuple of a node, for the last position in `image`. */
struct node_where {
	uint32_t image;
	uint32_t where;
};

/* Caches the tuples of cells: adjacent cells often share one. */
struct numbers {
	struct cell_view last;
	uint32_t who;
	uint32_t generation;
	struct app_who *of_app; /* by image; valid only for the current `generation` */
	uint32_t *where_of;     /* by position; the last is for an unknown position */
	/* By node of the call tree; NULL: no cache by node. */
	struct node_where *of_node;
	struct source_lines *lines;
};

static uint32_t image_text(struct profile *p, struct view *v, uint32_t image)
{
	static const struct image damaged = { .kind = IMAGE_LOST };
	const struct dict *d = v->source.dict;
	uint32_t *text = &v->text_of[image < d->images.nr ? image : v->nr_texts];

	if (*text != VIEW_UNSET)
		return *text;
	buf_clear(&v->text);
	image_name_put(&v->text, d,
		       image < d->images.nr ? &d->images.at[image] : &damaged,
		       p->options.names, view_vmlinux(p, v));
	if (!v->text.failed)
		*text = strtab_add(&p->strings, (const char *)v->text.data);
	return *text; /* VIEW_UNSET equals STRTAB_FAILED */
}

/* Returns whether profile_options.separation makes an image an application. */
static bool is_own_app(const struct profile *p, const struct view *v, uint32_t image)
{
	const struct dict *d = v->source.dict;

	switch (p->options.separation) {
	case PROFILE_SEPARATE_NONE:
		return true;
	case PROFILE_SEPARATE_LIBRARY:
		return image < d->images.nr && image_is_kernel(&d->images.at[image]);
	case PROFILE_SEPARATE_KERNEL:
	default:
		return false;
	}
}

/* Returns the image that is the application.  If a process's main binary is unknown, it is shown
 * under the image that was hit. */
static uint32_t app_image(const struct profile *p, const struct view *v,
			  const struct cell_view *c)
{
	if (c->top || is_own_app(p, v, c->position->image))
		return c->position->image;
	if (c->actor->flags & ACTOR_KERNEL)
		return APP_KERNEL;
	return c->actor->app < v->source.dict->images.nr ? c->actor->app
							 : c->position->image;
}

static uint32_t app_text(struct profile *p, struct view *v, uint32_t app)
{
	if (app != APP_KERNEL)
		return image_text(p, v, app);
	return strtab_add(&p->strings,
			  image_name_kernel(p->options.names, view_vmlinux(p, v)));
}

static uint64_t cells_symbol_value(struct profile *p, uint32_t function)
{
	if (p->options.functions_apart)
		return function;
	if (!profile_function_name(p, function))
		return STRTAB_FAILED;
	return p->functions.at[function].shown;
}

static const char *origin_of(const struct dict *d, uint32_t image)
{
	static const struct image damaged = { .kind = IMAGE_LOST };

	return image_origin(image < d->images.nr ? &d->images.at[image] : &damaged);
}

static uint64_t key_value(struct profile *p, struct view *v, struct numbers *n,
			  const struct cell_view *c, const struct key *key)
{
	const struct dict *d = v->source.dict;

	switch (key->row->id) {
	case KEY_COMM:
		return strtab_add(&p->strings, dict_str(d, c->actor->comm));
	case KEY_PID:
		return (uint64_t)(int64_t)c->actor->pid;
	case KEY_TID:
		return (uint64_t)(int64_t)c->actor->tid;
	case KEY_CPU:
		return c->cpu == VIEW_CPU_NONE ? UINT64_MAX : c->cpu;
	case KEY_IMAGE:
		return image_text(p, v, c->position->image);
	case KEY_APP:
		return app_text(p, v, c->app);
	case KEY_SYMBOL:
		return cells_symbol_value(p, c->position->function);
	case KEY_ORIGIN:
		return strtab_add(&p->strings, origin_of(d, c->position->image));
	case KEY_ADDRESS:
		return c->position->address;
	case KEY_CGROUP:
		return strtab_add(&p->strings, dict_str(d, c->actor->cgroup));
	case KEY_SESSION:
		return strtab_add(&p->strings, v->source.session);
	case KEY_HOST:
		return strtab_add(&p->strings, v->source.info->hostname);
	case KEY_TIME:
		return c->bucket * key->width_ns;
	case KEY_STACK:
		return c->position->calls;
	case KEY_LINE:
	case KEY_FILE:
	case KEY_INLINE:
	case KEY_FUNCTION_LINE:
		return source_lines_value(n->lines, c->position, key->row->id);
	case KEY_EVENT: /* a value of the row, not of the group */
	case KEY_ID_COUNT:
	default:
		return 0;
	}
}

static bool function_wanted(struct profile *p, const struct view *v, uint32_t function)
{
	struct profile_function *f;

	/* OProfile does not show samples outside of all symbols of an image that has some. */
	if (v->weighted && p->options.functions_apart && function < p->functions.nr &&
	    p->functions.at[function].kind == FUNCTION_BETWEEN)
		return false;

	if (function >= p->functions.nr ||
	    !symbol_filter_filters(p->options.symbols, p->options.spec))
		return true;
	f = &p->functions.at[function];
	if (f->wanted == WANTED_UNKNOWN)
		f->wanted = symbol_filter_wants(p->options.symbols, p->options.spec,
						strtab_get(&p->strings, f->raw))
				    ? WANTED
				    : WANTED_NOT;
	return f->wanted == WANTED;
}

/* Returns whether a cell counts calls (EVENT_CALLS), not samples. */
static bool is_call_cell(const struct profile *p, const struct cell_view *c)
{
	return c->event < p->events.nr && p->events.at[c->event].flags & EVENT_CALLS;
}

/* Returns the function of the caller of a call; DICT_NONE if it is unknown. */
static uint32_t calling_function(const struct profile *p, const struct cell_view *c)
{
	uint32_t node = c->position->calls;

	if (node < CALL_FIRST || node >= p->calls.nodes.nr)
		return DICT_NONE;
	node = p->calls.nodes.at[node].caller;
	return node < p->calls.nodes.nr ? p->calls.nodes.at[node].function : DICT_NONE;
}

/* Returns 1 if the caller of a call is in the application itself, or dependent images are included,
 * 0 if not, or -ENOMEM. */
static int caller_wanted(struct profile *p, struct view *v, const struct cell_view *c)
{
	uint32_t function, app;

	if (!p->options.exclude_dependent || !is_call_cell(p, c))
		return 1;
	function = calling_function(p, c);
	if (function >= p->functions.nr)
		return 0;
	app = app_text(p, v, app_image(p, v, c));
	return app == STRTAB_FAILED
		       ? -ENOMEM
		       : p->images.at[p->functions.at[function].image].name == app;
}

/* Returns 1 if the image is the application itself or dependent images are included, 0 if not,
 * or -ENOMEM. */
static int app_wanted(struct profile *p, struct view *v, const struct cell_view *c)
{
	uint32_t app;
	uint32_t image;

	if (!p->options.exclude_dependent || is_call_cell(p, c))
		return 1;
	app = app_text(p, v, app_image(p, v, c));
	image = image_text(p, v, c->position->image);
	if (app == STRTAB_FAILED || image == STRTAB_FAILED)
		return -ENOMEM;
	return app == image;
}

int cells_image_wanted(struct profile *p, struct view *v, struct cell_view *c)
{
	uint32_t image = c->position->image;
	bool own = is_own_app(p, v, image);
	int wanted = selection_wants_image(&v->selection, own ? image : c->actor->app,
					   !own && c->actor->flags & ACTOR_KERNEL,
					   image, &c->top);

	return wanted <= 0 ? wanted : app_wanted(p, v, c);
}

int cells_wanted(struct profile *p, struct view *v, struct cell_view *c)
{
	int wanted = function_wanted(p, v, c->position->function)
			     ? cells_image_wanted(p, v, c)
			     : 0;

	return wanted <= 0 ? wanted : caller_wanted(p, v, c);
}

bool cells_all_wanted(const struct profile *p, const struct view *v)
{
	return !v->selection.images && !v->weighted && !p->options.exclude_dependent &&
	       !symbol_filter_filters(p->options.symbols, p->options.spec);
}

uint32_t cells_tuple(struct profile *p, struct view *v, struct numbers *n,
		     const struct cell_view *c, unsigned int side)
{
	uint64_t values[KEY_ID_COUNT] = { 0 };

	for (size_t k = 0; k < p->nr_keys; k++) {
		const struct key *key = &p->options.keys->keys.at[k];
		uint64_t *value = &values[p->key_slots[k].at];

		if (p->key_slots[k].side != side)
			continue;
		*value = key_value(p, v, n, c, key);
		if (key->row->kind == KEY_TEXT && *value == STRTAB_FAILED)
			return DICT_NONE;
	}
	if (side == GROUP_WHERE && p->has_nodes)
		values[p->node_slot] = c->position->calls;
	return groups_tuple(p, side, values);
}

static bool same_but_app(const struct cell_view *x, const struct cell_view *y)
{
	return x->actor == y->actor && x->cpu == y->cpu && x->bucket == y->bucket;
}

static uint32_t who_tuple(struct profile *p, struct view *v, struct numbers *n,
			  struct cell_view *c)
{
	struct app_who *known;

	if (p->options.merge_images)
		c->app = c->position->image;
	else
		c->app = p->needs & NEED_APP ? app_image(p, v, c) : 0;
	if (!same_but_app(c, &n->last))
		n->generation++;
	else if (c->app == n->last.app)
		return n->who;
	n->last = *c;
	known = c->app < v->nr_images ? &n->of_app[c->app] : NULL;
	n->who = known && known->generation == n->generation
			 ? known->who
			 : cells_tuple(p, v, n, c, GROUP_WHO);
	if (known)
		*known = (struct app_who){ n->generation, n->who };
	return n->who;
}

struct cell_view cells_look_at(const struct view *v, uint64_t a, uint64_t b)
{
	uint32_t actor = (uint32_t)(a >> 32);
	uint32_t position = (uint32_t)a;

	return (struct cell_view){
		.actor = actor < v->actors.nr ? &v->actors.at[actor]
					      : &cells_unknown_actor,
		.position = position < v->positions.nr ? &v->positions.at[position]
						       : &cells_nowhere,
		.event = v->event_of[b & VIEW_EVENT_NONE],
		.cpu = (uint32_t)(b >> VIEW_EVENT_BITS) & VIEW_CPU_NONE,
		.bucket = b >> (VIEW_EVENT_BITS + VIEW_CPU_BITS),
	};
}

static size_t cell_slot(const struct view *v, const struct tally_cell *cell)
{
	uint32_t position = (uint32_t)cell->a;

	return position < v->positions.nr ? position : v->positions.nr;
}

/* Stores the lowest and highest rate: the daemon lowers and raises its rate, and users can restart
 * it with another one. */
static void note_rate(struct profile_event *event, uint64_t hz)
{
	if (hz && (!event->least_hz || hz < event->least_hz))
		event->least_hz = hz;
	if (hz > event->most_hz)
		event->most_hz = hz;
}

/* Counts a selected cell and converts it to (who, position), event of the profile.  Returns 1 if
 * the cell is not selected. */
static int take_cell(struct profile *p, struct view *v, struct numbers *n,
		     struct tally_cell *cell)
{
	struct cell_view c = cells_look_at(v, cell->a, cell->b);
	struct profile_event *event = &p->events.at[c.event];
	uint32_t number = cell->b & VIEW_EVENT_NONE;
	size_t slot = cell_slot(v, cell);
	int wanted = cells_wanted(p, v, &c);
	uint32_t who;

	if (wanted <= 0)
		return wanted < 0 ? wanted : 1;
	who = who_tuple(p, v, n, &c);
	if (who == DICT_NONE)
		return -ENOMEM;
	n->where_of[slot] = WHERE_WANTED;
	cell->a = (uint64_t)who << 32 | slot;
	cell->b = c.event;
	if (event->flags & EVENT_CALLS)
		return 0;
	note_rate(event, v->source.dict->events.at[number].frequency_hz);
	event->samples = saturating_add(event->samples, cell->samples);
	event->period = saturating_add(event->period, cell->period);
	p->samples = saturating_add(p->samples, cell->samples);
	if (p->options.quality)
		quality_add(
			p, c.actor, c.position, c.event,
			profile_sums(p, c.event, cell->samples, cell->period).samples);
	return 0;
}

/* Prefetches the position of cell `i`, because the positions exceed CPU caches, and cells access
 * them in random order. */
static void cells_look_ahead(const struct view *v, size_t i)
{
	uint32_t position;

	if (i >= v->tally.nr_cells)
		return;
	position = (uint32_t)v->tally.cells[i].a;
	if (position < v->positions.nr)
		__builtin_prefetch(&v->positions.at[position]);
}

static int take_cells(struct profile *p, struct view *v, struct numbers *n)
{
	struct tally *t = &v->tally;
	size_t nr = 0;

	for (size_t i = 0; i < t->nr_cells; i++) {
		struct tally_cell *cell = &t->cells[i];
		int r;

		cells_look_ahead(v, i + AHEAD_CELLS);
		r = take_cell(p, v, n, cell);
		if (r < 0)
			return r;
		if (!r)
			t->cells[nr++] = *cell;
	}
	t->nr_cells = nr;
	return 0;
}

/* Returns true if node and image determine all values that the keys need of a position. */
static bool nodes_have_tuples(const struct profile *p)
{
	return p->has_nodes && p->needs & NEED_STACK &&
	       !(p->needs & (NEED_ADDRESS | NEED_LINES));
}

/* Returns the "where" tuple of a position. */
static uint32_t where_tuple(struct profile *p, struct view *v, struct numbers *n,
			    const struct cell_view *c)
{
	const struct position *position = c->position;
	struct node_where *known = NULL;

	if (n->of_node && position->calls >= CALL_FIRST &&
	    position->calls < p->calls.nodes.nr)
		known = &n->of_node[position->calls];
	if (known && known->where != DICT_NONE && known->image == position->image)
		return known->where;
	if (!known)
		return cells_tuple(p, v, n, c, GROUP_WHERE);
	known->image = position->image;
	known->where = cells_tuple(p, v, n, c, GROUP_WHERE);
	return known->where;
}

static int new_nodes(const struct profile *p, struct numbers *n)
{
	size_t bytes = (p->calls.nodes.nr + 1) * sizeof(*n->of_node);

	if (!nodes_have_tuples(p))
		return 0;
	n->of_node = malloc(bytes);
	if (!n->of_node)
		return -ENOMEM;
	memset(n->of_node, 0xff, bytes); /* DICT_NONE */
	return 0;
}

/* Numbers the tuples of positions in the order of positions, so that groups that are adjacent in a
 * report have adjacent numbers. */
static int number_position(struct profile *p, struct view *v, struct numbers *n,
			   size_t i)
{
	bool is_known = i < v->positions.nr;
	size_t at = is_known && v->order ? v->order[i] : i;
	struct cell_view c = { .actor = &cells_unknown_actor,
			       .position = is_known ? &v->positions.at[at]
						    : &cells_nowhere };

	if (view_needs_order(p) && is_known &&
	    (!i || c.position->image != n->lines->image) &&
	    source_lines_begin(n->lines, i, n->where_of))
		return -ENOMEM;
	if (n->where_of[at] == DICT_NONE)
		return 0;
	n->where_of[at] = where_tuple(p, v, n, &c);
	return n->where_of[at] == DICT_NONE ? -ENOMEM : 0;
}

static int number_positions(struct profile *p, struct view *v, struct numbers *n)
{
	int r = new_nodes(p, n);

	for (size_t i = 0; !r && i <= v->positions.nr; i++)
		r = number_position(p, v, n, i);
	free(n->of_node);
	n->of_node = NULL;
	return r;
}

/* Records the tuple of each function in a stack. */
static int note_functions(struct profile *p, const struct view *v,
			  const struct numbers *n)
{
	for (size_t i = v->function_positions; i < v->positions.nr; i++) {
		uint32_t function = v->positions.at[i].function;

		while (p->tuple_of_function.nr <= function)
			if (!vec_push(&p->tuple_of_function, DICT_NONE))
				return -ENOMEM;
		if (p->tuple_of_function.at[function] == DICT_NONE)
			p->tuple_of_function.at[function] = n->where_of[i];
	}
	return 0;
}

int cells_add_all(struct profile *p, struct view *v)
{
	size_t bytes = (v->positions.nr + 1) * sizeof(uint32_t);
	struct source_lines lines;
	struct numbers n = { .who = DICT_NONE, .lines = &lines };
	int r = -ENOMEM;

	source_lines_init(&lines, p, v);
	n.where_of = malloc(bytes);
	n.of_app = calloc(v->nr_images + 1, sizeof(*n.of_app));
	if (n.where_of && n.of_app) {
		memset(n.where_of, 0xff, bytes); /* DICT_NONE */
		r = p->options.timeline ? cells_timeline_take(p, v, n.where_of)
					: take_cells(p, v, &n);
		for (size_t i = v->function_positions; i < v->positions.nr; i++)
			n.where_of[i] = WHERE_WANTED;
		if (!r)
			r = number_positions(p, v, &n);
		if (!r)
			r = note_functions(p, v, &n);
		if (!r)
			r = p->options.timeline
				    ? cells_timeline_add(p, v, n.where_of)
				    : cells_rows_add(p, &v->tally, n.where_of);
	}
	source_lines_done(&lines);
	free(n.where_of);
	free(n.of_app);
	return r;
}
