/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options.h - the options of `oprofile annotate`.
 * Layer: tools. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "tools/report/options.h"

struct err;

enum {
	ANNOTATE_CONTEXT_OFF = INT32_MAX /* of `context`: not given */
};

struct annotate_options {
	struct report_options report; /* those that opreport has, too; first */
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
	bool both; /* of lines and code one thing is made */
	uint64_t top;
	bool hottest;
	uint64_t context;
};

extern const struct option_row annotate_rows[];

/* Which options do not go together, and what some imply.  0, or -EINVAL with the line that
 * OProfile's users know (oprofile-behaviour.md 1.2) where it had the same rule. */
int annotate_options_check(struct annotate_options *o, struct err *err);
/* Whether a source is asked for: globs are of its name or of a folder it is in. */
bool annotate_wants_file(const struct annotate_options *o, const char *path);
