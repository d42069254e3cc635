/* SPDX-License-Identifier: GPL-2.0-or-later */
/* write_diff.h - writes a differential profile: the functions of two profiles side by side, as text
 * in OProfile's layout, CSV or JSON.
 * Layer: present. */
#pragma once
#include <stdio.h>

struct err;
struct present_options;
struct profile;

enum diff_form {
	DIFF_TEXT,
	DIFF_CSV,
	DIFF_JSON
};

/* Two profiles with the keys app, image and symbol. */
struct diff_sides {
	struct profile *before;
	struct profile *after;
};

/* Functions are the same if image, application and name are.  Returns 0, -ENOMEM, or -EINVAL with a
 * message if the profiles have different columns of counts.  The caller checks `out` with
 * ferror(). */
int write_diff(FILE *out, const struct diff_sides *sides, enum diff_form form,
	       const struct present_options *options, struct err *err);
