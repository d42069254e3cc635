/* SPDX-License-Identifier: GPL-2.0-or-later */
/* map.h - a hash table from a pair of 64-bit keys to a 32-bit value (an index).
 * Layer: base.  Open addressing; the table never shrinks. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot {
	uint64_t a;
	uint64_t b;
	uint32_t value_plus_1; /* 0: empty slot */
	uint32_t more;         /* a number that the caller may use; 0 in a new slot */
};

struct map {
	struct map_slot *slots;
	size_t mask; /* number of slots - 1; 0: no table yet */
	size_t nr;
};

enum {
	MAP_NONE = 0xffffffff /* key not found; cannot be stored as a value */
};

/* Returns the value at (a, b), or MAP_NONE. */
uint32_t map_get(const struct map *m, uint64_t a, uint64_t b);
/* Adds or replaces a value. Returns 0 or -ENOMEM. */
int map_set(struct map *m, uint64_t a, uint64_t b, uint32_t value);
/* Prefetches the memory where the key will be looked up. */
void map_prefetch(const struct map *m, uint64_t a, uint64_t b);
/* Finds or adds a key with one probe, and returns its slot, which is valid until the next call.
 * If *ret_new, the key was added and the caller must store index + 1 in value_plus_1. Returns
 * NULL if memory is short. */
struct map_slot *map_at(struct map *m, uint64_t a, uint64_t b, bool *ret_new);
/* Removes a key if it exists. */
void map_remove(struct map *m, uint64_t a, uint64_t b);
/* Removes `value` from a list that is stored at the keys (a, 0), (a, 1) and so on without gaps:
 * moves the last value to its position. Does nothing if the list does not contain it. */
void map_remove_from_list(struct map *m, uint64_t a, uint32_t value);
void map_done(struct map *m);
