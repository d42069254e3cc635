/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/keep/containers.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "base/containers/vec.h"

enum {
	MOUNTS = 5,      /* MNT_NS_INDEX of <linux/perf_event.h> */
	LINK_BYTES = 16, /* device and inode */
	/* Maximum number of pids before those of ended processes are dropped. */
	INSIDE_MAX = 16384
};

void containers_init(struct containers *c)
{
	struct stat st, root, first_root;

	*c = (struct containers){ 0 };
	if (!stat("/proc/self/ns/mnt", &st))
		c->own = st.st_ino;
	if (!stat("/", &root) && !stat("/proc/1/root", &first_root) &&
	    root.st_dev == first_root.st_dev && root.st_ino == first_root.st_ino &&
	    !stat("/proc/1/ns/mnt", &st) && st.st_ino != c->own)
		c->host = st.st_ino;
}

void containers_done(struct containers *c)
{
	map_done(&c->inside);
	map_done(&c->known);
}

/* Drops ended processes. Otherwise, a user who can create containers could fill the set with every
 * pid of the machine. */
static void forget_ended(struct containers *c)
{
	VEC(int32_t) ended = { 0 };

	for (size_t i = 0; c->inside.slots && i <= c->inside.mask; i++) {
		const struct map_slot *slot = &c->inside.slots[i];
		int32_t pid = (int32_t)slot->a;

		if (slot->value_plus_1 && kill(pid, 0) && errno == ESRCH &&
		    !vec_push(&ended, pid))
			break;
	}
	for (size_t i = 0; i < ended.nr; i++)
		map_remove(&c->inside, (uint32_t)ended.at[i], 0);
	vec_done(&ended);
	c->max_inside = 2 * c->inside.nr;
}

static void add_inside_container(struct containers *c, int32_t pid)
{
	if (c->inside.nr >= INSIDE_MAX && c->inside.nr >= c->max_inside)
		forget_ended(c);
	(void)map_set(&c->inside, (uint32_t)pid, 0, 0);
}

/* Stores whether the process is in a container. If memory is short, it counts as being in our
 * namespace. */
bool containers_take(struct containers *c, const struct record_namespaces *n)
{
	struct map_slot *slot;
	uint64_t inode;
	bool is_new;

	if (n->nr <= MOUNTS || !c->own)
		return false;
	/* The record is from this machine, so its numbers have our byte order. */
	memcpy(&inode, n->links + MOUNTS * LINK_BYTES + sizeof(inode), sizeof(inode));
	if (inode == c->own || (c->host && inode == c->host)) {
		map_remove(&c->inside, (uint32_t)n->pid, 0);
		return false;
	}
	add_inside_container(c, n->pid);
	slot = map_at(&c->known, inode, 0, &is_new);
	if (!slot)
		return false;
	slot->value_plus_1 = 1;
	return is_new;
}

bool containers_has(const struct containers *c, int32_t pid)
{
	return map_get(&c->inside, (uint32_t)pid, 0) != MAP_NONE;
}
