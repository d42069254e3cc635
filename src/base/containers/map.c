/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/containers/map.h"

#include <errno.h>

#include "base/containers/hash.h"
#include "base/containers/huge.h"

enum {
	FIRST_SLOTS = 64,
	/* Up to this size, a table grows by a factor of four, so that most entries are moved only
	 * once. */
	QUICK_SLOTS = 1 << 16,
	AHEAD_SLOTS = 16
};

static size_t more_slots(const struct map *m)
{
	size_t nr = m->slots ? m->mask + 1 : 0;

	if (!nr)
		return FIRST_SLOTS;
	return nr < QUICK_SLOTS ? nr * 4 : nr * 2;
}

static struct map_slot *map_probe(const struct map *m, uint64_t a, uint64_t b)
{
	size_t i = hash_quick(a, b) & m->mask;

	while (m->slots[i].value_plus_1 && (m->slots[i].a != a || m->slots[i].b != b))
		i = (i + 1) & m->mask;
	return &m->slots[i];
}

static void free_slots(struct map *m)
{
	huge_zfree(m->slots, m->slots ? m->mask + 1 : 0, sizeof(*m->slots));
}

void map_prefetch(const struct map *m, uint64_t a, uint64_t b)
{
	const struct map_slot *slot;

	if (!m->slots)
		return;
	slot = &m->slots[hash_quick(a, b) & m->mask];
	/* Also prefetch the end of the slot: every fourth one spans two cache lines. */
	__builtin_prefetch(slot);
	__builtin_prefetch(&slot->more);
}

static int map_grow(struct map *m)
{
	size_t nr_slots = more_slots(m);
	struct map bigger = { .mask = nr_slots - 1, .nr = m->nr };

	bigger.slots = huge_zalloc(nr_slots, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; m->slots && i <= m->mask; i++) {
		const struct map_slot *old = &m->slots[i];
		const struct map_slot *ahead = &m->slots[(i + AHEAD_SLOTS) & m->mask];

		if (ahead->value_plus_1)
			map_prefetch(&bigger, ahead->a, ahead->b);
		if (old->value_plus_1)
			*map_probe(&bigger, old->a, old->b) = *old;
	}
	free_slots(m);
	*m = bigger;
	return 0;
}

uint32_t map_get(const struct map *m, uint64_t a, uint64_t b)
{
	if (!m->slots)
		return MAP_NONE;
	return map_probe(m, a, b)->value_plus_1 - 1; /* an empty slot yields MAP_NONE */
}

struct map_slot *map_at(struct map *m, uint64_t a, uint64_t b, bool *ret_new)
{
	struct map_slot *slot;

	/* At most 5/8 full: with linear probing, an unsuccessful search then examines 4 slots. */
	if (!m->slots || (m->nr + 1) * 8 > (m->mask + 1) * 5)
		if (map_grow(m))
			return NULL;
	slot = map_probe(m, a, b);
	*ret_new = !slot->value_plus_1;
	if (*ret_new) {
		slot->a = a;
		slot->b = b;
		slot->value_plus_1 = 1;
		m->nr++;
	}
	return slot;
}

int map_set(struct map *m, uint64_t a, uint64_t b, uint32_t value)
{
	bool is_new;
	struct map_slot *slot = map_at(m, a, b, &is_new);

	if (!slot)
		return -ENOMEM;
	slot->value_plus_1 = value + 1;
	return 0;
}

/* Call after emptying slot `i`: moves entries that follow it back if the empty slot would make
 * them unreachable. */
static void map_close_gap(struct map *m, size_t i)
{
	for (size_t k = (i + 1) & m->mask; m->slots[k].value_plus_1;
	     k = (k + 1) & m->mask) {
		size_t home = hash_quick(m->slots[k].a, m->slots[k].b) & m->mask;

		if (((k - home) & m->mask) < ((k - i) & m->mask))
			continue;
		m->slots[i] = m->slots[k];
		i = k;
	}
	m->slots[i] = (struct map_slot){ 0 };
}

void map_remove(struct map *m, uint64_t a, uint64_t b)
{
	struct map_slot *slot = m->slots ? map_probe(m, a, b) : NULL;

	if (!slot || !slot->value_plus_1)
		return;
	map_close_gap(m, (size_t)(slot - m->slots));
	m->nr--;
}

void map_remove_from_list(struct map *m, uint64_t a, uint32_t value)
{
	uint64_t at = 0;
	uint64_t nr = 0;
	uint32_t last = MAP_NONE;
	uint32_t next;

	while ((next = map_get(m, a, nr)) != MAP_NONE) {
		if (next == value)
			at = nr;
		last = next;
		nr++;
	}
	if (!nr || map_get(m, a, at) != value)
		return;
	map_probe(m, a, at)->value_plus_1 = last + 1;
	map_remove(m, a, nr - 1);
}

void map_done(struct map *m)
{
	free_slots(m);
	*m = (struct map){ 0 };
}
