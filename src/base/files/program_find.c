/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/files/program_find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns DIR/NAME (malloc'd); an empty directory is the current one. */
static char *program_path_in(const char *dir, size_t len, const char *name)
{
	char *path;

	if (asprintf(&path, "%.*s/%s", len ? (int)len : 1, len ? dir : ".", name) < 0)
		return NULL;
	return path;
}

static bool is_executable_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

char *program_find(const char *name)
{
	const char *at = getenv("PATH");

	if (strchr(name, '/'))
		return realpath(name, NULL);
	while (at && *at) {
		size_t len = strcspn(at, ":");
		char *path = program_path_in(at, len, name);
		char *real =
			path && is_executable_file(path) ? realpath(path, NULL) : NULL;

		free(path);
		if (real)
			return real;
		at += len + (at[len] == ':');
	}
	return NULL;
}

bool program_can_run(const char *name)
{
	char *path = program_find(name);
	bool can = path && is_executable_file(path);

	free(path);
	return can;
}
