/* SPDX-License-Identifier: GPL-2.0-or-later */
/* debuginfod_env.h - reads the debuginfod servers to query, and the limits for queries, from the
 * same environment variables as other clients (debuginfod-client-config(7)).
 * Layer: recordings. */
#pragma once
#include "resolve/find/debuginfod.h"

struct err;

enum {
	DEBUGINFOD_TIMEOUT_S = 15 /* default of --debuginfod-timeout */
};

struct debuginfod_env {
	struct debuginfod_options options;
	char *cache_dir;
};

/* `timeout`: the argument of --debuginfod-timeout, NULL if not given. Returns 1 if servers are
 * configured, and then the caller calls debuginfod_env_done(). Returns 0 if none are. Returns
 * -EINVAL (invalid timeout) or -ENOMEM with a message in *err. */
int debuginfod_env_read(const char *timeout, struct debuginfod_env *ret_env,
			struct err *err);
void debuginfod_env_done(struct debuginfod_env *e);
