/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/count/code_counts.h"

#include <errno.h>
#include <stdlib.h>

void code_counts_done(struct code_counts *c)
{
	vec_done(&c->positions);
	vec_done(&c->branches);
	vec_done(&c->runs);
	map_done(&c->position_by);
	map_done(&c->branch_by);
	map_done(&c->run_by);
}

uint32_t code_counts_position(struct code_counts *c, uint32_t image, uint64_t offset)
{
	const struct code_position position = { .image = image, .offset = offset };
	uint32_t at = map_get(&c->position_by, image, offset);

	if (at != MAP_NONE)
		return at;
	at = (uint32_t)c->positions.nr;
	if (!vec_push(&c->positions, position))
		return MAP_NONE;
	if (map_set(&c->position_by, image, offset, at)) {
		c->positions.nr--;
		return MAP_NONE;
	}
	return at;
}

/* Returns the edge, with a count of 0 if it is new; NULL if memory is short. */
static struct code_edge *edge_at(code_edge_vec *edges, struct map *by, uint32_t from,
				 uint32_t to)
{
	const struct code_edge edge = { .from = from, .to = to };
	uint32_t at = map_get(by, from, to);

	if (at != MAP_NONE)
		return &edges->at[at];
	if (!vec_push(edges, edge))
		return NULL;
	at = (uint32_t)edges->nr - 1;
	if (!map_set(by, from, to, at))
		return &edges->at[at];
	edges->nr--;
	return NULL;
}

int code_counts_branch(struct code_counts *c, uint32_t from, uint32_t to,
		       bool mispredicted)
{
	struct code_edge *edge = edge_at(&c->branches, &c->branch_by, from, to);

	if (!edge)
		return -ENOMEM;
	edge->count++;
	edge->mispredicted += mispredicted;
	return 0;
}

int code_counts_run(struct code_counts *c, uint32_t from, uint32_t to)
{
	struct code_edge *edge = edge_at(&c->runs, &c->run_by, from, to);

	if (!edge)
		return -ENOMEM;
	edge->count++;
	return 0;
}

/* A change of the current count: added at the start of a run, subtracted after its last address. */
struct count_change {
	uint64_t at;
	uint64_t change; /* modulo 2^64 */
};
typedef VEC(struct count_change) count_change_vec;

static int compare_count_changes(const void *va, const void *vb)
{
	const struct count_change *a = va;
	const struct count_change *b = vb;

	return (a->at > b->at) - (a->at < b->at);
}

static int add_count_changes(const struct code_counts *c, uint32_t image,
			     count_change_vec *changes)
{
	for (size_t i = 0; i < c->runs.nr; i++) {
		const struct code_edge *run = &c->runs.at[i];
		const struct code_position *from = &c->positions.at[run->from];
		const struct code_position *to = &c->positions.at[run->to];
		const struct count_change begin = { from->offset, run->count };
		const struct count_change end = { to->offset + 1, -run->count };

		if (from->image == image && to->image == image &&
		    from->offset <= to->offset &&
		    (!vec_push(changes, begin) || !vec_push(changes, end)))
			return -ENOMEM;
	}
	return 0;
}

int code_counts_stretches(const struct code_counts *c, uint32_t image,
			  code_stretch_vec *out)
{
	count_change_vec changes = { 0 };
	uint64_t count = 0;
	int r = add_count_changes(c, image, &changes);

	if (!r && changes.nr)
		qsort(changes.at, changes.nr, sizeof(*changes.at),
		      compare_count_changes);
	for (size_t i = 0; !r && i + 1 < changes.nr; i++) {
		const struct count_change *t = &changes.at[i];
		struct code_stretch s = { t->at, t[1].at - 1, count + t->change };

		count = s.count;
		if (t[1].at > t->at && count && !vec_push(out, s))
			r = -ENOMEM;
	}
	vec_done(&changes);
	return r;
}
