/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/foreign/v8_profile.h"

#include <errno.h>
#include <string.h>

enum {
	NODE_UNRESOLVED = STACK_TREE_NONE,
	/* Not a node number; the next value is STACK_TREE_NONE. */
	NODE_IN_PROGRESS = 0xfffffffe,
	NS_A_US = 1000
};

/* ---- a chunk ---- */

/* Converts a URL of a file to a plain path; other names stay unchanged. */
static struct foreign_word v8_path(struct foreign_word url)
{
	static const char scheme[] = "file://";
	const size_t len = sizeof(scheme) - 1;

	if (url.len > len && !memcmp(url.at, scheme, len)) {
		url.at += len;
		url.len -= len;
	}
	return url;
}

static int v8_chunk_take_node(struct v8_chunk *c, struct stack_tree *tree,
			      enum json_kind kind)
{
	static const struct foreign_word anonymous = { "(anonymous)", 11 };
	struct v8_node *n = &c->current;

	if (kind == JSON_BEGIN) {
		*n = (struct v8_node){ STACK_TREE_NONE, STACK_TREE_NONE,
				       STACK_TREE_NONE, NODE_UNRESOLVED };
		c->name = c->url = 0;
		c->first_edge = c->edges.nr;
	}
	if (kind != JSON_END)
		return 0;
	if (!c->name)
		c->name = stack_tree_name(tree, anonymous);
	n->frame = stack_tree_frame(tree, c->name, c->url);
	if (n->frame == STACK_TREE_NONE || !vec_push(&c->nodes, *n))
		return -ENOMEM;
	for (size_t i = c->first_edge; i < c->edges.nr; i++)
		c->edges.at[i].parent = n->id;
	return 0;
}

static int v8_chunk_take_text(struct v8_chunk *c, struct stack_tree *tree, bool is_url,
			      const struct json_value *v)
{
	const uint32_t text =
		stack_tree_name(tree, is_url ? v8_path(v->text) : v->text);

	if (text == STRTAB_FAILED)
		return -ENOMEM;
	if (is_url)
		c->url = text;
	else
		c->name = text;
	return 0;
}

static int v8_chunk_take_time(struct v8_chunk *c, enum v8_part part,
			      const struct json_value *v)
{
	int64_t us;

	if (!json_value_scaled(v, 0, &us)) {
		c->skipped++;
		us = 0;
	}
	if (part == V8_START)
		c->start_us = us;
	else if (part == V8_END)
		c->end_us = us;
	else
		return number_queue_push(&c->deltas, us);
	return 0;
}

int v8_chunk_take(struct v8_chunk *c, struct stack_tree *tree, enum v8_part part,
		  const struct json_value *v)
{
	struct v8_edge edge = { STACK_TREE_NONE, STACK_TREE_NONE };
	uint32_t id = STACK_TREE_NONE;

	if (part == V8_NODE)
		return v8_chunk_take_node(c, tree, v->kind);
	if (part == V8_FUNCTION || part == V8_URL)
		return v8_chunk_take_text(c, tree, part == V8_URL, v);
	if (part == V8_DELTA || part == V8_START || part == V8_END)
		return v8_chunk_take_time(c, part, v);
	if (!json_value_u32(v, &id) || id >= NODE_IN_PROGRESS) {
		id = STACK_TREE_NONE;
		c->skipped++;
	}
	if (part == V8_ID)
		c->current.id = id;
	else if (part == V8_PARENT)
		c->current.parent = id;
	edge.child = id;
	if (part == V8_SAMPLE)
		return number_queue_push(&c->samples, id);
	return part == V8_CHILD && !vec_push(&c->edges, edge) ? -ENOMEM : 0;
}

int v8_chunk_explain(const struct v8_chunk *c, int r, struct err *err)
{
	(void)number_queue_explain(&c->samples, r, err);
	return number_queue_explain(&c->deltas, r, err);
}

void v8_chunk_done(struct v8_chunk *c)
{
	vec_done(&c->nodes);
	vec_done(&c->edges);
	number_queue_done(&c->samples);
	number_queue_done(&c->deltas);
}

/* ---- nodes of a profile ---- */

static int v8_profile_set_parent(struct v8_profile *p, uint32_t child, uint32_t parent)
{
	if (child == STACK_TREE_NONE || parent == STACK_TREE_NONE)
		return 0;
	return map_set(&p->parent_by, child, 0, parent);
}

static int v8_profile_add_nodes(struct v8_profile *p, const struct v8_chunk *c,
				uint64_t *skipped)
{
	int r = 0;

	for (size_t i = 0; !r && i < c->nodes.nr; i++) {
		const struct v8_node *n = &c->nodes.at[i];

		if (n->id == STACK_TREE_NONE)
			continue;
		if (map_get(&p->node_by, n->id, 0) != MAP_NONE) {
			*skipped += 1;
			continue;
		}
		if (!vec_push(&p->nodes, *n) ||
		    map_set(&p->node_by, n->id, 0, (uint32_t)p->nodes.nr - 1))
			return -ENOMEM;
		r = v8_profile_set_parent(p, n->id, n->parent);
	}
	for (size_t i = 0; !r && i < c->edges.nr; i++)
		r = v8_profile_set_parent(p, c->edges.at[i].child,
					  c->edges.at[i].parent);
	return r;
}

