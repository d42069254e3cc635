/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unpack.h - unpacks the output of `perf archive`: binaries into perf's cache, and the perf.data
 * of `perf archive --all` into the current directory.
 * Layer: archive. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/files/trust.h"

struct err;

struct archive_unpack_request {
	/* The tar file; NULL: the only perf*.tar.* in the current directory. */
	const char *path;
	enum trust trust;  /* the owners whose files are accepted */
	const char *cache; /* directory of perf's cache, created if missing */
	/* Destination of the perf.data; NULL: the current directory, under the member's name. */
	const char *perf_data;
};

struct archive_unpacked {
	size_t nr_files;   /* stored in the cache, or already there */
	size_t nr_refused; /* each was reported in a warning */
	char *perf_data; /* path of the unpacked perf.data, malloc'd; NULL: there was none */
};

/* Unpacks the tar, which is not trusted: does not follow or create links, stores a binary only if
 * its build-id matches its name, and overwrites nothing. Returns 0, or a negative errno with a
 * message in *err; files already stored in the cache stay there. */
int archive_unpack(const struct archive_unpack_request *request,
		   struct archive_unpacked *ret_unpacked, struct err *err);
