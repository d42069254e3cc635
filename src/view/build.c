/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "base/containers/sort_keys.h"
#include "compare/names.h"

const char view_build_keys[] = "time:1ms,pid,tid,comm,cpu,cgroup,stack";

/* Writes the spans of a side. Remembers the track and bin of the last one. */
struct view_writer {
	struct view_build *b;
	uint32_t side;
	uint32_t last_track, last_bin;
};

/* ---- functions ---- */

static bool view_build_is_kernel(const struct profile_image *image)
{
	return image->kind == IMAGE_KERNEL || image->kind == IMAGE_MODULE ||
	       image->kind == IMAGE_BPF || image->kind == IMAGE_GUEST_KERNEL ||
	       image->kind == IMAGE_KERNEL_UNMAPPED;
}

static enum view_kind view_build_kind(const struct profile *p, uint32_t function)
{
	const struct profile_function *f = &p->functions.at[function];

	if (f->kind == FUNCTION_INLINED)
		return VIEW_INLINED;
	return view_build_is_kernel(&p->images.at[f->image]) ? VIEW_KERNEL : VIEW_USER;
}

/* Finds or adds the function with this name in an image (a string). Returns VIEW_NONE if memory is
 * short. */
static uint32_t view_build_add_function(struct view_build *b, const char *name,
					uint32_t image, enum view_kind kind)
{
	struct view_data *to = b->to;
	/* In a comparison, ignore suffixes that compilers append: they change between builds. */
	size_t len = b->nr_sides > 1 ? name_stable_len(name) : strlen(name);
	uint32_t stable = strtab_add_len(&to->strings, name, len);
	struct view_function f = { .name = strtab_add(&to->strings, name),
				   .short_name = VIEW_NONE,
				   .image = image,
				   .kind = kind };
	struct map_slot *slot;
	bool is_new;

	if (stable == STRTAB_FAILED || f.name == STRTAB_FAILED)
		return VIEW_NONE;
	slot = map_at(&b->function_by, stable, image, &is_new);
	if (!slot)
		return VIEW_NONE;
	if (is_new) {
		if (!vec_push(&to->functions, f))
			return VIEW_NONE;
		slot->value_plus_1 = (uint32_t)to->functions.nr;
	}
	return slot->value_plus_1 - 1;
}

/* Returns the function of the model for a function of the profile, or VIEW_NONE. */
static uint32_t view_build_function(struct view_build *b, size_t side,
				    uint32_t function)
{
	struct profile *p = b->profiles[side];
	uint32_t *known = &b->function_of[side][function];
	const char *name;

	if (*known != VIEW_NONE)
		return *known;
	name = profile_function_name(p, function);
	if (name)
		*known = view_build_add_function(
			b, name, b->image_of[side][p->functions.at[function].image],
			view_build_kind(p, function));
	return *known;
}

/* ---- call tree ---- */

static uint32_t *view_build_numbers(size_t nr)
{
	uint32_t *numbers = malloc((nr + 1) * sizeof(*numbers));

	if (numbers)
		memset(numbers, 0xff, (nr + 1) * sizeof(*numbers)); /* VIEW_NONE */
	return numbers;
}

/* Adds a node for unknown code, as a function with this name. */
static uint32_t view_build_pseudo(struct view_build *b, const char *name)
{
	uint32_t function = view_build_add_function(b, name, VIEW_NONE, VIEW_UNKNOWN);

	return function == VIEW_NONE ? VIEW_NONE
				     : call_tree_node(&b->tree, CALL_ROOT, function);
}

/* Returns the node that is the caller of the functions below a root of the profile. */
static uint32_t view_build_root(struct view_build *b, uint32_t root)
{
	if (root == CALL_ROOT)
		return CALL_ROOT;
	if (b->truncated == VIEW_NONE)
		b->truncated = view_build_pseudo(b, "[truncated]");
	return b->truncated;
}

