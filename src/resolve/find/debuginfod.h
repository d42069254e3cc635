/* debuginfod.h - binaries, debug files and sources by build-id from debuginfod servers.
 * Layer: resolve.  One per run of a command; not thread safe.
 *
 * All waiting together ends after one span of time, whatever the servers do.  What comes is
 * checked before it is put into the cache (resolve/find/debuginfod_cache.h).  A file that no
 * server has, and a server that fails, are not asked for again for a while (cache_miss_s),
 * by later runs either.  What goes wrong is said with log_say(), once for each server. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"
#include "resolve/find/debuginfod_cache.h"

struct debuginfod;

struct debuginfod_options {
	const char *urls;      /* of servers, separated by white space */
	const char *cache_dir; /* made when something is put there */
	uint64_t timeout_ms;   /* 0: nothing is asked, but the cache is looked at */
	uint64_t max_bytes;    /* of one file; 0: DEBUGINFOD_MAX_BYTES */
	bool ask_failed;       /* also servers that failed a while ago */
	/* Called several times a second while files come.  May be NULL. */
	void (*progress)(void *ctx, size_t done, size_t files, uint64_t bytes);
	void *ctx;
};

enum {
	DEBUGINFOD_SERVERS_MAX = 8, /* more are left out */
	DEBUGINFOD_AT_ONCE = 6      /* files */
};
#define DEBUGINFOD_MAX_BYTES (UINT64_C(4) << 30)

typedef VEC(struct debuginfod_want) debuginfod_wants;

/* The strings are copied.  0 or -ENOMEM. */
int debuginfod_new(const struct debuginfod_options *options,
		   struct debuginfod **ret_debuginfod);
void debuginfod_free(struct debuginfod *d); /* NULL is fine */
/* From the cache.  0: *ret_fd and *ret_path (malloc'd) are the caller's; -ENOENT: it is not to
 * be had; -EAGAIN: debuginfod_fetch() may get it; -ENOMEM. */
int debuginfod_open(struct debuginfod *d, const struct debuginfod_want *want,
		    int *ret_fd, char **ret_path);
/* Fetches what can be had in the time that is left, in this order.  Afterwards
 * debuginfod_open() knows of each; it is not asked for again in this run. */
void debuginfod_fetch(struct debuginfod *d, const struct debuginfod_want *wants,
		      size_t nr);
