/* SPDX-License-Identifier: GPL-2.0-or-later */
/* code_reading.h - counts how often code ran, over all sources of an export; for afdo and bolt.
 * Layer: recordings. */
#pragma once
#include <stdbool.h>

struct code_counts;
struct dict;
struct err;
struct location_options;
struct naming;
struct report_sources;
struct spec;

struct code_request {
	const struct report_sources *sources;
	const struct spec *spec;
	const struct location_options
		*locations; /* `archive` and `trace` are not used */
	const char *format; /* the name of the export format, for messages */
};

/* Receives the counts of one segment or perf.data. `counts` refers to images by their numbers in
 * `dict`. Returns 0, or a negative errno with a message in *err. */
typedef int (*code_reading_fn)(void *ctx, const struct code_counts *counts,
			       const struct dict *dict, struct naming *naming,
			       struct err *err);

/* Reads each source of the request, and calls `fn` for each segment and perf.data with selected
 * samples. Counts branch stacks where a perf.data has them; sessions never do. If some input is
 * incomplete, warns and sets *ret_incomplete to true; otherwise leaves it unchanged. Returns 0,
 * or a negative errno with a message in *err (-ENODATA: no sample is selected). */
int code_reading_run(const struct code_request *request, code_reading_fn fn, void *ctx,
		     bool *ret_incomplete, struct err *err);
