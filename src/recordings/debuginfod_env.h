/* SPDX-License-Identifier: GPL-2.0-or-later */
/* debuginfod_env.h - which debuginfod servers are asked, from the environment that their other
 * clients read (debuginfod-client-config(7)), and how far that is.
 * Layer: recordings. */
#pragma once
#include "resolve/find/debuginfod.h"

struct err;

enum {
	DEBUGINFOD_TIMEOUT_S = 15 /* where no --debuginfod-timeout is given */
};

struct debuginfod_env {
	struct debuginfod_options options;
	char *cache_dir;
};

/* `timeout`: of --debuginfod-timeout, NULL if it was not given.  1: servers are known; 0: there
 * are none to ask; -EINVAL (the timeout is no time), -ENOMEM.  debuginfod_env_done() is to
 * be called after 1. */
int debuginfod_env_read(const char *timeout, struct debuginfod_env *ret_env,
			struct err *err);
void debuginfod_env_done(struct debuginfod_env *e);
