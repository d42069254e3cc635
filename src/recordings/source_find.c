/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recordings/source_find.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/comma.h"
#include "base/err.h"
#include "base/files/faults.h"
#include "base/files/io.h"
#include "record/keep/copy_rule.h"

static void paths_done(source_find_paths *p)
{
	for (size_t i = 0; i < p->nr; i++)
		free(p->at[i]);
	vec_done(p);
}

static int source_find_split(const char *list, source_find_paths *ret_paths,
			     struct err *err)
{
	while (list) {
		char *path = comma_next(&list);

		if (!path || !vec_push(ret_paths, path)) {
			free(path);
			return err_set(err, -ENOMEM, "out of memory");
		}
	}
	return 0;
}

static int check_folders(const source_find_paths *folders, struct err *err)
{
	struct stat st;

	for (size_t i = 0; i < folders->nr; i++)
		if (stat(folders->at[i], &st) || !S_ISDIR(st.st_mode))
			return err_set(err, -EINVAL,
				       "--search-dirs: %s isn't a valid directory",
				       folders->at[i]);
	return 0;
}

int source_find_init(struct source_find *f, const struct source_find_options *options,
		     struct err *err)
{
	int r;

	*f = (struct source_find){ .archive = options->archive, .root = options->root };
	r = source_find_split(options->search_dirs, &f->search, err);
	if (!r)
		r = source_find_split(options->base_dirs, &f->base, err);
	if (!r)
		r = check_folders(&f->search, err);
	return r;
}

void source_find_done(struct source_find *f)
{
	paths_done(&f->search);
	paths_done(&f->base);
}

static bool source_find_is_file(const char *path)
{
	struct stat st;

	return !fault_stat(path, &st) && S_ISREG(st.st_mode);
}

/* Returns DIR/PATH (malloc'd) if the file exists. */
static char *file_below(const char *dir, const char *path)
{
	char *file;

	if (asprintf(&file, "%s/%s", dir, path) < 0)
		return NULL;
	if (source_find_is_file(file))
		return file;
	free(file);
	return NULL;
}

/* Returns the part of `path` that follows the directory `dir`, or NULL if `path` is not below
 * it. */
static const char *source_find_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	while (len && dir[len - 1] == '/')
		len--;
	return len && !strncmp(path, dir, len) && path[len] == '/' ? path + len + 1
								   : NULL;
}

/* Returns DIR/PATH, or DIR with the longest trailing part of PATH for which a file exists. */
static char *file_of_end(const char *dir, const char *path)
{
	char *file = NULL;

	for (const char *at = path; !file && at; at = strchr(at, '/')) {
		at += strspn(at, "/");
		file = file_below(dir, at);
	}
	return file;
}

/* Searches the directories of --search-dirs: first for the path relative to a base directory,
 * then for the longest trailing part of the path that exists. */
static char *source_find_search(const struct source_find *f, const char *path)
{
	char *file = NULL;

	for (size_t i = 0; !file && i < f->search.nr; i++) {
		for (size_t k = 0; !file && k < f->base.nr; k++) {
			const char *rest = source_find_below(path, f->base.at[k]);

			if (rest)
				file = file_below(f->search.at[i], rest);
		}
		if (!file)
			file = file_of_end(f->search.at[i], path);
	}
	return file;
}

/* Returns the file at its recorded path, or NULL. */
static char *find_at_path(const struct source_find *f, const char *path, bool here)
{
	const char *root = f->archive ? f->archive : f->root;

	if (root)
		return file_below(root, path + 1);
	return here && source_find_is_file(path) ? strdup(path) : NULL;
}

char *source_find(const struct source_find *f, const char *path, bool here)
{
	char *file = find_at_path(f, path, here);

	return file ? file : source_find_search(f, path);
}

static int source_find_open_file(const char *path)
{
	return fault_unreadable_try(path, io_open_regular(path, 0));
}

/* Opens a file if copy_rule_allows() it, else returns -EACCES. Checks the open file instead of
 * its path, which another process can redirect in between. */
static int open_handed_on(const char *file, const char *binary)
{
	int fd = source_find_open_file(file);

	if (fd < 0 || copy_rule_allows(fd, file, binary))
		return fd;
	close(fd);
	return -EACCES;
}

int source_find_open(const struct source_find *f, const char *path, bool here,
		     const char *binary, char **ret_file)
{
	char *file = find_at_path(f, path, here);
	char *named = NULL;
	int fd = -ENOENT;

	if (file && f->archive)
		fd = source_find_open_file(file);
	else if (file)
		fd = open_handed_on(file, binary);
	if (fd < 0)
		named = source_find_search(f, path);
	if (named) {
		free(file);
		file = named;
		fd = source_find_open_file(file);
	}
	if (fd < 0 && fd != -EACCES) {
		free(file);
		file = NULL;
	}
	*ret_file = file;
	return fd;
}
