#include "format/session.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/parse.h"
#include "base/vec.h"

#define SEGMENT_PREFIX "segment-"

enum {
	SEGMENT_DIGITS = 6 /* at least; more once they are used up */
};

struct numbers {
	VEC(uint64_t) v;
};

/* "segment-000123", and nothing else such as "segment-000123.tmp". */
static bool parse_name(const char *name, uint64_t *ret_number)
{
	size_t prefix = strlen(SEGMENT_PREFIX);
	const char *digits = name + prefix;

	return !strncmp(name, SEGMENT_PREFIX, prefix) &&
	       strlen(digits) >= SEGMENT_DIGITS &&
	       (digits[0] != '0' || digits[SEGMENT_DIGITS] == '\0') &&
	       strspn(digits, "0123456789") == strlen(digits) &&
	       parse_u64_max(digits, UINT64_MAX - 1, ret_number);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* 0 or a negative errno; vec_done() is the caller's in any case. */
static int read_numbers(const char *dir, struct numbers *n)
{
	const struct dirent *entry;
	DIR *handle = opendir(dir);
	int r = 0;

	if (!handle)
		return -errno;
	errno = 0;
	while (!r && (entry = readdir(handle))) {
		uint64_t number;

		if (parse_name(entry->d_name, &number) && !vec_push(&n->v, number))
			r = -ENOMEM;
		errno = 0;
	}
	if (!r)
		r = -errno;
	closedir(handle);
	if (n->v.nr)
		qsort(n->v.at, n->v.nr, sizeof(n->v.at[0]), compare);
	return r;
}

static char *path_of(const char *dir, uint64_t number)
{
	char *path;

	if (asprintf(&path, "%s/" SEGMENT_PREFIX "%0*" PRIu64, dir, SEGMENT_DIGITS,
		     number) < 0)
		return NULL;
	return path;
}

static char **paths_of(const char *dir, const struct numbers *n)
{
	char **paths = calloc(n->v.nr, sizeof(*paths));

	for (size_t i = 0; paths && i < n->v.nr; i++) {
		paths[i] = path_of(dir, n->v.at[i]);
		if (paths[i])
			continue;
		while (i--)
			free(paths[i]);
		free(paths);
		return NULL;
	}
	return paths;
}

int session_list(const char *dir, char ***ret_paths, size_t *ret_nr, struct err *err)
{
	struct numbers n = { 0 };
	char **paths = NULL;
	int r = read_numbers(dir, &n);

	if (r == -ENOTDIR)
		r = -ENOENT;
	if (!r && !n.v.nr) {
		r = err_set(err, -ENOENT, "%s: no session is here", dir);
		goto out;
	}
	if (!r) {
		paths = paths_of(dir, &n);
		r = paths ? 0 : -ENOMEM;
	}
	if (r) {
		err_sys(err, r, "%s", dir);
		goto out;
	}
	*ret_paths = paths;
	*ret_nr = n.v.nr;
out:
	vec_done(&n.v);
	return r;
}

void session_list_free(char **paths, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(paths[i]);
	free(paths);
}

char *session_next_path(const char *dir)
{
	struct numbers n = { 0 };
	char *path = NULL;
	int r = read_numbers(dir, &n);

	/* A directory that cannot be read is for open() to complain about. */
	if (r != -ENOMEM)
		path = path_of(dir, n.v.nr ? n.v.at[n.v.nr - 1] + 1 : 1);
	vec_done(&n.v);
	return path;
}
