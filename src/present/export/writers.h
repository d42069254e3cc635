/* SPDX-License-Identifier: GPL-2.0-or-later */
/* writers.h - the output formats of a profile.
 * Layer: present.  A format has a row in writers.c and a function in its own file. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct err;
struct present_options;
struct profile;

struct writer {
	const char *name;
	const char *help;
	/* Writes the profile.  Returns 0, -ENOMEM, or -EINVAL with a message if the profile cannot
	 * be shown in this format.  The caller checks `out` with ferror(). */
	int (*write)(FILE *out, struct profile *p,
		     const struct present_options *options, struct err *err);
};

extern const struct writer writers[]; /* ends with name NULL */

const struct writer *writer_find(const char *name);
