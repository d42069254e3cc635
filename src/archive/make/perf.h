/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf.h - writes what `perf archive` would: the binaries that were hit, as a tar for
 * another machine's cache; and what `perf archive --all` would, the recording with it.
 * Layer: archive. */
#pragma once
#include <stdbool.h>

struct archive_request;
struct err;

/* `path`: NULL for perf's own names.  *ret_path, malloc'd: where it is.  0; 1: a recording
 * was incomplete; or a negative errno with a line (-ENODATA: there are no build-ids). */
int archive_perf(struct archive_request *request, const char *path, bool all,
		 char **ret_path, struct err *err);
