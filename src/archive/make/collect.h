/* SPDX-License-Identifier: GPL-2.0-or-later */
/* collect.h - collects the files of an archive: recordings, and for each binary with hits the
 * files that reports would find for it.
 * Layer: archive. */
#pragma once
#include <stdbool.h>

#include "recordings/locations.h"
#include "recordings/sources.h"

struct archive_out;
struct archive_plan;
struct err;

struct archive_request {
	const struct report_sources *sources;
	/* Selects the samples to archive; with `for_perf`, the images. */
	const struct spec *spec;
	struct location_options locations; /* `trace` is not used */
	bool exclude_dependent; /* archive only main programs and the kernel */
	bool no_debug_files;    /* omit separate debug files */
	/* Archive binaries completely, not only the parts that reports read. */
	bool whole_binaries;
	bool source_files;       /* also archive the source files of lines with hits */
	const char *index_cache; /* directory of cached line indexes; NULL: none */
	const char *search_dirs; /* other directories to search, comma-separated */
	/* Prefixes to remove from source paths before searching in search_dirs. */
	const char *base_dirs;
	bool for_perf; /* like `perf archive`: only binaries, with the layout of perf's cache */
	struct archive_plan *plan;      /* set by archive_collect() */
	struct archive_out *out;        /* NULL: only list the files */
	void (*list)(const char *path); /* called once for each file if `out` is NULL */
};

/* Collects the files of the request and writes them to request->out, or lists them. Returns 0; 1
 * if a recording was incomplete; or a negative errno with a message in *err. */
int archive_collect(const struct archive_request *request, struct err *err);