static struct v8_node *v8_profile_find(const struct v8_profile *p, uint32_t id)
{
	const uint32_t at = map_get(&p->node_by, id, 0);

	return at == MAP_NONE ? NULL : &p->nodes.at[at];
}

static struct v8_node *v8_profile_parent(const struct v8_profile *p,
					 const struct v8_node *n)
{
	const uint32_t id = map_get(&p->parent_by, n->id, 0);

	return id == MAP_NONE ? NULL : v8_profile_find(p, id);
}

/* Returns whether the node is the root of V8's tree, which is not a function. */
static bool v8_node_is_root(const struct stack_tree *tree, const struct v8_node *n,
			    const struct v8_node *parent)
{
	const struct foreign_word name = tree->frames.at[n->frame].name;

	return !parent && name.len == 6 && !memcmp(name.at, "(root)", 6);
}

static void v8_node_resolve(const struct v8_profile *p, const struct v8_target *to,
			    struct v8_node *n)
{
	const struct v8_node *parent = v8_profile_parent(p, n);
	struct stack_tree *tree = to->tree;

	to->info->skipped += parent && parent->node >= NODE_IN_PROGRESS;
	if (v8_node_is_root(tree, n, parent))
		n->node = STACK_TREE_EMPTY;
	else
		/* A parent that is not resolved yet is part of a cycle: make this node an
		 * outermost frame. */
		n->node = stack_tree_child(tree,
					   parent && parent->node < NODE_IN_PROGRESS
						   ? parent->node
						   : STACK_TREE_EMPTY,
					   n->frame);
}

/* Adds a node to the tree, after its callers, which can follow it in the file. Returns 0 or
 * -ENOMEM. */
static int v8_profile_resolve(struct v8_profile *p, const struct v8_target *to,
			      struct v8_node *n)
{
	VEC(struct v8_node *) path = { 0 };
	int r = 0;

	while (!r && n && n->node == NODE_UNRESOLVED) {
		n->node = NODE_IN_PROGRESS;
		if (!vec_push(&path, n))
			r = -ENOMEM;
		n = v8_profile_parent(p, n);
	}
	while (!r && path.nr) {
		n = path.at[--path.nr];
		v8_node_resolve(p, to, n);
		r = n->node == STACK_TREE_NONE ? -ENOMEM : 0;
	}
	vec_done(&path);
	return r;
}

/* ---- samples ---- */

static int v8_profile_give_last(struct v8_profile *p, int64_t us,
				const struct v8_target *to)
{
	struct foreign_sample s = *to->like;

	if (p->last == STACK_TREE_NONE)
		return 0;
	/* Time does not run backwards. */
	to->info->skipped += us < 0 || us >= INT64_MAX / NS_A_US;
	s.count = 1;
	s.period = us > 0 && us < INT64_MAX / NS_A_US ? (uint64_t)us * NS_A_US : 0;
	if (p->time_us < INT64_MAX / NS_A_US)
		s.time_ns = p->time_us > 0 ? (uint64_t)p->time_us * NS_A_US : 1;
	if (!stack_tree_fill(to->tree, p->last, &s))
		return -ENOMEM;
	return to->fn(to->ctx, &s);
}

static int v8_profile_add_sample(struct v8_profile *p, uint32_t id, int64_t delta,
				 const struct v8_target *to)
{
	struct v8_node *n = v8_profile_find(p, id);
	int r = v8_profile_give_last(p, delta, to);

	if (!r && n)
		r = v8_profile_resolve(p, to, n);
	if (r)
		return r;
	if (!n)
		to->info->skipped++;
	p->last = n ? n->node : STACK_TREE_NONE;
	p->last_delta = delta;
	if (__builtin_add_overflow(p->time_us, delta, &p->time_us))
		p->time_us = INT64_MAX;
	return 0;
}

struct v8_profile v8_profile_start(int64_t start_us)
{
	return (struct v8_profile){ .time_us = start_us, .last = STACK_TREE_NONE };
}

int v8_profile_add(struct v8_profile *p, struct v8_chunk *c, const struct v8_target *to)
{
	int r = v8_profile_add_nodes(p, c, &to->info->skipped);

	if (c->start_us && p->last == STACK_TREE_NONE)
		p->time_us = c->start_us;
	while (!r && c->samples.nr) {
		int64_t id, delta = 0;

		r = number_queue_pop(&c->samples, &id);
		if (!r && c->deltas.nr)
			r = number_queue_pop(&c->deltas, &delta);
		else
			to->info->skipped++;
		if (!r)
			r = v8_profile_add_sample(p, (uint32_t)id, delta, to);
	}
	/* Each sample has a time delta. */
	to->info->skipped += c->skipped + c->deltas.nr;
	c->nodes.nr = c->edges.nr = 0;
	number_queue_clear(&c->samples);
	number_queue_clear(&c->deltas);
	c->start_us = c->end_us = 0;
	c->skipped = 0;
	return r;
}

int v8_profile_finish(struct v8_profile *p, int64_t end_us, const struct v8_target *to)
{
	return v8_profile_give_last(
		p, end_us > p->time_us ? end_us - p->time_us : p->last_delta, to);
}

void v8_profile_done(struct v8_profile *p)
{
	vec_done(&p->nodes);
	map_done(&p->node_by);
	map_done(&p->parent_by);
}
