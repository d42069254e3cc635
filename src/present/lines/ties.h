/* ties.h - the order of groups by some of their keys as one number a group, so that sorting
 * a long report compares numbers and not names.
 * Layer: present. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "aggregate/selection/keys.h"

struct profile;

/* By what of a key. */
enum tie_by {
	TIE_BY_VALUE,   /* the key's column says how */
	TIE_BY_VMA,     /* of a function: where it begins */
	TIE_BY_FUNCTION /* where it begins, then its name */
};

struct tie_key {
	size_t key; /* position among the profile's keys */
	enum tie_by by;
};

struct tie_keys {
	struct tie_key at[KEY_ID_COUNT + 6]; /* all keys, and all of --sort */
	size_t nr;
};

/* Fills ties[group]: a smaller number comes first, equal numbers are equal in all keys.  0,
 * -ENOMEM, or -E2BIG when the keys have too many combinations for 64 bits. */
int ties_make(struct profile *p, const struct tie_keys *keys, uint64_t *ties);
/* The same order of two groups: below, at or above 0. */
int ties_compare(struct profile *p, const struct tie_keys *keys, uint32_t a,
		 uint32_t b);