/* Returns the node for samples at a root of the profile. */
static uint32_t view_build_at_root(struct view_build *b, uint32_t root)
{
	if (root == CALL_TRUNCATED)
		return view_build_root(b, root);
	if (b->unknown == VIEW_NONE)
		b->unknown = view_build_pseudo(b, "[unknown]");
	return b->unknown;
}

/* Adds the call tree of a side; callers have lower numbers than their callees. */
static int view_build_add_tree(struct view_build *b, size_t side)
{
	const struct call_tree *from = &b->profiles[side]->calls;

	b->node_of[side] = view_build_numbers(from->nodes.nr);
	b->function_of[side] = view_build_numbers(b->profiles[side]->functions.nr);
	if (!b->node_of[side] || !b->function_of[side])
		return -ENOMEM;
	for (uint32_t i = CALL_FIRST; i < from->nodes.nr; i++) {
		const struct call_node *n = &from->nodes.at[i];
		uint32_t function = view_build_function(b, side, n->function);
		uint32_t caller = n->caller < CALL_FIRST ? view_build_root(b, n->caller)
							 : b->node_of[side][n->caller];

		if (function == VIEW_NONE || caller == VIEW_NONE)
			return -ENOMEM;
		b->node_of[side][i] = call_tree_node(&b->tree, caller, function);
		if (b->node_of[side][i] == VIEW_NONE)
			return -ENOMEM;
	}
	return 0;
}

static int view_build_compare_names(const void *va, const void *vb, void *ctx)
{
	const struct view_data *d = ctx;
	const struct view_function *a = &d->functions.at[*(const uint32_t *)va];
	const struct view_function *b = &d->functions.at[*(const uint32_t *)vb];
	int r = strcmp(view_text(d, a->name), view_text(d, b->name));

	return r ? r : strcmp(view_text(d, a->image), view_text(d, b->image));
}

/* Sorts the functions by name and image, and renumbers them in the tree.  Returns 0 or -ENOMEM. */
static int view_build_sort_functions(struct view_build *b)
{
	struct view_data *d = b->to;
	size_t nr = d->functions.nr;
	uint32_t *order = view_build_numbers(nr);
	uint32_t *ranks = view_build_numbers(nr);
	struct view_function *sorted = calloc(nr + 1, sizeof(*sorted));
	int r = order && ranks && sorted ? 0 : -ENOMEM;

	for (uint32_t i = 0; !r && i < nr; i++)
		order[i] = i;
	if (!r)
		qsort_r(order, nr, sizeof(*order), view_build_compare_names, d);
	for (uint32_t i = 0; !r && i < nr; i++) {
		ranks[order[i]] = i;
		sorted[i] = d->functions.at[order[i]];
	}
	if (!r && nr)
		memcpy(d->functions.at, sorted, nr * sizeof(*sorted));
	for (uint32_t i = CALL_FIRST; !r && i < b->tree.nodes.nr; i++)
		b->tree.nodes.at[i].function = ranks[b->tree.nodes.at[i].function];
	free(order);
	free(ranks);
	free(sorted);
	return r;
}

/* Sorts the nodes of the tree by caller and name; *ret_keys is malloc'd. */
static int view_build_sort_nodes(struct view_build *b, struct sort_key **ret_keys)
{
	size_t nr = b->tree.nodes.nr;
	struct sort_key *keys = calloc(nr + 1, sizeof(*keys));
	int r = keys ? 0 : -ENOMEM;

	for (uint32_t i = CALL_FIRST; !r && i < nr; i++) {
		const struct call_node *n = &b->tree.nodes.at[i];

		keys[i - CALL_FIRST] =
			(struct sort_key){ (uint64_t)n->caller << 32 | n->function, i };
	}
	if (!r)
		r = sort_keys(&keys, nr > CALL_FIRST ? nr - CALL_FIRST : 0);
	if (r)
		free(keys);
	else
		*ret_keys = keys;
	return r;
}

/* Appends all nodes to the model in preorder. first[node] is the index in `keys` of its first
 * callee. */
