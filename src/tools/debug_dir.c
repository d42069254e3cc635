#include "tools/debug_dir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *debug_dir(void)
{
	const char *given = getenv("PERF_BUILDID_DIR");
	const char *home = getenv("HOME");
	char *dir;

	if (given && given[0])
		return strdup(given);
	if (!home || !home[0] || asprintf(&dir, "%s/.debug", home) < 0)
		return NULL;
	return dir;
}
