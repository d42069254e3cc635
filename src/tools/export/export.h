/* SPDX-License-Identifier: GPL-2.0-or-later */
/* export.h - code shared by the formats of `oprofile export`; export.c has a row for each.
 * Layer: tools. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

#include "recordings/code_reading.h"
#include "recordings/locations.h"
#include "tools/cli/recording_options.h"

struct err;
struct present_options;
struct profile;
struct report_plan;
struct report_read;
struct report_sources;
struct spec;

struct export_options {
	const char *session_dir;
	const char *output; /* NULL: the format's default */
	const char *threshold;
	const char *threads;
	const char *rows;
	bool force;
	bool inlined;
	bool svg;
	bool verbose;
	struct location_options locations; /* `archive` and `trace` are not used */
};

/* Options shared by all exporting commands; include command.h and recordings/sources.h first. */
#define EXPORT_OPTION_ROWS(threshold_help)                                             \
	{ .name = "threshold",                                                         \
	  .letter = 't',                                                               \
	  .kind = OPTION_TEXT,                                                         \
	  .value = "PERCENT",                                                          \
	  .offset = OPTION(struct export_options, threshold),                          \
	  .help = (threshold_help) },                                                  \
		SESSION_DIR_OPTION_ROW(struct export_options),                         \
		FORCE_OPTION_ROW(struct export_options, 0),                            \
		THREADS_OPTION_ROW(struct export_options),                             \
		ACCEPT_CHANGED_OPTION_ROW(struct export_options),                      \
		LOCATION_OPTION_ROWS(struct export_options),                           \
	{                                                                              \
		.name = "verbose", .letter = 'V', .kind = OPTION_FLAG,                 \
		.offset = OPTION(struct export_options, verbose),                      \
		.help = "Print how much was exported."                                 \
	}

/* The input of a format, with at least one source. */
struct export_run {
	const struct export_options *options;
	const struct export_format *format;
	char *const *words; /* the arguments: sources and specification */
	/* This and `sources` are NULL if the format finds its sources itself. */
	const struct spec *spec;
	const struct report_sources *sources;
	/* Some input is not readable for every user; set where sources are found. */
	bool is_private;
	bool incomplete; /* some input could not be read; set by the format */
};

/* Writes a format: a function of writers.h. */
typedef int export_write(FILE *out, struct profile *p,
			 const struct present_options *options, struct err *err);

/* An argument of --rows, and the keys that it selects. */
struct export_rows {
	const char *word, *keys;
};

struct export_format {
	const char *name;
	/* Writes the export. Returns 0, or a negative errno with a message in *err without
	 * creating an output file. */
	int (*run)(struct export_run *run, struct err *err);
	/* The format itself finds the sources of `words`; otherwise they are in `sources`. */
	bool finds_sources;
	/* The following are for formats that are made from a profile: its keys, and properties of
	 * the profile. */
	const char *keys;
	/* Ends with NULL; NULL: --rows is not supported. */
	const struct export_rows *rows;
	const char *threshold; /* NULL: 0 */
	const char *usual;     /* default output file; NULL: none */
	/* The keys to drop if there are too many distinct samples for readers
	 * (profile_options.give_up). */
	const unsigned int *give_up;
	bool labels;      /* warn about missing labels */
	bool code;        /* needs the locations of the code */
	bool call_events; /* profile_options.call_events */
	bool periods;
	bool lines;    /* resolve source lines, including those of callers */
	bool timeline; /* profile_options.timeline */
	bool binary;
	export_write *write;
	export_write *svg; /* for --svg; NULL: not supported */
};

/* Exports the arguments in a format, as `oprofile export` does.  Returns an exit status. */
int export_command(const char *format, const struct export_options *options,
		   char *const *words);

int export_perf_data(struct export_run *run, struct err *err);
int export_perf_script(struct export_run *e, struct err *err);
int export_afdo(struct export_run *run, struct err *err);
int export_odb(struct export_run *run, struct err *err);
int export_bolt(struct export_run *run, struct err *err);
int export_callgrind(struct export_run *run, struct err *err);
/* Calls code_reading_run() for the sources of the run, and sets run->incomplete. */
int export_code_read(struct export_run *run, code_reading_fn fn, void *ctx,
		     struct err *err);
/* Reads the profile for a format with `keys`.  Returns 0, or a negative errno with a message in
 * *err; in both cases, the caller calls profile_done() and report_plan_done(). */
int export_profile_read(struct export_run *run, struct report_plan *plan,
			struct report_read *read, struct err *err);
/* Runs any format that has `keys` and `write`. */
int export_profile(struct export_run *run, struct err *err);
