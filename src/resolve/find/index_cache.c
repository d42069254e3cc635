/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/find/index_cache.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/digits.h"
#include "base/files/io.h"
#include "base/files/trust.h"
#include "base/parse.h"

enum {
	/* Age of an abandoned temporary file; writing takes seconds. */
	STALE_SECONDS = 3600
};

#define SUFFIX ".lines"
#define UNWIND_SUFFIX ".unwind"

char *index_cache_dir(void)
{
	const char *base = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	char *dir = NULL;
	int len = -1;

	/* The XDG specification requires relative paths to be ignored. */
	if (base && *base == '/')
		len = asprintf(&dir, "%s/oprofile", base);
	else if (home && *home == '/')
		len = asprintf(&dir, "%s/.cache/oprofile", home);
	if (len < 0 || trust_cache_dir(dir))
		return len < 0 ? NULL : dir;
	free(dir);
	return NULL;
}

static char *path_with(const char *dir, const struct index_key *key, const char *suffix)
{
	char hex[2 * INDEX_KEY_MAX + 1] = "";
	char *path = NULL;

	for (uint32_t i = 0; i < key->len; i++)
		snprintf(hex + (size_t)2 * i, 3, "%02x", key->bytes[i]);
	return asprintf(&path, "%s/%s%s%s", dir, key->is_build_id ? "" : "file-", hex,
			suffix) < 0
		       ? NULL
		       : path;
}

char *index_cache_lines_path(const char *dir, const struct index_key *key)
{
	return path_with(dir, key, SUFFIX);
}

char *index_cache_unwind_path(const char *dir, const struct index_key *key)
{
	return path_with(dir, key, UNWIND_SUFFIX);
}

uint64_t index_cache_limit(void)
{
	const char *text = getenv("OPROFILE_CACHE_MB");
	uint64_t mb;

	if (!text || !parse_u64_max(text, 1 << 30, &mb))
		mb = INDEX_CACHE_DEFAULT_MB;
	return mb << 20;
}

/* Returns 1 for "HEX.lines", "file-HEX.lines" or "HEX.unwind"; 2 for such a name followed by
 * six characters (a writer's temporary file); else 0. */
static int name_kind(const char *name, bool *ret_unwind)
{
	const char *end = strstr(name, SUFFIX);
	size_t len = strlen(SUFFIX);

	*ret_unwind = false;
	if (!end) {
		end = strstr(name, UNWIND_SUFFIX);
		len = strlen(UNWIND_SUFFIX);
		*ret_unwind = true;
	}
	if (!strncmp(name, "file-", 5))
		name += 5;
	if (!end || strspn(name, "0123456789abcdef") != (size_t)(end - name))
		return 0;
	end += len;
	if (!*end)
		return 1;
	return *end == '.' && strlen(end) == 7 ? 2 : 0;
}

static int by_use(const void *a, const void *b)
{
	const struct index_cache_entry *x = a;
	const struct index_cache_entry *y = b;

	return x->used_ns > y->used_ns ? -1 : x->used_ns < y->used_ns;
}

/* Adds one file of the directory to the list. Removes it instead if it is an abandoned
 * temporary file. */
static int index_cache_take_file(const char *dir, const char *name,
				 index_cache_list *list)
{
	struct index_cache_entry e = { 0 };
	int kind = name_kind(name, &e.is_unwind);
	struct stat st;

	if (!kind)
		return 0;
	if (asprintf(&e.path, "%s/%s", dir, name) < 0)
		return -ENOMEM;
	if (lstat(e.path, &st) || !S_ISREG(st.st_mode)) {
		free(e.path);
		return 0;
	}
	if (kind == 2) {
		if (st.st_mtim.tv_sec + STALE_SECONDS < time(NULL))
			(void)io_unlink(e.path);
		free(e.path);
		return 0;
	}
	e.bytes = (uint64_t)st.st_size;
	e.used_ns = (int64_t)clock_ns(st.st_atim);
	if (!vec_push(list, e)) {
		free(e.path);
		return -ENOMEM;
	}
	return 0;
}

int index_cache_read(const char *dir, index_cache_list *ret_list)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	int r = 0;

	*ret_list = (index_cache_list){ 0 };
	if (!d)
		return errno == ENOENT ? 0 : -errno;
	errno = 0;
	while (!r && (entry = readdir(d))) {
		r = index_cache_take_file(dir, entry->d_name, ret_list);
		errno = 0;
	}
	if (!r)
		r = -errno;
	closedir(d);
	if (ret_list->nr)
		qsort(ret_list->at, ret_list->nr, sizeof(*ret_list->at), by_use);
	if (r)
		index_cache_list_done(ret_list);
	return r;
}

void index_cache_list_done(index_cache_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		free(list->at[i].path);
		free(list->at[i].path_of);
	}
	vec_done(list);
}

int index_cache_trim(const char *dir, uint64_t max_bytes, size_t *ret_removed)
{
	index_cache_list list;
	uint64_t sum = 0;
	size_t removed = 0;
	int r = index_cache_read(dir, &list);

	if (r)
		return r;
	for (size_t i = 0; i < list.nr; i++) {
		sum += list.at[i].bytes;
		if (sum <= max_bytes)
			continue;
		r = io_unlink(list.at[i].path);
		if (!r)
			removed++;
	}
	index_cache_list_done(&list);
	if (ret_removed)
		*ret_removed = removed;
	return r;
}
