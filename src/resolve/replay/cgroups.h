/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cgroups.h - the cgroups that records have named, by their ids.
 * Layer: resolve. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/map.h"
#include "base/containers/name_pool.h"
#include "base/containers/vec.h"

struct cgroup_table {
	struct name_pool *names; /* of their paths; borrowed */
	struct map by_id;        /* id -> name, with a reference */
	bool is_bounded;
	VEC(uint64_t) recent; /* bounded: ids in order of their records, in a circle */
	size_t next;          /* the oldest of a full circle */
};

/* `is_bounded`: it can be asked for cgroups that it does not know any more, so that it keeps only the
 * newest of those that no sample hit. */
void cgroup_table_init(struct cgroup_table *t, struct name_pool *names,
		       bool is_bounded);
void cgroup_table_done(struct cgroup_table *t);
/* 0 or -ENOMEM. */
int cgroup_table_set(struct cgroup_table *t, uint64_t id, const char *path);
/* The name of its path, borrowed; NAME_POOL_NONE: it is not known. */
uint32_t cgroup_table_get(const struct cgroup_table *t, uint64_t id);
