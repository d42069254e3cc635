/* SPDX-License-Identifier: GPL-2.0-or-later */
/* query_tree.c - the queries "tree" and "function". */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "view/query_priv.h"

static void view_query_put_symbol(struct view_answer *a, uint32_t function,
				  uint32_t image)
{
	struct json *j = &a->json;
	const char *name = view_function_name(&a->m->data, function);
	const char *shown = view_function_short(a->m, function);

	json_begin_array(j);
	json_text(j, shown);
	if (image)
		json_u64(j, image - 1);
	else
		json_number(j, "-1");
	json_u64(j, a->m->data.functions.at[function].kind);
	if (strcmp(shown, name) != 0)
		json_text(j, name);
	json_end_array(j);
}

int view_answer_put_symbols(struct view_answer *a, uint32_t *wanted)
{
	const struct view_data *d = &a->m->data;
	struct json *j = &a->json;
	/* By string: number of the image plus 1. */
	uint32_t *images = calloc(d->strings.strings.nr + 1, sizeof(*images));
	uint32_t nr = 0;

	if (!images)
		return -ENOMEM;
	json_name(j, "images");
	json_begin_array(j);
	for (size_t i = 0; i < d->functions.nr; i++) {
		uint32_t image = d->functions.at[i].image;

		if (!wanted[i] || image == VIEW_NONE || images[image])
			continue;
		images[image] = ++nr;
		json_text(j, view_text(d, image));
	}
	json_end_array(j);
	json_name(j, "symbols");
	json_begin_array(j);
	nr = 0;
	for (uint32_t i = 0; i < d->functions.nr; i++) {
		uint32_t image = d->functions.at[i].image;

		if (!wanted[i])
			continue;
		view_query_put_symbol(a, i, image == VIEW_NONE ? 0 : images[image]);
		wanted[i] = ++nr;
	}
	json_end_array(j);
	free(images);
	return 0;
}

/* A function that returns a field of a node. */
typedef uint64_t view_query_field(const struct view_tree_node *n);

static uint64_t view_query_up(const struct view_tree_node *n)
{
	return n->up;
}

static uint64_t view_query_self(const struct view_tree_node *n)
{
	return n->self;
}

static uint64_t view_query_total(const struct view_tree_node *n)
{
	return view_tree_total(n);
}

static uint64_t view_query_base(const struct view_tree_node *n)
{
	return n->total[0];
}

static uint64_t view_query_new(const struct view_tree_node *n)
{
	return n->total[1];
}

static void view_query_put_field(struct view_answer *a, const char *name,
				 const struct view_tree *t, view_query_field *field,
				 uint64_t *room)
{
	for (size_t i = 0; i < t->nodes.nr; i++)
		room[i] = field(&t->nodes.at[i]);
	view_answer_numbers(a, name, room, t->nodes.nr);
}

int view_answer_put_tree(struct view_answer *a, const struct view_tree *t)
{
	struct json *j = &a->json;
	uint32_t *wanted = calloc(a->m->data.functions.nr + 1, sizeof(*wanted));
	uint64_t *room = calloc(t->nodes.nr + 1, sizeof(*room));
	bool compare = a->m->options.nr_sides > 1;
	int r = wanted && room ? 0 : -ENOMEM;

	json_member_u64(j, "total", t->total[0] + t->total[1]);
	if (compare) {
		json_member_u64(j, "base_total", t->total[0]);
		json_member_u64(j, "new_total", t->total[1]);
	}
	for (size_t i = 0; !r && i < t->nodes.nr; i++)
		wanted[t->nodes.at[i].function] = 1;
	if (!r)
		r = view_answer_put_symbols(a, wanted);
	if (!r) {
		for (size_t i = 0; i < t->nodes.nr; i++)
			room[i] = wanted[t->nodes.at[i].function] - 1;
		view_answer_numbers(a, "symbol", room, t->nodes.nr);
		view_query_put_field(a, "up", t, view_query_up, room);
		view_query_put_field(a, "self", t, view_query_self, room);
		view_query_put_field(a, "total_of", t, view_query_total, room);
	}
	if (!r && compare) {
		view_query_put_field(a, "base_of", t, view_query_base, room);
		view_query_put_field(a, "new_of", t, view_query_new, room);
	}
	json_member_u64(j, "omitted", t->omitted);
	free(wanted);
	free(room);
	return r;
}

