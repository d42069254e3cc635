/* SPDX-License-Identifier: GPL-2.0-or-later */
/* list.c - lists the segment files of a session that a reader should use. */
#include "format/session/session.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/vec.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/parse.h"

#define SEGMENT_PREFIX "segment-"

enum {
	SEGMENT_DIGITS = 6 /* minimum number of digits; numbers can be longer */
};

struct session_list_files {
	VEC(struct session_file) v;
};

/* Parses a number of at least six digits, without further leading zeros. Returns false if the text
 * is not such a number. */
static bool parse_number(const char *text, size_t len, uint64_t *ret_number)
{
	char digits[24];

	if (len < SEGMENT_DIGITS || len >= sizeof(digits) ||
	    (text[0] == '0' && len > SEGMENT_DIGITS) ||
	    strspn(text, "0123456789") < len)
		return false;
	memcpy(digits, text, len);
	digits[len] = 0;
	return parse_u64_max(digits, UINT64_MAX - 1, ret_number);
}

/* Parses the name of a segment file, "segment-000123" or "segment-000123-000456". Returns false
 * for other names, such as "segment-000123.tmp". */
static bool session_list_parse_name(const char *name, struct session_file *ret_file)
{
	size_t prefix = strlen(SEGMENT_PREFIX);
	const char *digits = name + prefix;
	size_t len;

	if (strncmp(name, SEGMENT_PREFIX, prefix) != 0)
		return false;
	len = strcspn(digits, "-");
	*ret_file = (struct session_file){ 0 };
	if (!parse_number(digits, len, &ret_file->first))
		return false;
	ret_file->last = ret_file->first;
	if (!digits[len])
		return true;
	digits += len + 1;
	return parse_number(digits, strlen(digits), &ret_file->last) &&
	       ret_file->last > ret_file->first;
}

/* Sorts by first number; a file that covers more segments comes first. */
static int session_list_compare(const void *a, const void *b)
{
	const struct session_file *x = a;
	const struct session_file *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return (x->last < y->last) - (x->last > y->last);
}

static void mark_covered(struct session_list_files *f)
{
	uint64_t last = 0;

	for (size_t i = 0; i < f->v.nr; i++) {
		struct session_file *file = &f->v.at[i];

		file->covered = i && file->last <= last;
		if (!file->covered)
			last = file->last;
	}
}

/* Lists the segment files of a directory. Returns 0 or a negative errno. The caller calls
 * vec_done() in any case. */
static int read_files(const char *dir, struct session_list_files *f)
{
	const struct dirent *entry;
	DIR *handle;
	int r = io_open_dir(dir, &handle);

	if (r)
		return r;
	errno = 0;
	while (!r && (entry = readdir(handle))) {
		struct session_file file;

		if (session_list_parse_name(entry->d_name, &file) &&
		    !vec_push(&f->v, file))
			r = -ENOMEM;
		errno = 0;
	}
	if (!r)
		r = -errno;
	closedir(handle);
	if (f->v.nr)
		qsort(f->v.at, f->v.nr, sizeof(f->v.at[0]), session_list_compare);
	mark_covered(f);
	return r;
}

char *session_file_path(const char *dir, const struct session_file *file)
{
	char *path;
	int len = file->last == file->first
			  ? asprintf(&path, "%s/" SEGMENT_PREFIX "%0*" PRIu64, dir,
				     SEGMENT_DIGITS, file->first)
			  : asprintf(&path,
				     "%s/" SEGMENT_PREFIX "%0*" PRIu64 "-%0*" PRIu64,
				     dir, SEGMENT_DIGITS, file->first, SEGMENT_DIGITS,
				     file->last);

	return len < 0 ? NULL : path;
}

int session_files(const char *dir, struct session_file **ret_files, size_t *ret_nr)
{
	struct session_list_files f = { 0 };
	int r = read_files(dir, &f);

	if (r) {
		vec_done(&f.v);
		return r;
	}
	*ret_files = f.v.at;
	*ret_nr = f.v.nr;
	return 0;
}

/* Returns the paths of the files that are not covered, and sets *ret_nr to their number. Returns
 * NULL if memory is short. */
static char **paths_of(const char *dir, const struct session_list_files *f,
		       size_t *ret_nr)
{
	char **paths = calloc(f->v.nr, sizeof(*paths));
	size_t nr = 0;

	for (size_t i = 0; paths && i < f->v.nr; i++) {
		if (f->v.at[i].covered)
			continue;
		paths[nr] = session_file_path(dir, &f->v.at[i]);
		if (!paths[nr]) {
			session_list_free(paths, nr);
			return NULL;
		}
		nr++;
	}
	*ret_nr = nr;
	return paths;
}

int session_list(const char *dir, char ***ret_paths, size_t *ret_nr, struct err *err)
{
	struct session_list_files f = { 0 };
	char **paths = NULL;
	int r = read_files(dir, &f);

	if (r == -ENOTDIR)
		r = -ENOENT;
	if (!r && !f.v.nr) {
		r = err_set(err, -ENOENT, "'%s' contains no session", dir);
		goto out;
	}
	if (!r) {
		paths = paths_of(dir, &f, ret_nr);
		r = paths ? 0 : -ENOMEM;
	}
	if (r) {
		err_sys(err, r, "cannot read '%s'", dir);
		goto out;
	}
	*ret_paths = paths;
out:
	vec_done(&f.v);
	return r;
}

void session_list_free(char **paths, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(paths[i]);
	free(paths);
}

int session_next_path(const char *dir, char **ret_path, struct err *err)
{
	struct session_file next = { 0 };
	struct session_list_files f = { 0 };
	int r = read_files(dir, &f);

	/* Use a number above all that exist, also in ranges of merged segments: otherwise one
	 * segment would hide the other. */
	for (size_t i = 0; !r && i < f.v.nr; i++)
		if (f.v.at[i].last > next.last)
			next.last = f.v.at[i].last;
	next.first = ++next.last;
	vec_done(&f.v);
	if (r)
		return err_sys(err, r, "cannot read '%s'", dir);
	*ret_path = session_file_path(dir, &next);
	return *ret_path ? 0 : err_set(err, -ENOMEM, "out of memory");
}
