#include "aggregate/groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile.h"
#include "base/hash.h"

enum {
	FIRST_GROUPS = 1024
};

/* The row of an event in a group, new or old; DICT_NONE when memory is short. */
static uint32_t add_row(struct profile *p, uint32_t group, uint32_t event)
{
	struct profile_row row = { .group = group, .event = event };
	uint32_t at;

	while (p->first_rows.nr <= group) {
		if (!vec_push(&p->first_rows, DICT_NONE))
			return DICT_NONE;
	}
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

/* Where the group with these values is, or an empty slot. */
static struct group_slot *find_group(const struct profile *p, uint32_t hash,
				     const uint64_t *values)
{
	size_t bytes = p->nr_keys * sizeof(*values);
	size_t i = hash & (p->nr_group_slots - 1);

	for (;; i = (i + 1) & (p->nr_group_slots - 1)) {
		struct group_slot *slot = &p->group_slots[i];

		if (!slot->group_plus_1)
			return slot;
		if (slot->hash == hash &&
		    !memcmp(&p->values.at[(slot->group_plus_1 - 1) * p->nr_keys],
			    values, bytes))
			return slot;
	}
}

/* At most half full. */
static int grow_groups(struct profile *p)
{
	size_t nr = p->nr_group_slots ? p->nr_group_slots * 2 : FIRST_GROUPS;
	struct group_slot *grown = calloc(nr, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	for (size_t i = 0; i < p->nr_group_slots; i++) {
		const struct group_slot *old = &p->group_slots[i];
		size_t at = old->hash & (nr - 1);

		if (!old->group_plus_1)
			continue;
		while (grown[at].group_plus_1)
			at = (at + 1) & (nr - 1);
		grown[at] = *old;
	}
	free(p->group_slots);
	p->group_slots = grown;
	p->nr_group_slots = nr;
	return 0;
}

/* The group with these values, new or old; DICT_NONE when memory is short. */
static uint32_t add_group(struct profile *p, const uint64_t *values)
{
	uint32_t hash = (uint32_t)hash_bytes(values, p->nr_keys * sizeof(*values), 0);
	struct group_slot *slot;

	if ((p->nr_groups + 1) * 2 > p->nr_group_slots && grow_groups(p))
		return DICT_NONE;
	slot = find_group(p, hash, values);
	if (slot->group_plus_1)
		return slot->group_plus_1 - 1;
	for (size_t k = 0; k < p->nr_keys; k++) {
		if (!vec_push(&p->values, values[k]))
			return DICT_NONE;
	}
	slot->hash = hash;
	slot->group_plus_1 = (uint32_t)++p->nr_groups;
	return slot->group_plus_1 - 1;
}

uint32_t groups_row(struct profile *p, const uint64_t *values, uint32_t event)
{
	uint32_t group = add_group(p, values);

	return group == DICT_NONE ? DICT_NONE : add_row(p, group, event);
}
