/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/find/file_index.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/containers/vec.h"
#include "base/files/faults.h"
#include "base/files/tree.h"
#include "resolve/symbols/module_name.h"

struct file_index_file {
	char *path;
	const char *name; /* points into `path` */
};

struct file_index {
	VEC(struct file_index_file)
	files; /* sorted by name (file_index_compare_names()), then path */
};

/* Like strcmp(), but treats '-', ',' and '_' as the same character. */
static int file_index_compare_names(const char *a, const char *b)
{
	while (*a && (unsigned char)module_name_char(*a) ==
			     (unsigned char)module_name_char(*b)) {
		a++;
		b++;
	}
	return (unsigned char)module_name_char(*a) -
	       (unsigned char)module_name_char(*b);
}

static int file_index_compare_files(const void *a, const void *b)
{
	const struct file_index_file *of_a = a;
	const struct file_index_file *of_b = b;
	int r = file_index_compare_names(of_a->name, of_b->name);

	return r ? r : strcmp(of_a->path, of_b->path);
}

/* Adds a file. Takes ownership of `path`, which must contain a slash. Returns 0, or -ENOMEM also if
 * there are too many files. */
static int file_index_add_file(struct file_index *index, char *path)
{
	struct file_index_file f = { path, strrchr(path, '/') + 1 };

	if (index->files.nr < FILE_INDEX_FILES_MAX && vec_push(&index->files, f))
		return 0;
	free(path);
	return -ENOMEM;
}

static int file_index_add_folder(struct file_index *index, const char *folder,
				 int depth);

/* Adds a file, or the files of a directory. readdir(3) usually returns the type, so that stat()
 * is not needed. */
static int file_index_add_entry(struct file_index *index, const char *folder,
				const struct dirent *entry, int depth)
{
	unsigned char type = entry->d_type;
	struct stat st;
	char *path;
	int r = 0;

	if (asprintf(&path, "%s/%s", folder, entry->d_name) < 0)
		return -ENOMEM;
	if (type == DT_UNKNOWN && !lstat(path, &st))
		type = IFTODT(st.st_mode);
	if (type == DT_LNK && !fault_stat(path, &st) && S_ISREG(st.st_mode))
		type = DT_REG;
	if (type == DT_REG)
		return file_index_add_file(index, path);
	if (type == DT_DIR && depth < FILE_INDEX_DEPTH_MAX)
		r = file_index_add_folder(index, path, depth + 1);
	free(path);
	return r;
}

/* NOLINTNEXTLINE(misc-no-recursion): limited by FILE_INDEX_DEPTH_MAX */
static int file_index_add_folder(struct file_index *index, const char *folder,
				 int depth)
{
	const struct dirent *entry;
	DIR *dir = tree_open(folder);
	int r = 0;

	if (!dir)
		return 0;
	while (!r && (entry = tree_next(dir)))
		r = file_index_add_entry(index, folder, entry, depth);
	closedir(dir);
	return r;
}

/* Removes duplicates: a file can be below two of the directories. */
static void drop_duplicates(struct file_index *index)
{
	size_t nr = 0;

	for (size_t i = 0; i < index->files.nr; i++) {
		struct file_index_file *f = &index->files.at[i];

		if (nr && !strcmp(f->path, index->files.at[nr - 1].path))
			free(f->path);
		else
			index->files.at[nr++] = *f;
	}
	index->files.nr = nr;
}

int file_index_new(const char *const *folders, struct file_index **ret_index)
{
	struct file_index *index = calloc(1, sizeof(*index));
	int r = index ? 0 : -ENOMEM;

	for (; !r && *folders; folders++)
		r = file_index_add_folder(index, *folders, 0);
	if (r) {
		file_index_free(index);
		return r;
	}
	if (index->files.nr)
		qsort(index->files.at, index->files.nr, sizeof(*index->files.at),
		      file_index_compare_files);
	drop_duplicates(index);
	*ret_index = index;
	return 0;
}

void file_index_free(struct file_index *index)
{
	if (!index)
		return;
	for (size_t i = 0; i < index->files.nr; i++)
		free(index->files.at[i].path);
	vec_done(&index->files);
	free(index);
}

/* Returns the index of the first file whose name is not less than `name`. */
static size_t file_index_first_of(const struct file_index *index, const char *name)
{
	size_t low = 0;
	size_t high = index->files.nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (file_index_compare_names(index->files.at[mid].name, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static const char *file_index_lookup(const struct file_index *index, const char *name,
				     size_t n, bool exactly)
{
	for (size_t i = file_index_first_of(index, name); i < index->files.nr; i++) {
		const struct file_index_file *f = &index->files.at[i];

		if (file_index_compare_names(f->name, name) != 0)
			break;
		if (exactly && strcmp(f->name, name) != 0)
			continue;
		if (!n--)
			return f->path;
	}
	return NULL;
}

const char *file_index_get(const struct file_index *index, const char *name, size_t n)
{
	return file_index_lookup(index, name, n, true);
}

const char *file_index_module(const struct file_index *index, const char *module,
			      size_t n)
{
	/* ".debug" is the suffix of debug packages. */
	static const char *const ends[] = { "", ".xz", ".zst", ".gz", ".debug" };
	const char *found = NULL;
	char *name;

	for (size_t i = 0; !found && i < COUNT_OF(ends); i++) {
		if (asprintf(&name, "%s.ko%s", module, ends[i]) < 0)
			return NULL;
		for (size_t k = 0;
		     (found = file_index_lookup(index, name, k, false)) && n; k++)
			n--;
		free(name);
	}
	return found;
}
