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
#include "format/session/session.h"

enum {
	LEVELS_MAX = 3 /* levels of directories: session, jit, jit/PID */
};

struct lost_file {
	char *path;
	bool is_empty; /* the file is a list that exists but is empty; otherwise it is missing */
};

struct side_files_check {
	VEC(struct lost_file) lost;
	const char *session;
	enum trust trust; /* the owners whose segments are read */
	int level;
	const char *dir; /* the directory whose list is read */
};

static int side_files_check_directory(struct side_files_check *c, const char *dir);

/* Adds a lost file. Takes ownership of `path`. */
static int side_files_note_lost(struct side_files_check *c, char *path, bool is_empty)
{
	if (path && vec_push(&c->lost, ((struct lost_file){ path, is_empty })))
		return 0;
	free(path);
	return -ENOMEM;
}

/* Returns true if a segment was written by a version that never leaves a list empty. Segments
 * that cannot be read are reported when their samples are read. */
static bool side_files_have_lists(const struct side_files_check *c)
{
	struct segment *s;
	char **paths;
	size_t nr;
	bool have = false;

	if (session_list(c->session, &paths, &nr, NULL))
		return false;
	for (size_t i = 0; !have && i < nr; i++) {
		if (segment_open(paths[i], c->trust, &s, NULL))
			continue;
		have = segment_info(s)->flags & SESSION_CHECKSUMS;
		segment_close(s);
	}
	session_list_free(paths, nr);
	return have;
}

/* Records a list of checksums as lost if it must exist but is missing or empty. `text_len` is
 * the length of the list with its final NUL; 0: there is no list. The directories below a
 * session must have lists, because another list contains them; the session itself must have one
 * if a segment says so. */
static int side_files_check_list(struct side_files_check *c, const char *list,
				 size_t text_len)
{
	bool is_empty = text_len == 1;

	if (text_len > 1 || (!(c->level && !is_empty) && !side_files_have_lists(c)))
		return 0;
	return side_files_note_lost(c, strdup(list), is_empty);
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
			return side_files_note_lost(c, path, false);
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
	if (!r)
		r = side_files_check_list(c, list, text.len);
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

/* Returns whether `dir` is still the same directory; another process can rename or remove the
 * session meanwhile. */
static bool side_files_is_same(const char *dir, const struct stat *before)
{
	struct stat now;

	return !stat(dir, &now) && now.st_dev == before->st_dev &&
	       now.st_ino == before->st_ino;
}

static void side_files_report(const struct lost_file *lost)
{
	if (lost->is_empty)
		fault_damaged(lost->path, "the file is empty");
	else
		fault_missing(lost->path);
}

int side_files_check(const char *dir, enum trust trust, uint64_t *ret_nr_missing)
{
	struct side_files_check c = { .session = dir, .trust = trust };
	struct stat before;
	int r = stat(dir, &before) ? -errno : side_files_check_directory(&c, dir);

	*ret_nr_missing = 0;
	if (!r && c.lost.nr && side_files_is_same(dir, &before))
		*ret_nr_missing = c.lost.nr;
	for (size_t i = 0; i < c.lost.nr; i++) {
		if (*ret_nr_missing)
			side_files_report(&c.lost.at[i]);
		free(c.lost.at[i].path);
	}
	vec_done(&c.lost);
	return r;
}