static int view_build_walk(struct view_build *b, const struct sort_key *keys,
			   const uint32_t *first)
{
	struct view_data *to = b->to;
	size_t nr = b->tree.nodes.nr - CALL_FIRST;
	VEC(uint32_t) path = { 0 }; /* indices in `keys` of the next callee */
	bool ok = vec_push(&path, first[CALL_ROOT]);

	while (ok && path.nr) {
		uint32_t at = path.at[path.nr - 1], node;
		uint32_t caller =
			path.nr > 1 ? keys[path.at[path.nr - 2] - 1].index : CALL_ROOT;

		if (at >= nr || keys[at].at >> 32 != caller) {
			path.nr--;
			continue;
		}
		node = keys[at].index;
		path.at[path.nr - 1]++;
		b->place_of[node] = (uint32_t)to->nodes.nr;
		ok = vec_push(&to->nodes,
			      ((struct view_node){
				      .caller = caller == CALL_ROOT
							? VIEW_NONE
							: b->place_of[caller],
				      .function = b->tree.nodes.at[node].function })) &&
		     vec_push(&path, first[node]);
	}
	vec_done(&path);
	return ok ? 0 : -ENOMEM;
}

static void view_build_ends(struct view_data *d)
{
	for (uint32_t i = 0; i < d->nodes.nr; i++)
		d->nodes.at[i].end = i + 1;
	for (uint32_t i = (uint32_t)d->nodes.nr; i-- > 0;) {
		uint32_t caller = d->nodes.at[i].caller;

		if (caller == VIEW_NONE)
			continue;
		d->has_stacks = true;
		if (d->nodes.at[caller].end < d->nodes.at[i].end)
			d->nodes.at[caller].end = d->nodes.at[i].end;
	}
}

/* Copies the tree in preorder; siblings are sorted by name. */
static int view_build_order(struct view_build *b)
{
	size_t nr = b->tree.nodes.nr;
	struct sort_key *keys = NULL;
	uint32_t *first = view_build_numbers(nr);
	int r;

	b->place_of = view_build_numbers(nr);
	r = first && b->place_of && vec_reserve(&b->to->nodes, nr)
		    ? view_build_sort_functions(b)
		    : -ENOMEM;
	if (!r)
		r = view_build_sort_nodes(b, &keys);
	for (uint32_t i = 0; !r && i + CALL_FIRST < nr; i++) {
		uint32_t caller = (uint32_t)(keys[i].at >> 32);

		if (first[caller] == VIEW_NONE)
			first[caller] = i;
	}
	if (!r && nr > CALL_FIRST)
		r = view_build_walk(b, keys, first);
	free(first);
	free(keys);
	view_build_ends(b->to);
	return r;
}

/* ---- tracks ---- */

static uint32_t view_build_text(struct view_build *b, struct profile *p, uint32_t group,
				size_t key)
{
	return strtab_add(&b->to->strings, profile_text(p, group, key));
}

static uint32_t view_build_thread(struct view_build *b, struct profile *p,
				  uint32_t group)
{
	struct view_thread t = {
		.pid = (int32_t)profile_value(p, group, VIEW_KEY_PID),
		.tid = (int32_t)profile_value(p, group, VIEW_KEY_TID),
		.comm = view_build_text(b, p, group, VIEW_KEY_COMM),
		.cgroup = view_build_text(b, p, group, VIEW_KEY_CGROUP),
	};
	struct map_slot *slot;
	bool is_new;

	if (t.comm == STRTAB_FAILED || t.cgroup == STRTAB_FAILED)
		return VIEW_NONE;
	slot = map_at(&b->thread_by, (uint64_t)(uint32_t)t.pid << 32 | (uint32_t)t.tid,
		      (uint64_t)t.comm << 32 | t.cgroup, &is_new);
	if (!slot)
		return VIEW_NONE;
	if (is_new) {
		b->to->has_cgroups |= *view_text(b->to, t.cgroup) != '\0';
		if (!vec_push(&b->to->threads, t))
			return VIEW_NONE;
		slot->value_plus_1 = (uint32_t)b->to->threads.nr;
	}
	return slot->value_plus_1 - 1;
}

