/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/files/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *path_full(const char *path, const char *dir)
{
	char *joined, *out;
	size_t len = 0;

	if (asprintf(&joined, "%s/%s", path[0] == '/' ? "" : dir, path) < 0)
		return NULL;
	out = malloc(strlen(joined) + 2);
	for (const char *at = joined; out && *at;) {
		size_t part = strcspn(at, "/");

		if (part == 2 && !strncmp(at, "..", 2)) {
			while (len && out[--len] != '/')
				;
		} else if (part && (part != 1 || at[0] != '.')) {
			out[len++] = '/';
			memcpy(out + len, at, part);
			len += part;
		}
		at += part + (at[part] == '/');
	}
	if (out)
		out[len] = '\0';
	free(joined);
	return out;
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}
