/* SPDX-License-Identifier: GPL-2.0-or-later */
/* strtab.h - strings kept once, known by a number.
 * Layer: base.  Number 0 is always the empty string. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/containers/pairs.h"
#include "base/containers/vec.h"

struct strtab {
	VEC(char *) strings;
	struct pairs
		by_hash; /* halves of hash and turn, which resolves collisions -> number */
};

enum {
	STRTAB_FAILED = 0xffffffff
};

/* 0 or -ENOMEM. */
int strtab_init(struct strtab *t);
/* The number of `s`, added if new; STRTAB_FAILED when memory is short. */
uint32_t strtab_add(struct strtab *t, const char *s);
/* The same of the first `len` bytes, or of those before a NUL among them. */
uint32_t strtab_add_len(struct strtab *t, const char *s, size_t len);
/* The number of `s` or STRTAB_FAILED if it was never added. */
uint32_t strtab_find(const struct strtab *t, const char *s);
/* The string; "" for a number that is not there. Lives as long as the table. */
const char *strtab_get(const struct strtab *t, uint32_t number);
void strtab_done(struct strtab *t);
