/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recordings/debug_dir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/trust.h"

char *debug_dir(void)
{
	const char *given = getenv("PERF_BUILDID_DIR");
	const char *home = getenv("HOME");
	char *dir;

	if (given && given[0])
		dir = strdup(given);
	else if (!home || home[0] != '/' || asprintf(&dir, "%s/.debug", home) < 0)
		dir = NULL;
	if (!dir || trust_cache_dir(dir))
		return dir;
	free(dir);
	return NULL;
}
