/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "archive/make/names.h"

#include <errno.h>
#include <string.h>

#include "base/containers/hash.h"
#include "format/archive/layout.h"

enum {
	FILES,
	DIRS
};

static uint64_t archive_names_key(const char *name, size_t len)
{
	return hash_bytes(name, len, 0);
}

uint32_t archive_names_find(const struct archive_names *n, const char *name)
{
	return map_get(&n->map, archive_names_key(name, strlen(name)), FILES);
}

static bool is_below_file(const struct archive_names *n, const char *name)
{
	for (const char *at = name; (at = strchr(at, '/')); at++)
		if (map_get(&n->map, archive_names_key(name, (size_t)(at - name)),
			    FILES) != MAP_NONE)
			return true;
	return false;
}

enum archive_name_state archive_names_check(const struct archive_names *n,
					    const char *name, const struct stat *st)
{
	uint32_t number = archive_names_find(n, name);
	const struct archive_origin *origin;

	if (number == MAP_NONE)
		return is_below_file(n, name) ||
				       map_get(&n->map,
					       archive_names_key(name, strlen(name)),
					       DIRS) != MAP_NONE
			       ? ARCHIVE_NAME_OTHER
			       : ARCHIVE_NAME_FREE;
	origin = &n->origins.at[number];
	return !st || !origin->inode || archive_name_cached(name) ||
			       (st->st_dev == origin->dev &&
				st->st_ino == origin->inode)
		       ? ARCHIVE_NAME_SAME
		       : ARCHIVE_NAME_OTHER;
}

int archive_names_add(struct archive_names *n, const char *name, const struct stat *st)
{
	struct archive_origin origin = { 0 };

	if (st)
		origin = (struct archive_origin){ st->st_dev, st->st_ino };
	if (!vec_push(&n->origins, origin) ||
	    map_set(&n->map, archive_names_key(name, strlen(name)), FILES,
		    (uint32_t)(n->origins.nr - 1)))
		return -ENOMEM;
	for (const char *at = name; (at = strchr(at, '/')); at++)
		if (map_set(&n->map, archive_names_key(name, (size_t)(at - name)), DIRS,
			    0))
			return -ENOMEM;
	return 0;
}

void archive_names_done(struct archive_names *n)
{
	map_done(&n->map);
	vec_done(&n->origins);
}
