/* SPDX-License-Identifier: GPL-2.0-or-later */
/* strtab.h - stores each string once and numbers it.
 * Layer: base.  Number 0 is always the empty string. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/containers/pairs.h"
#include "base/containers/vec.h"

struct strtab {
	VEC(char *) strings;
	/* Hash and probe number of a string -> its number. The probe number distinguishes strings
	 * with the same hash. */
	struct pairs by_hash;
};

enum {
	STRTAB_FAILED = 0xffffffff
};

/* Initializes a table that contains the empty string. Returns 0 or -ENOMEM. */
int strtab_init(struct strtab *t);
/* Returns the number of `s`, which is added if it is new, or STRTAB_FAILED if memory is short. */
uint32_t strtab_add(struct strtab *t, const char *s);
/* Like strtab_add(), for the first `len` bytes of `s`, or for fewer if they contain a NUL. */
uint32_t strtab_add_len(struct strtab *t, const char *s, size_t len);
/* Returns the number of `s`, or STRTAB_FAILED if it was never added. */
uint32_t strtab_find(const struct strtab *t, const char *s);
/* Returns the string, or "" for an unknown number. It lives as long as the table. */
const char *strtab_get(const struct strtab *t, uint32_t number);
void strtab_done(struct strtab *t);
