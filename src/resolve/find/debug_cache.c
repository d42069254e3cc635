/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/find/debug_cache.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/faults.h"
#include "base/files/io.h"
#include "base/files/tree.h"
#include "resolve/elf/build_id.h"
#include "resolve/elf/file.h"
#include "resolve/elf/unpacked.h"

enum {
	HEX_BYTES = 2 * BUILD_ID_MAX + 1,
	LINK_TEXT_MAX = PATH_MAX - 1
};

/* A build-id and its location in the cache. */
struct debug_cache_place {
	const char *dir;
	const struct build_id *id;
	char hex[HEX_BYTES];
};

static const char *const part_files[DEBUG_CACHE_PARTS] = {
	[DEBUG_CACHE_ELF] = "elf",
	[DEBUG_CACHE_DEBUG] = "debug",
	[DEBUG_CACHE_VDSO] = "vdso",
	[DEBUG_CACHE_KALLSYMS] = "kallsyms",
};

/* Reads the target of a link that was unpacked as a file: a relative path in one line, which
 * distinguishes it from a binary. Returns -EINVAL for any other file. */
static int read_lost_link(const char *path, char *ret_text)
{
	int fd = elf_open_regular(path);
	ssize_t len;

	if (fd < 0)
		return fd;
	len = io_pread_full(fd, ret_text, LINK_TEXT_MAX, 0);
	close(fd);
	if (len < 0)
		return fault_unreadable(path, (int)len);
	while (len && ret_text[len - 1] == '\n')
		len--;
	ret_text[len] = '\0';
	if (len < 3 || len == LINK_TEXT_MAX || strncmp(ret_text, "../", 3) ||
	    strlen(ret_text) != (size_t)len || strchr(ret_text, '\n'))
		return -EINVAL;
	return 0;
}

const char *debug_cache_part_file(enum debug_cache_part part)
{
	return part_files[part];
}

int debug_cache_link(const char *dir, const struct build_id *id, char **ret_text)
{
	char text[LINK_TEXT_MAX + 1];
	char hex[HEX_BYTES];
	ssize_t len;
	char *link;
	int r = 0;

	*ret_text = NULL;
	build_id_to_hex(id, hex);
	if (asprintf(&link, "%s/.build-id/%.2s/%s", dir, hex, hex + 2) < 0)
		return -ENOMEM;
	len = readlink(link, text, sizeof(text) - 1);
	if (len >= 0)
		text[len] = '\0';
	else
		r = errno == EINVAL ? read_lost_link(link, text) : -errno;
	free(link);
	if (r)
		return r;
	*ret_text = strdup(text);
	return *ret_text ? 0 : -ENOMEM;
}

/* Resolves .build-id/XX/REST to the directory, or in the old layout the file, of the build-id.
 * Returns 0: the caller frees *ret_path; or a negative errno. */
static int follow_link(const struct debug_cache_place *p, char **ret_path)
{
	/* Path from .build-id/XX up to the cache directory. */
	static const char up[] = "../../";
	char *text;
	int len, r = debug_cache_link(p->dir, p->id, &text);

	if (r && r != -EINVAL)
		return r;
	if (r) /* not a link */
		len = asprintf(ret_path, "%s/.build-id/%.2s/%s", p->dir, p->hex,
			       p->hex + 2);
	else if (text[0] == '/')
		len = asprintf(ret_path, "%s", text);
	else if (!strncmp(text, up, sizeof(up) - 1) && !strstr(text + 4, ".."))
		len = asprintf(ret_path, "%s/%s", p->dir, text + sizeof(up) - 1);
	else
		len = asprintf(ret_path, "%s/.build-id/%.2s/%s", p->dir, p->hex, text);
	free(text);
	return len < 0 ? -ENOMEM : 0;
}

/* Returns whether the resolved path is PATH/BUILD-ID: the only check for files that contain no
 * build-id. */
static bool is_called_by_id(const char *path, const char *hex)
{
	char *real = realpath(path, NULL);
	const char *name = real ? strrchr(real, '/') : NULL;
	bool is = name && !strcmp(name + 1, hex);

	free(real);
	return is;
}

static int debug_cache_check_file(const struct debug_cache_place *p,
				  enum debug_cache_part part, int fd)
{
	struct build_id id;

	if (part == DEBUG_CACHE_KALLSYMS)
		return 0;
	return !elf_build_id_fd(fd, &id, NULL) && build_id_equal(&id, p->id) ? 0
									     : -ESTALE;
}

