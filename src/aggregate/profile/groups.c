/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/profile/groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "base/containers/hash.h"
#include "base/containers/huge.h"

enum {
	FIRST_SLOTS = 1024,
	/* log2 of the number of slots that share a cache line: positions of an actor are added in
	 * order, so neighbouring ones use the same line. */
	NEAR_BITS = 4
};

static bool is_where(const struct key_row *row)
{
	return row->needs & (NEED_IMAGE | NEED_FUNCTION | NEED_ADDRESS) &&
	       !(row->needs & NEED_APP);
}

void groups_init(struct profile *p)
{
	for (size_t k = 0; k < p->nr_keys; k++) {
		const struct key_row *row = p->options.keys->keys.at[k].row;
		unsigned int side = is_where(row) ? GROUP_WHERE : GROUP_WHO;

		p->key_slots[k].side = (uint8_t)side;
		p->key_slots[k].at = (uint8_t)p->tuples[side].width++;
		if (row->id == KEY_STACK) {
			p->has_nodes = true;
			p->node_slot = p->key_slots[k].at;
		}
	}
	if (p->options.calls && !p->has_nodes) {
		p->has_nodes = true;
		p->node_slot = (uint8_t)p->tuples[GROUP_WHERE].width++;
	}
}

void groups_clear(struct profile *p)
{
	vec_done(&p->groups);
	vec_done(&p->rows);
	vec_done(&p->first_rows);
	huge_zfree(p->group_slots, p->nr_group_slots, sizeof(*p->group_slots));
	p->group_slots = NULL;
	p->nr_group_slots = 0;
}

void groups_done(struct profile *p)
{
	tuples_done(&p->tuples[GROUP_WHO]);
	tuples_done(&p->tuples[GROUP_WHERE]);
	groups_clear(p);
}

uint32_t groups_tuple(struct profile *p, unsigned int side, const uint64_t *values)
{
	return tuples_add(&p->tuples[side], values);
}

/* Returns the new or existing row of an event in a group; DICT_NONE if memory is short. */
static uint32_t groups_add_row(struct profile *p, uint32_t group, uint32_t event)
{
	struct profile_row row = { .group = group, .event = event };
	uint32_t at;

	for (at = p->first_rows.at[group]; at != DICT_NONE; at = p->rows.at[at].next) {
		if (p->rows.at[at].event == event)
			return at;
	}
	row.next = p->first_rows.at[group];
	if (!vec_push(&p->rows, row))
		return DICT_NONE;
	p->first_rows.at[group] = (uint32_t)p->rows.nr - 1;
	return p->first_rows.at[group];
}

/* Returns the slot of the pair, or an empty slot. */
static uint32_t *find_slot(const struct profile *p, uint32_t who, uint32_t where)
{
	size_t mask = p->nr_group_slots - 1;
	size_t i = hash_pair(who, where >> NEAR_BITS) << NEAR_BITS |
		   (where & ((1U << NEAR_BITS) - 1));

	for (;; i++) {
		uint32_t *slot = &p->group_slots[i & mask];
		const struct profile_group *g;

		if (!*slot)
			return slot;
		g = &p->groups.at[*slot - 1];
		if (g->tuple[GROUP_WHO] == who && g->tuple[GROUP_WHERE] == where)
			return slot;
	}
}

/* Keeps the table at most half full. */
static int grow_slots(struct profile *p)
{
	size_t nr = FIRST_SLOTS;
	uint32_t *grown;

	while (nr < (p->groups.nr + 1) * 2)
		nr *= 2;
	grown = huge_zalloc(nr, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	huge_zfree(p->group_slots, p->nr_group_slots, sizeof(*grown));
	p->group_slots = grown;
	p->nr_group_slots = nr;
	for (uint32_t i = 0; i < p->groups.nr; i++) {
		const struct profile_group *g = &p->groups.at[i];

		*find_slot(p, g->tuple[GROUP_WHO], g->tuple[GROUP_WHERE]) = i + 1;
	}
	return 0;
}

/* Finds the first rows of the groups that groups_append() made; most profiles do not need them. */
static int find_first_rows(struct profile *p)
{
	if (p->first_rows.nr == p->groups.nr)
		return 0;
	if (!vec_reserve(&p->first_rows, p->groups.nr))
		return -ENOMEM;
	for (uint32_t i = 0; i < p->groups.nr; i++)
		p->first_rows.at[i] = DICT_NONE;
	for (uint32_t i = 0; i < p->rows.nr; i++)
		p->first_rows.at[p->rows.at[i].group] = i;
	p->first_rows.nr = p->groups.nr;
	return 0;
}

uint32_t groups_row_of(struct profile *p, uint32_t who, uint32_t where, uint32_t event)
{
	struct profile_group group = { .tuple = { who, where } };
	uint32_t *slot;

	if (who == DICT_NONE || where == DICT_NONE || find_first_rows(p) ||
	    ((p->groups.nr + 1) * 2 > p->nr_group_slots && grow_slots(p)))
		return DICT_NONE;
	slot = find_slot(p, who, where);
	if (!*slot) {
		if (!vec_grow(&p->first_rows) || !vec_push(&p->groups, group))
			return DICT_NONE;
		p->first_rows.at[p->first_rows.nr++] = DICT_NONE;
		*slot = (uint32_t)p->groups.nr;
	}
	return groups_add_row(p, *slot - 1, event);
}

int groups_reserve(struct profile *p, size_t nr_groups, size_t nr_rows)
{
	return vec_reserve(&p->groups, nr_groups) && vec_reserve(&p->rows, nr_rows)
		       ? 0
		       : -ENOMEM;
}

uint32_t groups_append(struct profile *p, uint32_t who, uint32_t where, uint32_t event)
{
	const struct profile_group group = { .tuple = { who, where } };
	struct profile_row row = { .event = event, .next = DICT_NONE };

	if (p->groups.nr &&
	    !memcmp(&p->groups.at[p->groups.nr - 1], &group, sizeof(group))) {
		row.next = (uint32_t)p->rows.nr - 1;
		if (p->rows.at[row.next].event == event)
			return row.next;
	} else if (!vec_push(&p->groups, group)) {
		return DICT_NONE;
	}
	row.group = (uint32_t)p->groups.nr - 1;
	if (!vec_push(&p->rows, row))
		return DICT_NONE;
	return (uint32_t)p->rows.nr - 1;
}

uint32_t groups_row(struct profile *p, const uint64_t *values, uint32_t event)
{
	uint64_t sides[GROUP_SIDES][KEY_ID_COUNT] = { 0 };

	for (size_t k = 0; k < p->nr_keys; k++)
		sides[p->key_slots[k].side][p->key_slots[k].at] = values[k];
	return groups_row_of(p, groups_tuple(p, GROUP_WHO, sides[GROUP_WHO]),
			     groups_tuple(p, GROUP_WHERE, sides[GROUP_WHERE]), event);
}
