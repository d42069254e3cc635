/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf.h - writes the same output as `perf archive` (a tar of the binaries with hits, for another
 * machine's cache) and as `perf archive --all` (also the recording).
 * Layer: archive. */
#pragma once
#include <stdbool.h>

struct archive_request;
struct err;

/* Writes the archive to `path` (NULL: perf's default name) and stores the resulting path in
 * *ret_path (malloc'd). Returns 0; 1 if a recording was incomplete; or a negative errno with a
 * message in *err (-ENODATA: there are no build-ids). */
int archive_perf(struct archive_request *request, const char *path, bool all,
		 char **ret_path, struct err *err);
