/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pairs.h - hash table from a pair of 32-bit numbers to a 32-bit number: the index of tries, whose
 * nodes are found by their parent and what leads to them.
 * Layer: base.  Open addressing, never shrinks, nothing is deleted. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pair_slot {
	uint32_t a;
	uint32_t b;
	uint32_t value_plus_1; /* 0: empty slot */
};

struct pairs {
	struct pair_slot *slots;
	size_t mask; /* number of slots - 1; 0 while there is no table */
	size_t nr;
};

/* One probe for "find or add": the slot's value cell.  *ret_new: the pair was added, and the
 * caller must store value + 1.  NULL when memory is short.  Good until the next call. */
uint32_t *pairs_at(struct pairs *p, uint32_t a, uint32_t b, bool *ret_new);
/* The value plus 1, or 0: there is no such pair. */
uint32_t pairs_get(const struct pairs *p, uint32_t a, uint32_t b);
/* Has the memory fetched in which the pair will be looked for. */
void pairs_prefetch(const struct pairs *p, uint32_t a, uint32_t b);
void pairs_done(struct pairs *p);
