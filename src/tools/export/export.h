/* SPDX-License-Identifier: GPL-2.0-or-later */
/* export.h - what the formats of `oprofile export` share: export.c has a row for each.
 * Layer: tools. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

#include "recordings/places.h"
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
	const char *output; /* NULL: the format's own default */
	const char *threshold;
	const char *threads;
	const char *rows;
	bool force;
	bool inlined;
	bool svg;
	bool verbose;
	struct places_options places; /* `archive` and `trace` are not used */
};

/* The options that are the same for all that export; includes command.h and recordings/sources.h before. */
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
		PLACES_OPTION_ROWS(struct export_options),                             \
	{                                                                              \
		.name = "verbose", .letter = 'V', .kind = OPTION_FLAG,                 \
		.offset = OPTION(struct export_options, verbose),                      \
		.help = "Say how much was written."                                    \
	}

/* What a format gets: the sources that the words mean, one at least. */
struct export_run {
	const struct export_options *options;
	const struct export_format *format;
	char *const *words;      /* sources and specification, as given */
	const struct spec *spec; /* these two NULL if the format finds its sources */
	const struct report_sources *sources;
	bool is_private; /* what was read is not for every user: set with `sources`, or by the format */
	bool incomplete; /* set by the format: something of the sources could not be read */
};

/* A writer of writers.h. */
typedef int export_write(FILE *out, struct profile *p,
			 const struct present_options *options, struct err *err);

/* A word of --rows, and the keys in place of the format's. */
struct export_rows {
	const char *word, *keys;
};

struct export_format {
	const char *name;
	/* 0, or a negative errno with a line; there is no output then. */
	int (*run)(struct export_run *run, struct err *err);
	bool finds_sources; /* by the words; else it gets them */
	/* Of what is made of a profile, which finds them: what is counted, and the form. */
	const char *keys;
	const struct export_rows *rows; /* ends with NULL; NULL: there is no choice */
	const char *threshold;          /* NULL: 0 */
	const char *usual; /* file that is written without --output-file; NULL: none */
	/* Where there are more different samples than a reader can hold: profile_options.give_up. */
	const unsigned int *give_up;
	bool labels; /* which of them are missing is said */
	bool code;   /* it needs to know where code is */
	bool periods;
	bool lines;    /* of the source, for all callers, too */
	bool timeline; /* profile_options.timeline */
	bool binary;
	export_write *write;
	export_write *svg; /* with --svg; NULL: there is none */
};

/* Writes the words in a format, as `oprofile export` does: its status. */
int export_command(const char *format, const struct export_options *options,
		   char *const *words);

int export_perf_data(struct export_run *run, struct err *err);
int export_perf_script(struct export_run *e, struct err *err);
int export_afdo(struct export_run *run, struct err *err);
int export_bolt(struct export_run *run, struct err *err);
int export_callgrind(struct export_run *run, struct err *err);
/* Reads what a format with `keys` is made of.  0, or a negative errno with a line; profile_done()
 * and report_plan_done() are called in either case. */
int export_profile_read(struct export_run *run, struct report_plan *plan,
			struct report_read *read, struct err *err);
/* Any format with `keys` and `write`. */
int export_profile(struct export_run *run, struct err *err);
