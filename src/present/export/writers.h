/* writers.h - the forms a profile is written in.
 * Layer: present.  A form is a row of writers.c and a function of its own file. */
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
	/* 0, -ENOMEM, or -EINVAL: the profile cannot be shown in this form.  Errors of `out`
	 * are found by ferror(). */
	int (*write)(FILE *out, struct profile *p,
		     const struct present_options *options, struct err *err);
};

extern const struct writer writers[]; /* ends with name NULL */

const struct writer *writer_find(const char *name);