static int view_query_tree_kind(const struct view_answer *a, enum view_tree_kind *kind)
{
	const char *by = view_params_get(a->params, "by");

	if (!by || !strcmp(by, "calls"))
		*kind = VIEW_TREE_CALLS;
	else if (!strcmp(by, "callers"))
		*kind = VIEW_TREE_CALLERS;
	else if (!strcmp(by, "time"))
		*kind = VIEW_TREE_TIME;
	else
		return err_set(a->err, -EINVAL,
			       "by: invalid value '%s': give calls, callers or time",
			       by);
	return 0;
}

static int view_query_tree_options(const struct view_answer *a,
				   struct view_tree_options *o)
{
	uint64_t limit = VIEW_TREE_LIMIT;
	int r = view_params_share(a->params, "min", &o->min, a->err);

	if (!r)
		r = view_params_u64(a->params, "limit", &limit, a->err);
	o->limit = limit;
	return r;
}

/* Makes a tree of the selection, and writes it as an object. */
static int view_query_put_made(struct view_answer *a, const struct view_selection *s,
			       const struct view_tree_options *o)
{
	struct view_tree tree;
	int r = view_tree_make(&tree, s, o);

	if (!r) {
		json_begin_object(&a->json);
		r = view_answer_put_tree(a, &tree);
		json_end_object(&a->json);
	}
	view_tree_done(&tree);
	return r ? view_answer_no_memory(a) : 0;
}

int view_query_tree(struct view_answer *a)
{
	struct view_tree_options o = { 0 };
	struct view_selection s;
	int r = view_query_tree_kind(a, &o.kind);

	if (!r)
		r = view_query_tree_options(a, &o);
	if (r)
		return r;
	r = view_selection_make(&s, a->m, a->params, a->err);
	if (!r)
		r = view_query_put_made(a, &s, &o);
	view_selection_done(&s);
	return r;
}

static int view_query_put_function(struct view_answer *a,
				   const struct view_selection *s,
				   struct view_tree_options *o)
{
	const struct view_data *d = &a->m->data;
	struct json *j = &a->json;
	struct view_tree callees;
	uint64_t self = 0;
	int r;

	for (size_t i = 0; i + 1 < d->spans.nr; i++) {
		if (!view_selection_span(s, &d->spans.at[i]))
			continue;
		for (uint32_t at = d->spans.at[i].at; at < d->spans.at[i + 1].at; at++)
			if (d->nodes.at[d->node_of.at[at]].function == o->function &&
			    (!s->nodes || s->nodes[d->node_of.at[at]]))
				self += d->count_of.at[at];
	}
	json_begin_object(j);
	json_member_text(j, "symbol", view_function_name(d, o->function));
	json_member_text(j, "short", view_function_short(a->m, o->function));
	json_member_text(j, "image", view_function_image(d, o->function));
	json_member_u64(j, "self", self);
	o->kind = VIEW_TREE_FUNCTION_CALLEES;
	r = view_tree_make(&callees, s, o);
	if (!r) {
		json_member_u64(j, "total", callees.total[0] + callees.total[1]);
		json_name(j, "callees");
		json_begin_object(j);
		r = view_answer_put_tree(a, &callees);
		json_end_object(j);
	}
	view_tree_done(&callees);
	if (r)
		return view_answer_no_memory(a);
	o->kind = VIEW_TREE_FUNCTION_CALLERS;
	json_name(j, "callers");
	r = view_query_put_made(a, s, o);
	json_end_object(j);
	return r;
}

int view_query_function(struct view_answer *a)
{
	struct view_params rest = { 0 };
	struct view_tree_options o = { 0 };
	struct view_param *without;
	struct view_selection s;
	int r = view_answer_function(a, &o.function);

	if (!r)
		r = view_query_tree_options(a, &o);
	if (r)
		return r;
	/* Here, `symbol` and `image` name the function and do not select samples. */
	without = calloc(a->params->nr + 1, sizeof(*without));
	if (!without)
		return view_answer_no_memory(a);
	rest.at = without;
	for (size_t i = 0; i < a->params->nr; i++)
		if (strcmp(a->params->at[i].name, "symbol") != 0 &&
		    strcmp(a->params->at[i].name, "image") != 0)
			without[rest.nr++] = a->params->at[i];
	r = view_selection_make(&s, a->m, &rest, a->err);
	if (!r)
		r = view_query_put_function(a, &s, &o);
	view_selection_done(&s);
	free(without);
	return r;
}
