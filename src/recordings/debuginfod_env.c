/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recordings/debuginfod_env.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/byte_text.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/files/trust.h"
#include "base/log.h"
#include "base/parse.h"

enum {
	LINE_MAX_BYTES = 128
};

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && value[strspn(value, " \t\n")] ? value : NULL;
}

/* Returns the value of a variable that is an absolute path, or NULL. A relative path would depend
 * on the current directory, so it is ignored. */
static const char *absolute(const char *name)
{
	const char *value = variable(name);

	return value && value[0] == '/' ? value : NULL;
}

static char *debuginfod_env_join(const char *dir, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", dir, name) < 0 ? NULL : path;
}

/* Returns the path of the cache (malloc'd): $DEBUGINFOD_CACHE_PATH, ~/.debuginfod_client_cache
 * if it exists, or else the XDG cache directory. Returns NULL if no home directory is known or
 * memory is short. */
static char *cache_dir(void)
{
	const char *given = variable("DEBUGINFOD_CACHE_PATH");
	const char *home = absolute("HOME");
	const char *xdg = absolute("XDG_CACHE_HOME");
	struct stat st;
	char *old;

	if (given)
		return strdup(given);
	old = home ? debuginfod_env_join(home, ".debuginfod_client_cache") : NULL;
	if (old && !stat(old, &st))
		return old;
	free(old);
	if (xdg)
		return debuginfod_env_join(xdg, "debuginfod_client");
	return home ? debuginfod_env_join(home, ".cache/debuginfod_client") : NULL;
}

static void debuginfod_env_show(void *ctx, size_t done, size_t files, uint64_t bytes)
{
	char line[LINE_MAX_BYTES];
	char size[32];

	(void)ctx;
	byte_text_put(size, sizeof(size), bytes);
	snprintf(line, sizeof(line), "fetched %zu of %zu files from debuginfod, %s",
		 done, files, size);
	log_progress(line);
}

int debuginfod_env_read(const char *timeout, struct debuginfod_env *ret_env,
			struct err *err)
{
	const char *urls = variable("DEBUGINFOD_URLS");
	const char *max = variable("DEBUGINFOD_MAXSIZE");
	struct debuginfod_env e = { .options = { .urls = urls,
						 .progress = debuginfod_env_show } };
	uint64_t ns = 0;

	if (timeout && !parse_duration_ns(timeout, &ns))
		return err_set(
			err, -EINVAL,
			"--debuginfod-timeout: %s is not a time such as 10, 1.5s, 2m, or 0 for never",
			timeout);
	if (!urls)
		return 0;
	e.options.timeout_ms =
		timeout ? ns / NS_PER_MS : (uint64_t)DEBUGINFOD_TIMEOUT_S * MS_PER_S;
	e.options.ask_failed = timeout;
	if (max && !parse_u64(max, &e.options.max_bytes))
		e.options.max_bytes = 0;
	e.cache_dir = cache_dir();
	if (!e.cache_dir || !trust_cache_dir(e.cache_dir)) {
		debuginfod_env_done(&e);
		return 0;
	}
	e.options.cache_dir = e.cache_dir;
	*ret_env = e;
	return 1;
}

void debuginfod_env_done(struct debuginfod_env *e)
{
	free(e->cache_dir);
	*e = (struct debuginfod_env){ 0 };
}
