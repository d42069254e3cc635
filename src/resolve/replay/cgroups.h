/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cgroups.h - the cgroups that records have named, by id.
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
	/* Bounded: ids in order of their records, a ring buffer. */
	VEC(uint64_t)
	recent;
	size_t next; /* index of the oldest id once the ring buffer is full */
};

/* Initializes an empty table. With `is_bounded`, it keeps the cgroups with samples and only the
 * newest 4096 others: the caller can look up a dropped cgroup again. */
void cgroup_table_init(struct cgroup_table *t, struct name_pool *names,
		       bool is_bounded);
void cgroup_table_done(struct cgroup_table *t);
/* Sets the path of a cgroup. Returns 0 or -ENOMEM. */
int cgroup_table_set(struct cgroup_table *t, uint64_t id, const char *path);
/* Returns the name of a cgroup's path (borrowed), or NAME_POOL_NONE if the cgroup is not known. */
uint32_t cgroup_table_get(const struct cgroup_table *t, uint64_t id);
