/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/upkeep/copies.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/containers/shares.h"
#include "base/containers/vec.h"
#include "base/files/charge.h"
#include "base/files/faults.h"
#include "base/files/io.h"
#include "format/session/checksums.h"

struct copy {
	char *path; /* NULL: removed */
	uint32_t user;
	uint64_t used_ns;
	uint64_t bytes;
};

struct copies_list {
	VEC(struct copy) copies; /* oldest first */
	struct shares by_user;   /* bytes */
	size_t nr_removed;
};

static int copies_add(struct copies_list *l, const FTSENT *entry)
{
	const struct stat *st = entry->fts_statp;
	struct copy copy = { .path = strdup(entry->fts_path),
			     .user = charge_get(entry->fts_path),
			     .used_ns = clock_ns(st->st_mtim),
			     .bytes = (uint64_t)st->st_size };

	if (copy.path && vec_grow(&l->copies) &&
	    !shares_add(&l->by_user, copy.user, copy.bytes)) {
		l->copies.at[l->copies.nr++] = copy;
		return 0;
	}
	free(copy.path);
	return -ENOMEM;
}

static int list_all(const char *dir, struct copies_list *l)
{
	char images[4096], jit[4096];
	char *const roots[] = { images, jit, NULL };
	FTSENT *entry;
	FTS *walk;
	int r = 0;

	if (snprintf(images, sizeof(images), "%s/images", dir) >= (int)sizeof(images) ||
	    snprintf(jit, sizeof(jit), "%s/jit", dir) >= (int)sizeof(jit))
		return 0;
	walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	if (!walk)
		return -ENOMEM;
	while (!r && (entry = fts_read(walk))) {
		if (entry->fts_info == FTS_F &&
		    strcmp(entry->fts_name, CHECKSUMS_NAME) != 0)
			r = copies_add(l, entry);
		else if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR ||
			 entry->fts_info == FTS_NS)
			fault_unreadable(entry->fts_path, -entry->fts_errno);
	}
	if (!r)
		fault_unreadable(dir, -errno);
	fts_close(walk);
	return r;
}

static int by_age(const void *a, const void *b)
{
	uint64_t one = ((const struct copy *)a)->used_ns;
	uint64_t other = ((const struct copy *)b)->used_ns;

	return (one > other) - (one < other);
}

/* Removes a directory that contains no copies, or only their checksum list. */
static void copies_remove_empty(const char *path)
{
	int fd = io_open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	bool empty = dir;

	errno = 0;
	while (empty && (entry = readdir(dir))) {
		empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
			!strcmp(entry->d_name, CHECKSUMS_NAME);
		errno = 0;
	}
	/* If the directory could not be read to its end, it may contain copies: keep the list. */
	empty = empty && !errno;
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	if (empty)
		(void)checksums_remove_directory(path);
}

static void copies_remove(struct copies_list *l, struct copy *copy)
{
	char *slash;

	(void)checksums_remove(copy->path);
	slash = strrchr(copy->path, '/');
	if (slash) {
		*slash = 0;
		copies_remove_empty(copy->path);
	}
	free(copy->path);
	copy->path = NULL;
	shares_remove(&l->by_user, copy->user, copy->bytes);
	l->nr_removed++;
}

static void copies_remove_unused(struct copies_list *l, uint64_t since_ns)
{
	for (size_t i = 0; i < l->copies.nr && l->copies.at[i].used_ns < since_ns; i++)
		copies_remove(l, &l->copies.at[i]);
}

/* Removes copies until they have at most `max_bytes`: each time, the oldest copy of the user with
 * the most bytes, so that no user loses copies to another who has more. */
static void copies_remove_excess(struct copies_list *l, uint64_t max_bytes)
{
	while (l->by_user.total > max_bytes) {
		uint32_t user =
			shares_giver(&l->by_user, l->by_user.users.at[0].user, 0);
		size_t i = 0;

		while (!l->copies.at[i].path || l->copies.at[i].user != user)
			i++;
		copies_remove(l, &l->copies.at[i]);
	}
}

/* Drops the lines of removed copies from the checksum list of directory `name`. Lists in
 * directories of processes were removed with them. */
static void copies_compact_list(const char *dir, const char *name)
{
	char path[4096];

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) < (int)sizeof(path))
		(void)checksums_compact(path);
}

int copies_bound(const char *dir, uint64_t max_bytes, uint64_t since_ns,
		 struct copies *ret_copies)
{
	struct copies_list l = { 0 };
	int r = list_all(dir, &l);

	if (l.copies.nr)
		qsort(l.copies.at, l.copies.nr, sizeof(*l.copies.at), by_age);
	if (!r)
		copies_remove_unused(&l, since_ns);
	if (!r && max_bytes)
		copies_remove_excess(&l, max_bytes);
	*ret_copies =
		(struct copies){ .bytes = l.by_user.total, .nr_removed = l.nr_removed };
	for (size_t i = 0; i < l.copies.nr; i++)
		free(l.copies.at[i].path);
	vec_done(&l.copies);
	if (l.nr_removed) {
		copies_compact_list(dir, "images");
		copies_compact_list(dir, "jit");
	}
	shares_done(&l.by_user);
	return r;
}
