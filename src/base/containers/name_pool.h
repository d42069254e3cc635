/* SPDX-License-Identifier: GPL-2.0-or-later */
/* name_pool.h - strings known by a number for as long as they are referred to.
 * Layer: base.  Number 0 is always the empty string; the number of a string that was freed is used
 * again.  strtab.h keeps every string instead, and is smaller. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/containers/map.h"
#include "base/containers/vec.h"

enum {
	NAME_POOL_NONE = 0xffffffff /* no name; "memory is short" of name_pool_get() */
};

struct pooled_name {
	char *text; /* NULL: an unused number */
	uint32_t refs;
	uint32_t number; /* the user's; NAME_POOL_NONE in a new one */
};

struct name_pool {
	VEC(struct pooled_name) names;
	VEC(uint32_t) unused;
	struct map by_hash; /* list of names under each hash */
};

/* 0 or -ENOMEM. */
int name_pool_init(struct name_pool *p);
void name_pool_done(struct name_pool *p);
/* The number of `text`, which has one reference more.  NAME_POOL_NONE when memory is short. */
uint32_t name_pool_get(struct name_pool *p, const char *text);
/* One reference more or less to a name; NAME_POOL_NONE is fine.  name_pool_share() returns `name`. */
uint32_t name_pool_share(struct name_pool *p, uint32_t name);
void name_pool_put(struct name_pool *p, uint32_t name);
/* Lives as long as the references; "" for NAME_POOL_NONE. */
const char *name_pool_text(const struct name_pool *p, uint32_t name);
/* How many there are now, the empty one included. */
size_t name_pool_count(const struct name_pool *p);
