/* SPDX-License-Identifier: GPL-2.0-or-later */
/* collect.h - what belongs into an archive: recordings, and for each binary that was
 * hit the files that the search of the reports takes.
 * Layer: archive. */
#pragma once
#include <stdbool.h>

#include "recordings/places.h"
#include "recordings/sources.h"

struct archive_out;
struct archive_plan;
struct err;

struct archive_request {
	const struct report_sources *sources;
	const struct spec *spec;      /* which samples; `for_perf`: of which images */
	struct places_options places; /* `trace` is not used */
	bool exclude_dependent;       /* only main programs, and the kernel */
	bool no_debug_files;          /* without separate debug files */
	bool whole_binaries;          /* not only what reports read of them */
	bool source_files;            /* those of the lines hit, too */
	const char *index_cache;      /* folder of index files; NULL: none */
	const char *search_dirs;      /* where else they are: folders, with commas */
	const char *base_dirs;        /* what is taken off their paths then */
	bool for_perf; /* as `perf archive` has it: only binaries, laid out as its cache */
	struct archive_plan *plan;      /* archive_collect()'s own */
	struct archive_out *out;        /* NULL: */
	void (*list)(const char *path); /* is told of each file, once */
};

/* 0; 1: a recording was incomplete; or a negative errno with a line. */
int archive_collect(const struct archive_request *request, struct err *err);
