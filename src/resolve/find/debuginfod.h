/* SPDX-License-Identifier: GPL-2.0-or-later */
/* debuginfod.h - gets binaries, debug files and sources by build-id from debuginfod servers.
 * Layer: resolve. One object per run of a command; not thread-safe.
 *
 * One timeout limits the total waiting time, whatever the servers do. Received files are
 * verified before they are put into the cache (resolve/find/debuginfod_cache.h). If no server
 * has a file, or a server failed, this run and later ones do not try again for some time
 * (cache_miss_s). Errors are logged with log_say(), once per server. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"
#include "resolve/find/debuginfod_cache.h"

struct debuginfod;

struct debuginfod_options {
	const char *urls;      /* URLs of servers, separated by white space */
	const char *cache_dir; /* created when the first file is stored */
	uint64_t timeout_ms;   /* 0: contact no server, use only the cache */
	uint64_t max_bytes;    /* limit for one file; 0: DEBUGINFOD_MAX_BYTES */
	bool ask_failed;       /* also try servers that failed recently */
	/* Called several times a second during transfers. May be NULL. */
	void (*progress)(void *ctx, size_t done, size_t files, uint64_t bytes);
	void *ctx;
};

enum {
	DEBUGINFOD_SERVERS_MAX = 8, /* further servers are ignored */
	DEBUGINFOD_AT_ONCE = 6      /* files fetched concurrently */
};
#define DEBUGINFOD_MAX_BYTES (UINT64_C(4) << 30)

typedef VEC(struct debuginfod_want) debuginfod_wants;

/* Copies the strings. Returns 0 or -ENOMEM. */
int debuginfod_new(const struct debuginfod_options *options,
		   struct debuginfod **ret_debuginfod);
void debuginfod_free(struct debuginfod *d); /* accepts NULL */
/* Opens a file from the cache. Returns 0: the caller owns *ret_fd and *ret_path (malloc'd);
 * -ENOENT if no server has it or it cannot be fetched any more in this run; -EAGAIN if
 * debuginfod_fetch() might get it; or -ENOMEM. */
int debuginfod_open(struct debuginfod *d, const struct debuginfod_want *want,
		    int *ret_fd, char **ret_path);
/* Fetches as many of these files as possible in the remaining time, in this order. Afterwards
 * debuginfod_open() returns the result for each; none is requested again in this run. */
void debuginfod_fetch(struct debuginfod *d, const struct debuginfod_want *wants,
		      size_t nr);
