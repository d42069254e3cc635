/* export.h - what the formats of `oprofile export` share: export.c has a row for each.
 * Layer: tools. */
#pragma once
#include <stdbool.h>

#include "tools/places.h"

struct err;
struct report_sources;
struct spec;

struct export_options {
	const char *session_dir;
	const char *output; /* NULL: the format's own default */
	bool verbose;
	struct places_options places; /* `archive` and `trace` are not used */
};

/* What a format gets: the sources that the words mean, one at least. */
struct export_run {
	const struct export_options *options;
	char *const *words;      /* sources and specification, as given */
	const struct spec *spec; /* these two NULL if the format finds its sources */
	const struct report_sources *sources;
	bool incomplete; /* set by the format: something of the sources could not be read */
};

struct export_format {
	const char *name;
	bool finds_sources; /* itself: by `words` */
	/* 0, or a negative errno with a line; there is no output then. */
	int (*run)(struct export_run *run, struct err *err);
};

extern const struct export_format export_perf_data;
extern const struct export_format export_folded;
