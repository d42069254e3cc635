/* SPDX-License-Identifier: GPL-2.0-or-later */
/* side_files.c - checks that all files that accompany the segments of a session exist. */
#include "format/session/checksums.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/containers/vec.h"
#include "base/err.h"
#include "base/files/faults.h"
#include "format/session/checksum_list.h"

enum {
	LEVELS_MAX = 3 /* of directories: session, jit, jit/PID */
};

struct side_files_check {
	VEC(char *) missing; /* paths */
	int level;
	const char *dir; /* the directory whose list is read */
};

static int side_files_check_directory(struct side_files_check *c, const char *dir);

/* Takes ownership of `path`. */
static int side_files_note_missing(struct side_files_check *c, char *path)
{
	if (path && vec_push(&c->missing, path))
		return 0;
	free(path);
	return -ENOMEM;
}

static int side_files_check_promised(void *ctx, const char *name)
{
	struct side_files_check *c = ctx;
	size_t len = strlen(name);
	bool is_dir = name[len - 1] == '/';
	struct stat st;
	char *path;
	int r;

	if (asprintf(&path, "%s/%.*s", c->dir, (int)(len - is_dir), name) < 0)
		return -ENOMEM;
	if (lstat(path, &st)) {
		if (err_is_absent(-errno))
			return side_files_note_missing(c, path);
		fault_unreadable(path, -errno);
		free(path);
		return 0;
	}
	r = is_dir && c->level < LEVELS_MAX ? side_files_check_directory(c, path) : 0;
	free(path);
	return r;
}

/* Checks the directory of a session, or one that a list promises. */
static int side_files_check_directory(struct side_files_check *c, const char *dir)
{
	const char *above = c->dir;
	struct buf text = { 0 };
	char *list;
	int r;

	if (asprintf(&list, "%s/" CHECKSUMS_NAME, dir) < 0)
		return -ENOMEM;
	r = checksums_read_list(list, &text);
	if (!r && c->level && !text.len)
		r = side_files_note_missing(c, strdup(list));
	c->dir = dir;
	c->level++;
	if (!r && text.len)
		r = checksum_list_promised((char *)text.data, text.len,
					   side_files_check_promised, c);
	c->level--;
	c->dir = above;
	buf_done(&text);
	free(list);
	/* Other errors were reported already. */
	return r == -ENOMEM ? r : 0;
}

/* The session can be renamed or removed meanwhile. */
static bool side_files_is_same(const char *dir, const struct stat *before)
{
	struct stat now;

	return !stat(dir, &now) && now.st_dev == before->st_dev &&
	       now.st_ino == before->st_ino;
}

int side_files_check(const char *dir, uint64_t *ret_nr_missing)
{
	struct side_files_check c = { 0 };
	struct stat before;
	int r = stat(dir, &before) ? -errno : side_files_check_directory(&c, dir);

	*ret_nr_missing = 0;
	if (!r && c.missing.nr && side_files_is_same(dir, &before))
		*ret_nr_missing = c.missing.nr;
	for (size_t i = 0; i < c.missing.nr; i++) {
		if (*ret_nr_missing)
			fault_missing(c.missing.at[i]);
		free(c.missing.at[i]);
	}
	vec_done(&c.missing);
	return r;
}
