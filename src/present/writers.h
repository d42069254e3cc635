/* writers.h - the forms a profile is written in.
 * Layer: present.  A form is a row of writers.c and a function of its own file. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

struct profile;

struct present_options {
	double threshold; /* percent; smaller shares are not shown */
	bool no_header;   /* neither header lines nor column titles */
	bool reverse;     /* smallest first */
	bool long_names;  /* full paths in text forms */
	bool quality;     /* a footer (JSON: an object) on how far it can be trusted */
};

struct writer {
	const char *name;
	const char *help;
	/* 0 or -ENOMEM.  Errors of `out` are found by ferror(). */
	int (*write)(FILE *out, struct profile *p,
		     const struct present_options *options);
};

extern const struct writer writers[]; /* ends with name NULL */

const struct writer *writer_find(const char *name);

int write_summary(FILE *out, struct profile *p, const struct present_options *options);
int write_symbols(FILE *out, struct profile *p, const struct present_options *options);
int write_table(FILE *out, struct profile *p, const struct present_options *options);
int write_csv(FILE *out, struct profile *p, const struct present_options *options);
int write_json(FILE *out, struct profile *p, const struct present_options *options);
