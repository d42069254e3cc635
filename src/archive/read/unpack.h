/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unpack.h - takes what `perf archive` wrote: binaries into perf's cache, and the
 * perf.data of `perf archive --all` into the current folder.
 * Layer: archive. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/files/trust.h"

struct err;

struct archive_unpack_request {
	const char *path;  /* of the tar; NULL: the only perf*.tar.* of this folder */
	enum trust trust;  /* whose tar it may be */
	const char *cache; /* the folder of perf's cache, made if it is not there */
	const char *perf_data; /* where that goes; NULL: here, by its own name */
};

struct archive_unpacked {
	size_t nr_files;   /* put into the cache, or there already */
	size_t nr_refused; /* each was named in a warning */
	char *perf_data;   /* where it is, malloc'd; NULL: there was none */
};

/* Of a tar from anywhere: links are not followed and not made, a binary is taken only if its
 * own build-id is the one it is filed under, nothing is written over.  0, or a negative errno
 * with a line; what was taken into the cache until then stays there. */
int archive_unpack(const struct archive_unpack_request *request,
		   struct archive_unpacked *ret_unpacked, struct err *err);
