/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/containers/pairs.h"

#include "base/containers/hash.h"
#include "base/containers/huge.h"

enum {
	FIRST_SLOTS = 64,
	QUICK_SLOTS = 1 << 16, /* up to this size a table grows by a factor of four */
	AHEAD_SLOTS = 16
};

static size_t slots_of(const struct pairs *p)
{
	return p->slots ? p->mask + 1 : 0;
}

static size_t pairs_first_of(const struct pairs *p, uint32_t a, uint32_t b)
{
	return hash_quick(a, b) & p->mask;
}

static struct pair_slot *pairs_probe(const struct pairs *p, uint32_t a, uint32_t b)
{
	size_t i = pairs_first_of(p, a, b);

	struct pair_slot *slot = &p->slots[i];

	while (slot->value_plus_1 && (slot->a != a || slot->b != b)) {
		i = (i + 1) & p->mask;
		slot = &p->slots[i];
	}
	return slot;
}

/* Enlarges the table. Returns false if memory is short. Not inlined, so that lookups save fewer
 * registers. */
__attribute__((noinline)) static bool pairs_grow(struct pairs *p)
{
	size_t nr = slots_of(p);
	size_t more = !nr ? FIRST_SLOTS : nr < QUICK_SLOTS ? nr * 4 : nr * 2;
	struct pairs bigger = { .mask = more - 1, .nr = p->nr };

	bigger.slots = huge_zalloc(more, sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	for (size_t i = 0; i < nr; i++) {
		const struct pair_slot *old = &p->slots[i];
		const struct pair_slot *ahead = &p->slots[(i + AHEAD_SLOTS) & (nr - 1)];

		if (ahead->value_plus_1)
			pairs_prefetch(&bigger, ahead->a, ahead->b);
		if (old->value_plus_1)
			*pairs_probe(&bigger, old->a, old->b) = *old;
	}
	huge_zfree(p->slots, nr, sizeof(*p->slots));
	*p = bigger;
	return true;
}

uint32_t *pairs_at(struct pairs *p, uint32_t a, uint32_t b, bool *ret_new)
{
	struct pair_slot *slot;

	/* At most 5/8 full: with linear probing, an unsuccessful search then examines 4 slots. */
	if ((p->nr + 1) * 8 > slots_of(p) * 5 && !pairs_grow(p))
		return NULL;
	slot = pairs_probe(p, a, b);
	*ret_new = !slot->value_plus_1;
	if (*ret_new) {
		*slot = (struct pair_slot){ a, b, 1 };
		p->nr++;
	}
	return &slot->value_plus_1;
}

uint32_t pairs_get(const struct pairs *p, uint32_t a, uint32_t b)
{
	return p->slots ? pairs_probe(p, a, b)->value_plus_1 : 0;
}

void pairs_prefetch(const struct pairs *p, uint32_t a, uint32_t b)
{
	if (p->slots)
		__builtin_prefetch(&p->slots[pairs_first_of(p, a, b)]);
}

void pairs_done(struct pairs *p)
{
	huge_zfree(p->slots, slots_of(p), sizeof(*p->slots));
	*p = (struct pairs){ 0 };
}
