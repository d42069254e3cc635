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
	const char *
		path; /* of the tar; NULL: the only perf*.tar.* in the current directory */
	enum trust trust;  /* whose files are accepted */
	const char *cache; /* directory of perf's cache, created if missing */
	const char *
		perf_data; /* destination; NULL: the current directory, under its own name */
};

struct archive_unpacked {
	size_t nr_files;   /* stored in the cache, or already there */
	size_t nr_refused; /* each was reported in a warning */
	char *perf_data;   /* its path, malloc'd; NULL: there was none */
};

/* The tar is not trusted: links are neither followed nor created, a binary is stored only if its
 * own build-id matches its name, and nothing is overwritten.  Returns 0, or a negative errno with
 * a message in *err; files already stored in the cache stay there. */
int archive_unpack(const struct archive_unpack_request *request,
		   struct archive_unpacked *ret_unpacked, struct err *err);
