/* SPDX-License-Identifier: GPL-2.0-or-later */
/* name_pool.h - reference-counted strings that are identified by a number.
 * Layer: base.  Number 0 is always the empty string. The number of a freed string is reused.
 * strtab.h keeps all strings instead, and is smaller. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/containers/map.h"
#include "base/containers/vec.h"

enum {
	/* no name; name_pool_get() returns it if memory is short */
	NAME_POOL_NONE = 0xffffffff
};

struct pooled_name {
	char *text; /* NULL: unused */
	uint32_t refs;
	uint32_t
		number; /* a number that the caller may use; NAME_POOL_NONE in a new name */
};

struct name_pool {
	VEC(struct pooled_name) names;
	VEC(uint32_t) unused;
	size_t text_bytes;  /* total length of all strings, with their NULs */
	struct map by_hash; /* the list of names with each hash */
};

/* Initializes a pool. Returns 0 or -ENOMEM. */
int name_pool_init(struct name_pool *p);
void name_pool_done(struct name_pool *p);
/* Returns the number of `text` and adds a reference to it. Returns NAME_POOL_NONE if memory is
 * short. */
uint32_t name_pool_get(struct name_pool *p, const char *text);
/* name_pool_share() adds a reference and returns `name`; name_pool_put() removes one. Both accept
 * NAME_POOL_NONE. */
uint32_t name_pool_share(struct name_pool *p, uint32_t name);
void name_pool_put(struct name_pool *p, uint32_t name);
/* Returns the string, which lives as long as its references, or "" for NAME_POOL_NONE. */
const char *name_pool_text(const struct name_pool *p, uint32_t name);
/* Returns the number of strings, including the empty one. */
size_t name_pool_count(const struct name_pool *p);
