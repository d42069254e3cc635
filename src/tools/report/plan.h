/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan.h - what one run of opreport does, made of its options and words.
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

/* What --verbose names, as bits. */
enum {
	VERBOSE_IMAGES = 1, /* where the symbols of each image are from */
	VERBOSE_STATS = 2,  /* what was read */
	VERBOSE_FILES = 4   /* each segment */
};

struct report_plan {
	struct report_options options;
	struct present_options present;
	struct profile_options profile;
	const struct writer *writer;
	struct key_list keys;
	struct symbol_filter symbols;
	struct spec spec;
	struct report_sources sources;
	struct naming_places *places;
	struct lines_options lines;
	struct line_later later; /* index files to be written when all is printed */
	char *cache_dir;         /* of line indexes; NULL: none */
	struct name_patterns *patterns; /* NULL: names are not made shorter */
	unsigned int merge;             /* MERGE_... of classes.h */
	unsigned int verbose;           /* VERBOSE_... */
};

/* Completes the plan, whose options are set.  0, or a negative errno with a line for the
 * user: wrong values, options that do not go together, or no session. */
int report_plan_make(struct report_plan *plan, char *const *words, struct err *err);
/* After all that is printed: the index files of what was read are written then. */
void report_plan_done(struct report_plan *plan);
