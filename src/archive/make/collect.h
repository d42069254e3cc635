/* SPDX-License-Identifier: GPL-2.0-or-later */
/* collect.h - collects the files of an archive: recordings, and for each binary with hits the
 * files that the search of the reports finds.
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
	const struct spec *spec; /* selects samples; with `for_perf`, images */
	struct location_options locations; /* `trace` is not used */
	bool exclude_dependent;            /* only main programs, and the kernel */
	bool no_debug_files;               /* omit separate debug files */
	bool whole_binaries;     /* not only the sections and code that reports read */
	bool source_files;       /* also the sources of the lines with hits */
	const char *index_cache; /* directory of index files; NULL: none */
	const char *search_dirs; /* other directories to search, comma-separated */
	const char
		*base_dirs; /* prefixes to remove from source paths for that search */
	bool for_perf; /* like `perf archive`: only binaries, with the layout of perf's cache */
	struct archive_plan *plan;      /* set by archive_collect() */
	struct archive_out *out;        /* NULL: only list the files */
	void (*list)(const char *path); /* called once for each file */
};

/* Returns 0; 1 if a recording was incomplete; or a negative errno with a message in *err. */
int archive_collect(const struct archive_request *request, struct err *err);
