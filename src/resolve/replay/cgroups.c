/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/replay/cgroups.h"

#include <errno.h>

enum {
	RECENT_MAX = 4096
};

void cgroup_table_init(struct cgroup_table *t, struct name_pool *names, bool is_bounded)
{
	*t = (struct cgroup_table){ .names = names, .is_bounded = is_bounded };
}

void cgroup_table_done(struct cgroup_table *t)
{
	map_done(&t->by_id);
	vec_done(&t->recent);
}

static void cgroup_table_forget(struct cgroup_table *t, uint64_t id)
{
	uint32_t name = map_get(&t->by_id, id, 0);

	/* Keep the names of cgroups with samples: the dict contains them in any case. */
	if (name == MAP_NONE || t->names->names.at[name].number != NAME_POOL_NONE)
		return;
	map_remove(&t->by_id, id, 0);
	name_pool_put(t->names, name);
}

/* Bounds the table: a user with a delegated cgroup can create others in it as fast as
 * directories. */
static void note_recent(struct cgroup_table *t, uint64_t id)
{
	if (t->recent.nr < RECENT_MAX && vec_push(&t->recent, id))
		return;
	if (!t->recent.nr)
		return;
	cgroup_table_forget(t, t->recent.at[t->next]);
	t->recent.at[t->next] = id;
	t->next = (t->next + 1) % t->recent.nr;
}

int cgroup_table_set(struct cgroup_table *t, uint64_t id, const char *path)
{
	uint32_t old = map_get(&t->by_id, id, 0);
	uint32_t name = name_pool_get(t->names, path);

	if (name == NAME_POOL_NONE || map_set(&t->by_id, id, 0, name)) {
		name_pool_put(t->names, name);
		return -ENOMEM;
	}
	if (old != MAP_NONE)
		name_pool_put(t->names, old);
	else if (t->is_bounded)
		note_recent(t, id);
	return 0;
}

uint32_t cgroup_table_get(const struct cgroup_table *t, uint64_t id)
{
	return map_get(&t->by_id, id, 0); /* MAP_NONE is NAME_POOL_NONE */
}
