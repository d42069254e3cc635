/* SPDX-License-Identifier: GPL-2.0-or-later */
/* image_code.h - opens the code of a profile's images, one at a time.
 * Layer: recordings. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "resolve/lines/lines.h"

struct code;
struct profile;

/* Prints a warning, like command_warning(). */
typedef void image_code_warn(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

struct image_code {
	const struct profile *profile;
	struct lines_options lines; /* how to read source lines */
	bool with_lines;            /* find the source line of each instruction */
	image_code_warn *warn;      /* NULL: no warnings */
	struct code *open;
	uint32_t image; /* image that is open; UINT32_MAX: none yet */
};

void image_code_init(struct image_code *c, const struct profile *profile,
		     const struct lines_options *lines, image_code_warn *warn);
void image_code_done(struct image_code *c);
/* Returns the code of an image of the profile, borrowed until the next call for another image.
 * Returns NULL if the code cannot be opened; the first of several calls in a row for the same
 * image also warns. A callback of struct assembly_source; `ctx` is a struct image_code. */
struct code *image_code_of(void *ctx, uint32_t image);