/* Opens the part in `base`, which is a directory or the file itself. Consumes `base`. */
static int debug_cache_open_part(const struct debug_cache_place *p,
				 enum debug_cache_part part, char *base, int *ret_fd,
				 char **ret_path)
{
	struct stat st;
	char *path = base;
	int fd = -ENOENT, r;

	if (!fault_stat(base, &st) && S_ISDIR(st.st_mode)) {
		if (asprintf(&path, "%s/%s", base, part_files[part]) < 0)
			path = NULL;
	} else if (part == DEBUG_CACHE_DEBUG) {
		path = NULL; /* in the old layout, the file is the binary and there are no other
			      * parts */
	}
	if (path && (part != DEBUG_CACHE_KALLSYMS || is_called_by_id(base, p->hex)))
		fd = unpacked_open(path);
	r = fd < 0 ? fd : debug_cache_check_file(p, part, fd);
	if (path != base)
		free(base);
	if (!r) {
		*ret_fd = fd;
		*ret_path = path;
		return 0;
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return r;
}

/* Returns the path of the part by its image's name, without the link; NULL if there is no name,
 * or out of memory. */
static char *path_by_name(const struct debug_cache_place *p, enum debug_cache_part part,
			  const char *name)
{
	char *path;

	if (part == DEBUG_CACHE_KALLSYMS)
		name = "[kernel.kallsyms]";
	else if (part == DEBUG_CACHE_VDSO)
		name = "[vdso]";
	if (!name || strstr(name, ".."))
		return NULL;
	if (asprintf(&path, "%s/%s/%s", p->dir, name, p->hex) < 0)
		return NULL;
	return path;
}

static bool debug_cache_place_of(const char *dir, const struct build_id *id,
				 struct debug_cache_place *ret_place)
{
	*ret_place = (struct debug_cache_place){ .dir = dir, .id = id };
	build_id_to_hex(id, ret_place->hex);
	return dir && dir[0] && id->len >= 2;
}

int debug_cache_open(const char *dir, const struct build_id *id,
		     enum debug_cache_part part, const char *name, int *ret_fd,
		     char **ret_path)
{
	struct debug_cache_place p;
	char *base;
	int r, r_name;

	if (!debug_cache_place_of(dir, id, &p))
		return -ENOENT;
	r = follow_link(&p, &base);
	if (!r)
		r = debug_cache_open_part(&p, part, base, ret_fd, ret_path);
	if (!r || r == -ENOMEM)
		return r;
	base = path_by_name(&p, part, name);
	if (!base)
		return r;
	r_name = debug_cache_open_part(&p, part, base, ret_fd, ret_path);
	/* Report the error of the link, which is more useful than that of a missing file. */
	return r_name == -ENOENT ? r : r_name;
}

static int debug_cache_compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)b, *(char *const *)a);
}

struct boots {
	const char *folder;
	debug_cache_paths *paths;
	size_t nr;
};

static int add_boot(void *ctx, const char *name)
{
	struct boots *b = ctx;
	char *path;

	if (name[0] == '.' || b->nr == DEBUG_CACHE_BOOTS_MAX)
		return 0;
	if (asprintf(&path, "%s/%s/kallsyms", b->folder, name) < 0)
		return -ENOMEM;
	if (!vec_push(b->paths, path)) {
		free(path);
		return -ENOMEM;
	}
	b->nr++;
	return 0;
}

/* Adds [kernel.kcore]/BUILD-ID/TIME/kallsyms, newest first. */
static int add_boots(const struct debug_cache_place *p, debug_cache_paths *paths)
{
	struct boots b = { .paths = paths };
	size_t first = paths->nr;
	char *folder;
	int r;

	if (asprintf(&folder, "%s/[kernel.kcore]/%s", p->dir, p->hex) < 0)
		return -ENOMEM;
	b.folder = folder;
	r = tree_list(folder, add_boot, &b);
	free(folder);
	if (paths->nr > first)
		qsort(paths->at + first, paths->nr - first, sizeof(*paths->at),
		      debug_cache_compare_names);
	return r;
}

int debug_cache_kallsyms(const char *dir, const struct build_id *id,
			 debug_cache_paths *ret_paths)
{
	debug_cache_paths paths = { 0 };
	struct debug_cache_place p;
	char *path;
	int fd, r = 0;

	if (debug_cache_place_of(dir, id, &p)) {
		r = debug_cache_open(dir, id, DEBUG_CACHE_KALLSYMS, NULL, &fd, &path);
		if (!r) {
			close(fd);
			r = vec_push(&paths, path) ? 0 : -ENOMEM;
			if (r)
				free(path);
		}
		if (r != -ENOMEM)
			r = add_boots(&p, &paths);
	}
	if (r)
		debug_cache_paths_done(&paths);
	else
		*ret_paths = paths;
	return r;
}

void debug_cache_paths_done(debug_cache_paths *paths)
{
	for (size_t i = 0; i < paths->nr; i++)
		free(paths->at[i]);
	vec_done(paths);
}
