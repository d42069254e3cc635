/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pairs.h - a hash table from a pair of 32-bit numbers to a 32-bit number. Tries use it as their
 * index: it finds a node by its parent and a key.
 * Layer: base. Open addressing; it never shrinks, and entries are never deleted. */
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
	size_t mask; /* number of slots - 1; 0: no table yet */
	size_t nr;
};

/* Finds or adds a pair with one probe, and returns the slot's value, which is valid until the
 * next call. If *ret_new, the pair was added and the caller must store value + 1. Returns NULL
 * if memory is short. */
uint32_t *pairs_at(struct pairs *p, uint32_t a, uint32_t b, bool *ret_new);
/* Returns the value plus 1, or 0 if the pair does not exist. */
uint32_t pairs_get(const struct pairs *p, uint32_t a, uint32_t b);
/* Prefetches the memory where the pair will be looked up. */
void pairs_prefetch(const struct pairs *p, uint32_t a, uint32_t b);
void pairs_done(struct pairs *p);
