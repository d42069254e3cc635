/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spec_links.c - follows symbolic links in the image names of a profile specification. */
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "aggregate/selection/spec.h"

/* Returns the path of an open file (malloc'd), or NULL. */
static char *spec_links_path_of(int fd)
{
	char link[32], path[PATH_MAX];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path));
	return len > 0 && (size_t)len < sizeof(path) ? strndup(path, (size_t)len)
						     : NULL;
}

/* Opens a path as a process would whose root directory is `root`. */
static int open_below(int root, const char *path)
{
	const struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				      .resolve = RESOLVE_IN_ROOT };

	return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

/* Returns the path, below `root`, of the file that `path` leads to there (malloc'd), or NULL. */
static char *spec_links_resolve_below(const char *root, const char *path)
{
	int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = dir < 0 ? -1 : open_below(dir, path);
	char *base = dir < 0 ? NULL : spec_links_path_of(dir);
	char *full = fd < 0 ? NULL : spec_links_path_of(fd);
	size_t len = base ? strlen(base) : 0;
	char *found = NULL;

	if (full && base && !strncmp(full, base, len) && full[len] == '/')
		found = strdup(full + len);
	if (fd >= 0)
		close(fd);
	if (dir >= 0)
		close(dir);
	free(base);
	free(full);
	return found;
}

/* Returns the path that the recording contains for a file that the user named by a link
 * (malloc'd), or NULL if there is no such file. */
static char *spec_links_resolve(const char *root, const char *path)
{
	char *found = root && *root ? spec_links_resolve_below(root, path) : NULL;

	return found ? found : realpath(path, NULL);
}

/* Returns OProfile's name, "/ext4", of the module in a file such as /lib/modules/.../ext4.ko.xz
 * (malloc'd), or NULL if the path is not that of a module's file. */
static char *spec_links_module(const char *path)
{
	const char *base = strrchr(path, '/');
	const char *end = base ? strstr(base, ".ko") : NULL;
	char *name;

	if (!end || (end[3] && end[3] != '.'))
		return NULL;
	name = strndup(base, (size_t)(end - base));
	for (char *c = name; c && *c; c++) {
		if (*c == '-')
			*c = '_';
	}
	return name;
}

/* Adds a value (malloc'd, or NULL: none).  Returns false if out of memory. */
static bool spec_links_add(struct spec_list *list, char *value)
{
	if (!value || vec_push(&list->values, value))
		return true;
	free(value);
	return false;
}

static bool spec_links_follow_list(struct spec_list *list, const char *root)
{
	size_t nr = list->values.nr;

	for (size_t i = 0; i < nr; i++) {
		const char *value = list->values.at[i];
		char *path = value[0] == '/' ? spec_links_resolve(root, value) : NULL;

		if (path && !strcmp(path, value)) {
			free(path);
			path = NULL;
		}
		if (!spec_links_add(list, spec_links_module(value)) ||
		    !spec_links_add(list, path))
			return false;
	}
	return true;
}

bool spec_follow_links(struct spec *spec, const char *root)
{
	bool good = true;

	for (unsigned int tag = 0; good && tag <= SPEC_LIB_IMAGE_EXCLUDE; tag++)
		good = spec_links_follow_list(&spec->lists[tag], root);
	return good;
}
