/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ties.h - expresses the order of groups by some of their keys as one number per group, so that
 * sorting a long report compares numbers instead of names.
 * Layer: present. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "aggregate/selection/keys.h"

struct profile;

/* The attribute of a key that is compared. */
enum tie_by {
	TIE_BY_VALUE,    /* as the key's column compares it */
	TIE_BY_BASE,     /* the part of a path after its last slash */
	TIE_BY_VMA,      /* the start address of a function */
	TIE_BY_FUNCTION, /* start address, then name */
	TIE_BY_PLACE,    /* source file as a text, then line as a number */
	TIE_BY_BASENAME  /* like TIE_BY_PLACE, without the file's directory */
};

struct tie_key {
	size_t key; /* index among the profile's keys */
	enum tie_by by;
};

struct tie_keys {
	struct tie_key at[KEY_ID_COUNT + 6]; /* all keys and all of --sort */
	size_t nr;
};

/* Sets ties[group] so that smaller numbers sort first and equal numbers mean equal keys.
 * Returns 0, -ENOMEM, or -E2BIG if the keys have too many combinations for 64 bits. */
int ties_make(struct profile *p, const struct tie_keys *keys, uint64_t *ties);
/* Compares two groups as ties_make() orders them.  Returns a number below, equal to or above 0. */
int ties_compare(struct profile *p, const struct tie_keys *keys, uint32_t a,
		 uint32_t b);
