/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan.h - plans a run of opreport from its options and arguments.
 * Layer: tools. */
#pragma once
#include <stdbool.h>

#include "aggregate/profile/profile.h"
#include "aggregate/selection/spec.h"
#include "aggregate/selection/symbol_filter.h"
#include "present/export/writers.h"
#include "present/lines/options.h"
#include "recordings/sources.h"
#include "resolve/lines/later.h"
#include "resolve/lines/lines.h"
#include "tools/report/options.h"

struct err;

/* The arguments of --verbose, as bits. */
enum {
	VERBOSE_IMAGES = 1, /* origin of the symbols of each image */
	VERBOSE_STATS = 2,  /* statistics of the input */
	VERBOSE_FILES = 4   /* each segment */
};

/* The values of --separate, as bits. */
enum {
	SEPARATE_WORD_NONE = 1,
	SEPARATE_WORD_LIBRARY = 2,
	SEPARATE_WORD_KERNEL = 4,
	SEPARATE_WORDS_OF_IMAGES = 7,
	SEPARATE_WORD_THREAD = 8,
	SEPARATE_WORD_CPU = 16
};

struct report_plan {
	unsigned int separate; /* SEPARATE_WORD_... flags */
	/* Fold functions without a name; set by the caller, unless --unnamed is given. */
	bool fold_unnamed;
	struct report_options options;
	struct present_options present;
	struct profile_options profile;
	const struct writer *writer;
	struct key_list keys;
	/* number of keys before those that divide time into blocks, which are last; 0: there are no
	 * blocks */
	size_t nr_keys;
	struct symbol_filter symbols;
	struct spec spec;
	struct report_sources sources;
	struct naming_locations *locations;
	struct lines_options lines;
	struct line_later later; /* index files to write after the output */
	char *cache_dir;         /* directory of cached line indexes; NULL: none */
	struct name_patterns *patterns; /* NULL: names are not shortened */
	unsigned int merge;             /* MERGE_... flags of classes.h */
	unsigned int verbose;           /* VERBOSE_... flags */
};

/* Completes the plan, whose options are set.  Returns 0, or a negative errno with a message in
 * *err: invalid values, options that cannot be combined, or no session. */
int report_plan_make(struct report_plan *plan, char *const *words, struct err *err);
/* Writes the index files of the binaries that were read, and frees the contents of the plan. Call
 * it after all output. */
void report_plan_done(struct report_plan *plan);