static bool view_build_add_cpu(struct view_data *d, int32_t cpu)
{
	size_t at = 0;

	if (cpu < 0)
		return true;
	while (at < d->cpus.nr && d->cpus.at[at] < cpu)
		at++;
	if (at < d->cpus.nr && d->cpus.at[at] == cpu)
		return true;
	if (!vec_grow(&d->cpus))
		return false;
	memmove(&d->cpus.at[at + 1], &d->cpus.at[at],
		(d->cpus.nr++ - at) * sizeof(*d->cpus.at));
	d->cpus.at[at] = cpu;
	return true;
}

/* Finds or adds the event of the model that has the name of an event of the profile. */
static uint32_t view_build_event(struct view_build *b, const struct profile *p,
				 uint32_t event)
{
	struct view_data *to = b->to;
	struct view_event e = {
		.name = strtab_add(&to->strings, profile_event_name(p, event)),
		.hz = profile_event_hz(&p->events.at[event]),
		.has_values = profile_event_has_values(p, event),
	};

	for (uint32_t i = 0; i < to->events.nr; i++)
		if (to->events.at[i].name == e.name)
			return i;
	if (e.name == STRTAB_FAILED || !vec_push(&to->events, e))
		return VIEW_NONE;
	return (uint32_t)to->events.nr - 1;
}

/* Finds or adds the track for a group and event of the profile. */
static uint32_t view_build_track(struct view_writer *w, uint32_t group, uint32_t event)
{
	struct view_build *b = w->b;
	struct profile *p = b->profiles[w->side];
	struct view_track t = {
		.thread = view_build_thread(b, p, group),
		.cpu = (int32_t)profile_value(p, group, VIEW_KEY_CPU),
		.event = view_build_event(b, p, event),
		.side = w->side,
	};
	struct map_slot *slot;
	bool is_new;

	if (t.thread == VIEW_NONE || t.event == VIEW_NONE ||
	    !view_build_add_cpu(b->to, t.cpu))
		return VIEW_NONE;
	slot = map_at(&b->track_by, (uint64_t)t.thread << 32 | (uint32_t)t.cpu,
		      (uint64_t)t.event << 32 | t.side, &is_new);
	if (!slot)
		return VIEW_NONE;
	if (is_new) {
		if (!vec_push(&b->to->tracks, t))
			return VIEW_NONE;
		slot->value_plus_1 = (uint32_t)b->to->tracks.nr;
	}
	return slot->value_plus_1 - 1;
}

/* ---- samples ---- */

static int view_build_begin_span(struct view_writer *w, uint32_t track, uint64_t bin)
{
	struct view_data *to = w->b->to;

	if (track == VIEW_NONE || bin >= UINT32_MAX - 1)
		return -ENOMEM;
	if (to->spans.nr && w->last_track == track && w->last_bin == bin)
		return 0;
	w->last_track = track;
	w->last_bin = (uint32_t)bin;
	if (to->nr_bins <= bin)
		to->nr_bins = (uint32_t)bin + 1;
	return vec_push(&to->spans, ((struct view_span){ track, (uint32_t)bin,
							 (uint32_t)to->node_of.nr }))
		       ? 0
		       : -ENOMEM;
}

/* Adds samples to the last span; `node` is one of the profile. */
static int view_build_add(struct view_writer *w, uint32_t node, uint64_t count)
{
	struct view_build *b = w->b;
	struct view_data *to = b->to;
	uint32_t at = node < CALL_FIRST || node >= b->profiles[w->side]->calls.nodes.nr
			      ? view_build_at_root(b, node)
			      : b->node_of[w->side][node];
	const struct view_track *track =
		&to->tracks.at[to->spans.at[to->spans.nr - 1].track];

	if (at == VIEW_NONE || !vec_push(&to->node_of, at) ||
	    !vec_push(&to->count_of, count))
		return -ENOMEM;
	to->events.at[track->event].samples += count;
	to->facts[w->side].samples += count;
	return 0;
}

