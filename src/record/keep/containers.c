#include "record/keep/containers.h"

#include <string.h>
#include <sys/stat.h>

enum {
	MOUNTS = 5,     /* MNT_NS_INDEX of <linux/perf_event.h> */
	LINK_BYTES = 16 /* device and inode */
};

void containers_init(struct containers *c)
{
	struct stat st, root, first_root;

	*c = (struct containers){ 0 };
	if (!stat("/proc/self/ns/mnt", &st))
		c->own = st.st_ino;
	if (!stat("/", &root) && !stat("/proc/1/root/", &first_root) &&
	    root.st_dev == first_root.st_dev && root.st_ino == first_root.st_ino &&
	    !stat("/proc/1/ns/mnt", &st) && st.st_ino != c->own)
		c->host = st.st_ino;
}

void containers_done(struct containers *c)
{
	map_done(&c->inside);
	map_done(&c->known);
}

/* Without the memory for a note the process is taken as one of ours. */
bool containers_take(struct containers *c, const struct record_namespaces *n)
{
	struct map_slot *slot;
	uint64_t inode;
	bool is_new;

	if (n->nr <= MOUNTS || !c->own)
		return false;
	/* Of this machine's byte order. */
	memcpy(&inode, n->links + MOUNTS * LINK_BYTES + sizeof(inode), sizeof(inode));
	if (inode == c->own || (c->host && inode == c->host)) {
		if (containers_has(c, n->pid))
			(void)map_set(&c->inside, (uint32_t)n->pid, 0, 0);
		return false;
	}
	(void)map_set(&c->inside, (uint32_t)n->pid, 0, 1);
	slot = map_at(&c->known, inode, 0, &is_new);
	if (!slot)
		return false;
	slot->value_plus_1 = 1;
	return is_new;
}

bool containers_has(const struct containers *c, int32_t pid)
{
	return map_get(&c->inside, (uint32_t)pid, 0) == 1;
}
