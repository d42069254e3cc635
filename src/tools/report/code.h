/* SPDX-License-Identifier: GPL-2.0-or-later */
/* code.h - the code of the images of a profile, one open at a time.
 * Layer: tools, for opreport and opannotate. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "resolve/lines/lines.h"

struct code;
struct profile;

struct report_code {
	const struct profile *profile;
	struct lines_options lines; /* how source lines are read ... */
	bool with_lines;            /* ... if they are */
	struct code *open;
	uint32_t image; /* whose it is; UINT32_MAX: none was asked for */
};

void report_code_init(struct report_code *c, const struct profile *profile,
		      const struct lines_options *lines);
void report_code_done(struct report_code *c);
/* The code of an image of the profile, borrowed until the next call; NULL, which is said on
 * stderr: it is not to be had.  For struct assembly_source: `ctx` is a struct report_code. */
struct code *report_code_of(void *ctx, uint32_t image);
