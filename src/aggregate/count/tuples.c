/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/count/tuples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/hash.h"
#include "format/session/dict.h"

enum {
	FIRST_SLOTS = 256
};

/* Returns the slot of the tuple with these values, or an empty slot. */
static struct tuple_slot *tuples_find(const struct tuples *t, uint32_t hash,
				      const uint64_t *values)
{
	size_t bytes = t->width * sizeof(*values);
	size_t i = hash & (t->nr_slots - 1);

	for (;; i = (i + 1) & (t->nr_slots - 1)) {
		struct tuple_slot *slot = &t->slots[i];

		if (!slot->number_plus_1)
			return slot;
		if (slot->hash == hash &&
		    !memcmp(&t->values.at[(slot->number_plus_1 - 1) * t->width], values,
			    bytes))
			return slot;
	}
}

/* Doubles the table of slots, so that it is at most half full. Returns 0 or -ENOMEM. */
static int tuples_grow(struct tuples *t)
{
	size_t nr = t->nr_slots ? t->nr_slots * 2 : FIRST_SLOTS;
	struct tuple_slot *grown = calloc(nr, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr_slots; i++) {
		const struct tuple_slot *old = &t->slots[i];
		size_t at = old->hash & (nr - 1);

		if (!old->number_plus_1)
			continue;
		while (grown[at].number_plus_1)
			at = (at + 1) & (nr - 1);
		grown[at] = *old;
	}
	free(t->slots);
	t->slots = grown;
	t->nr_slots = nr;
	return 0;
}

uint32_t tuples_add(struct tuples *t, const uint64_t *values)
{
	size_t bytes = t->width * sizeof(*values);
	uint32_t hash = (uint32_t)hash_bytes(values, bytes, 0);
	struct tuple_slot *slot;

	/* Reserve an extra element, because tuples can have no values. */
	if (!vec_reserve(&t->values, t->values.nr + t->width + 1) ||
	    ((t->nr + 1) * (size_t)2 > t->nr_slots && tuples_grow(t)))
		return DICT_NONE;
	slot = tuples_find(t, hash, values);
	if (slot->number_plus_1)
		return slot->number_plus_1 - 1;
	memcpy(&t->values.at[t->values.nr], values, bytes);
	t->values.nr += t->width;
	slot->hash = hash;
	slot->number_plus_1 = ++t->nr;
	return slot->number_plus_1 - 1;
}

void tuples_done(struct tuples *t)
{
	vec_done(&t->values);
	free(t->slots);
	*t = (struct tuples){ .width = t->width };
}
