/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/files/tree.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/vec.h"
#include "base/err.h"
#include "base/files/faults.h"
#include "base/files/io.h"
#include "base/files/path.h"

struct tree_walk {
	size_t skip; /* bytes of a path before the part relative to the top */
	tree_fn fn;
	void *ctx;
	struct err *err;
	VEC(char *) dirs; /* directories still to be read */
};

static int tree_visit(struct tree_walk *w, const char *dir, const char *name)
{
	struct tree_entry entry = { 0 };
	char *path;
	int r;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return err_set(w->err, -ENOMEM, "out of memory");
	entry.path = path;
	entry.below = path + w->skip;
	entry.name = path_base(path);
	if (lstat(path, &entry.st)) {
		r = err_is_absent(-errno)
			    ? 0
			    : err_sys(w->err, -errno, "cannot stat '%s'", path);
		free(path);
		return r;
	}
	r = w->fn(w->ctx, &entry);
	if (!r && S_ISDIR(entry.st.st_mode)) {
		if (vec_push(&w->dirs, path))
			return 0;
		r = err_set(w->err, -ENOMEM, "out of memory");
	}
	free(path);
	return r == TREE_SKIP ? 0 : r;
}

static int tree_read(struct tree_walk *w, const char *path, bool is_top)
{
	const struct dirent *entry;
	DIR *dir = opendir(path);
	int r = 0;

	if (!dir)
		return !is_top && err_is_absent(-errno)
			       ? 0
			       : err_sys(w->err, -errno, "cannot open '%s'", path);
	errno = 0;
	while (!r && (entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			r = tree_visit(w, path, entry->d_name);
		errno = 0;
	}
	if (!r && errno && (is_top || !err_is_absent(-errno)))
		r = err_sys(w->err, -errno, "cannot read '%s'", path);
	closedir(dir);
	return r;
}

int tree_walk(const char *top, tree_fn fn, void *ctx, struct err *err)
{
	struct tree_walk w = {
		.skip = strlen(top) + 1, .fn = fn, .ctx = ctx, .err = err
	};
	int r = tree_read(&w, top, true);

	while (!r && w.dirs.nr) {
		char *dir = w.dirs.at[--w.dirs.nr];

		r = tree_read(&w, dir, false);
		free(dir);
	}
	for (size_t i = 0; i < w.dirs.nr; i++)
		free(w.dirs.at[i]);
	vec_done(&w.dirs);
	return r;
}

DIR *tree_open(const char *dir)
{
	DIR *d = NULL;

	fault_unreadable(dir, io_open_dir(dir, &d));
	return d;
}

const struct dirent *tree_next(DIR *dir)
{
	const struct dirent *entry;

	do {
		errno = 0;
		entry = readdir(dir);
	} while (entry &&
		 (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")));
	if (!entry)
		fault_unreadable_fd(dirfd(dir), -errno);
	return entry;
}

int tree_list(const char *dir, int (*fn)(void *ctx, const char *name), void *ctx)
{
	const struct dirent *entry;
	DIR *d = tree_open(dir);
	int r = 0;

	while (d && !r && (entry = tree_next(d)))
		r = fn(ctx, entry->d_name);
	if (d)
		closedir(d);
	return r;
}
