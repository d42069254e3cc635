/* SPDX-License-Identifier: GPL-2.0-or-later */
/* code.h - opens the code of a profile's images, one at a time.
 * Layer: tools, for opreport and opannotate. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "resolve/lines/lines.h"

struct code;
struct profile;

struct report_code {
	const struct profile *profile;
	struct lines_options lines; /* how to read source lines */
	bool with_lines;            /* find the source line of each instruction */
	struct code *open;
	uint32_t image; /* image that is open; UINT32_MAX: none yet */
};

void report_code_init(struct report_code *c, const struct profile *profile,
		      const struct lines_options *lines);
void report_code_done(struct report_code *c);
/* Returns the code of an image of the profile, borrowed until the next call; NULL after a warning
 * if it cannot be opened. A callback of struct assembly_source; `ctx` is a struct report_code. */
struct code *report_code_of(void *ctx, uint32_t image);
