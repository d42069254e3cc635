#include "base/pairs.h"

#include "base/huge.h"

enum {
	FIRST_BITS = 6,
	QUICK_BITS = 16, /* up to here a table grows fourfold */
	KEY_BITS = 64,
	MAX_BITS = 40
};

static size_t slots_of(const struct pairs *p)
{
	return p->slots ? (size_t)1 << p->bits : 0;
}

/* The high bits of a product depend on all bits of the key; numbers of nodes are dense, so a
 * second round spreads what differs in few of them. */
static size_t first_of(uint32_t a, uint32_t b, unsigned int bits)
{
	uint64_t key = (uint64_t)a << 32 | b;

	key *= 0x9e3779b97f4a7c15ULL;
	key ^= key >> 32;
	key *= 0xff51afd7ed558ccdULL;
	return key >> (KEY_BITS - bits);
}

static struct pair_slot *probe(const struct pairs *p, uint32_t a, uint32_t b)
{
	size_t mask = ((size_t)1 << p->bits) - 1;
	size_t i = first_of(a, b, p->bits);

	while (p->slots[i].value_plus_1 && (p->slots[i].a != a || p->slots[i].b != b))
		i = (i + 1) & mask;
	return &p->slots[i];
}

/* False when memory is short. */
static bool grow(struct pairs *p)
{
	struct pairs bigger = { .bits = p->bits + (p->bits < QUICK_BITS ? 2 : 1),
				.nr = p->nr };
	size_t nr = slots_of(p);

	if (!p->slots)
		bigger.bits = FIRST_BITS;
	if (bigger.bits > MAX_BITS)
		return false;
	bigger.slots = huge_zalloc((size_t)1 << bigger.bits, sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	for (size_t i = 0; i < nr; i++) {
		const struct pair_slot *old = &p->slots[i];

		if (old->value_plus_1)
			*probe(&bigger, old->a, old->b) = *old;
	}
	huge_zfree(p->slots, nr, sizeof(*p->slots));
	*p = bigger;
	return true;
}

uint32_t *pairs_at(struct pairs *p, uint32_t a, uint32_t b, bool *ret_new)
{
	struct pair_slot *slot;

	/* At most 5/8 full: with linear probing a miss then looks at 4 slots. */
	if ((p->nr + 1) * 8 > slots_of(p) * 5 && !grow(p))
		return NULL;
	slot = probe(p, a, b);
	*ret_new = !slot->value_plus_1;
	if (*ret_new) {
		*slot = (struct pair_slot){ a, b, 1 };
		p->nr++;
	}
	return &slot->value_plus_1;
}

uint32_t pairs_get(const struct pairs *p, uint32_t a, uint32_t b)
{
	return p->slots ? probe(p, a, b)->value_plus_1 : 0;
}

void pairs_prefetch(const struct pairs *p, uint32_t a, uint32_t b)
{
	if (p->slots)
		__builtin_prefetch(&p->slots[first_of(a, b, p->bits)]);
}

void pairs_done(struct pairs *p)
{
	huge_zfree(p->slots, slots_of(p), sizeof(*p->slots));
	*p = (struct pairs){ 0 };
}
