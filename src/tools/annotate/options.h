/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options.h - the options of `oprofile annotate`.
 * Layer: tools. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "tools/report/options.h"

struct err;

enum {
	ANNOTATE_CONTEXT_OFF = INT32_MAX /* value of `context` if not given */
};

struct annotate_options {
	struct report_options report; /* options shared with opreport; must be first */
	bool source;
	bool assembly;
	const char *output_dir;
	const char *search_dirs;
	const char *base_dirs;
	struct word_list include_files;
	struct word_list exclude_files;
	bool inline_sites;
	const char *objdump_params;
	const char *html;
	bool json;
	bool both; /* the output contains both source lines and code */
	uint64_t top;
	bool hottest;
	uint64_t context;
};

extern const struct option_row annotate_rows[];

/* Checks combinations of options, and sets implied ones. Returns 0, or -EINVAL with a message,
 * which is OProfile's if OProfile has the same rule. */
int annotate_options_check(struct annotate_options *o, struct err *err);
/* Returns whether the source is selected: globs match its name or a directory above it. */
bool annotate_wants_file(const struct annotate_options *o, const char *path);