static uint32_t view_build_tuple_node(const struct profile *p, uint32_t tuple)
{
	const struct tuples *t = &p->tuples[GROUP_WHERE];

	return tuple < t->nr ? (uint32_t)t->values.at[tuple * t->width + p->node_slot]
			     : CALL_ROOT;
}

static int view_build_timeline(struct view_writer *w)
{
	struct profile *p = w->b->profiles[w->side];
	const struct timeline *t = &p->timeline;
	uint32_t *track_of = view_build_numbers(t->tracks.nr);
	int r = track_of && vec_reserve(&w->b->to->node_of, t->nr_words) &&
				vec_reserve(&w->b->to->count_of, t->nr_words) &&
				vec_reserve(&w->b->to->spans, t->spans.nr + 1)
			? 0
			: -ENOMEM;

	for (size_t i = 0; !r && i < t->tracks.nr; i++) {
		track_of[i] =
			view_build_track(w, t->tracks.at[i].who, t->tracks.at[i].what);
		r = track_of[i] == VIEW_NONE ? -ENOMEM : 0;
	}
	for (size_t i = 0; !r && i < t->spans.nr; i++) {
		const struct timeline_span *span = &t->spans.at[i];
		uint32_t end = timeline_span_end(t, i);

		r = view_build_begin_span(w, track_of[span->track], span->bucket);
		for (uint32_t at = span->at; !r && at < end;) {
			uint32_t samples, where = timeline_next(t, &at, &samples);

			r = view_build_add(w, view_build_tuple_node(p, where), samples);
		}
	}
	free(track_of);
	return r;
}

static int view_build_rows(struct view_writer *w)
{
	struct profile *p = w->b->profiles[w->side];
	int r = 0;

	for (size_t i = 0; !r && i < p->rows.nr; i++) {
		const struct profile_row *row = &p->rows.at[i];
		uint64_t bin =
			profile_value(p, row->group, VIEW_KEY_TIME) / w->b->to->bin_ns;

		if (!row->samples)
			continue;
		r = view_build_begin_span(
			w, view_build_track(w, row->group, row->event), bin);
		if (!r)
			r = view_build_add(w, profile_node(p, row->group),
					   row->samples);
	}
	return r;
}

static int view_build_samples(struct view_build *b, size_t side)
{
	struct view_writer w = { .b = b, .side = (uint32_t)side };

	return b->profiles[side]->options.timeline ? view_build_timeline(&w)
						   : view_build_rows(&w);
}

/* ---- all ---- */

/* Adds the events with samples in the order of the recording. */
static int view_build_events(struct view_build *b, size_t side)
{
	const struct profile *p = b->profiles[side];

	for (uint32_t i = 0; i < p->events.nr; i++)
		if (p->events.at[i].samples && view_build_event(b, p, i) == VIEW_NONE)
			return -ENOMEM;
	return 0;
}

int view_build_run(struct view_build *b)
{
	struct view_data *to = b->to;
	int r = view_build_match_images(b);

	b->truncated = b->unknown = VIEW_NONE;
	for (size_t side = 0; !r && side < b->nr_sides; side++)
		r = view_build_add_tree(b, side);
	for (size_t side = 0; !r && side < b->nr_sides; side++)
		r = view_build_events(b, side);
	for (size_t side = 0; !r && side < b->nr_sides; side++)
		r = view_build_samples(b, side);
	if (!r &&
	    !vec_push(&to->spans, ((struct view_span){ VIEW_NONE, VIEW_NONE,
						       (uint32_t)to->node_of.nr })))
		r = -ENOMEM;
	if (!r)
		r = view_build_order(b);
	for (size_t i = 0; !r && i < to->node_of.nr; i++)
		to->node_of.at[i] = b->place_of[to->node_of.at[i]];
	return r;
}

void view_build_done(struct view_build *b)
{
	call_tree_done(&b->tree);
	map_done(&b->function_by);
	map_done(&b->thread_by);
	map_done(&b->track_by);
	free(b->place_of);
	for (size_t side = 0; side < VIEW_SIDES; side++) {
		free(b->image_of[side]);
		free(b->function_of[side]);
		free(b->node_of[side]);
	}
}
