/* SPDX-License-Identifier: GPL-2.0-or-later */
/* map.h - hash table from a pair of 64-bit keys to a 32-bit value (an index).
 * Layer: base.  Open addressing; the table never shrinks. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot {
	uint64_t a;
	uint64_t b;
	uint32_t value_plus_1; /* 0: empty slot */
	uint32_t more;         /* the user's, 0 in a new slot */
};

struct map {
	struct map_slot *slots;
	size_t mask; /* number of slots - 1; 0 while there is no table */
	size_t nr;
};

enum {
	MAP_NONE = 0xffffffff /* "no such key"; also not storable as a value */
};

/* The value at (a, b), or MAP_NONE. */
uint32_t map_get(const struct map *m, uint64_t a, uint64_t b);
/* Adds or replaces.  0 or -ENOMEM. */
int map_set(struct map *m, uint64_t a, uint64_t b, uint32_t value);
/* Has the memory fetched in which the key will be looked for. */
void map_prefetch(const struct map *m, uint64_t a, uint64_t b);
/* One probe for "find or add": returns the slot's value cell.  *ret_new tells whether the
 * key was added (the caller must then store index + 1 in value_plus_1).
 * NULL when memory is short.  The pointer is good until the next call. */
struct map_slot *map_at(struct map *m, uint64_t a, uint64_t b, bool *ret_new);
/* Removes a key; one that is not there is fine. */
void map_remove(struct map *m, uint64_t a, uint64_t b);
/* For lists of values under one `a`, at (a, 0), (a, 1) and so on without gaps: removes `value` from
 * the list, and the last value takes its position.  A value that is not there is fine. */
void map_remove_from_list(struct map *m, uint64_t a, uint32_t value);
void map_done(struct map *m);
