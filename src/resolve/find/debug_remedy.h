/* SPDX-License-Identifier: GPL-2.0-or-later */
/* debug_remedy.h - how a user gets the debug information of a binary on this distribution.
 * Layer: resolve. */
#pragma once
#include <stdbool.h>

struct buf;
struct build_id;
struct distribution;

/* Returns the distribution that /etc/os-release below `root` ("": of this machine) names, or one
 * without packages if it is unknown. */
const struct distribution *distribution_find(const char *root);
/* Returns the distribution's debuginfod server. */
const char *distribution_server(const struct distribution *d);

struct debug_remedy {
	const struct distribution *distribution;
	bool has_servers; /* DEBUGINFOD_URLS is set, so its servers do not have the file */
	bool foreign; /* recorded on another machine: its packages are not installed here */
	const char *path;
	const struct build_id *build_id;
};

/* Appends one command that gets the debug information. For a binary without a build-id, or
 * outside of the directories of packages, appends instead how to build it with debug
 * information. */
void debug_remedy_put(struct buf *out, const struct debug_remedy *remedy);
