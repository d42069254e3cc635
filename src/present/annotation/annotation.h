/* SPDX-License-Identifier: GPL-2.0-or-later */
/* annotation.h - arranges a profile by source files and lines, for annotated listings.
 * Layer: present.
 * A sample counts for the line that its address maps to: code of an inlined function counts for
 * the line of that function's source.  A function's total counts all samples in its code,
 * including functions inlined into it, and is shown at the line where the function begins.  So
 * the lines add up to the samples, and the totals overlap with the lines. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"
#include "present/lines/lines.h"
#include "present/lines/ratio.h"

struct buf;
struct code;
struct err;
struct present_options;
struct profile;

struct annotated_line {
	uint32_t line; /* 0: code of the file without a line number */
	const uint64_t *counts;
};

/* A function that begins at a line. */
struct annotated_start {
	uint32_t file;
	uint32_t line;
	uint32_t function; /* of the profile */
	const uint64_t *counts;
};

/* Samples in code of an inlined function, including functions inlined into it.  They are shown at
 * the call site, or as the sum of all calls at the line that declares the function. */
struct annotated_site {
	uint32_t file;
	uint32_t line;
	uint32_t name; /* string: name of the function */
	bool is_sum;   /* sum of all calls, at the declaration */
	uint64_t *counts;
};

struct annotated_file {
	const char *path;
	uint32_t image; /* string: the binary that has most of its samples */
	uint64_t *counts;
	struct annotated_line *lines; /* sorted by line */
	size_t nr_lines;
	struct annotated_start *starts; /* sorted by line, then most samples first */
	size_t nr_starts;
	struct annotated_site
		*sites; /* sorted by line, then most samples first; needs code_of */
	size_t nr_sites;
	/* Samples of `image`; used only while the annotation is built. */
	uint64_t image_samples;
};

/* Samples without a line, by image. */
struct annotated_rest {
	uint32_t image; /* string */
	uint64_t *counts;
	bool has_lines; /* other code of the image has source lines */
};

struct annotation {
	struct profile *p;
	struct report_lines groups; /* columns and their totals */
	size_t nr_columns;          /* of samples */
	/* Length of each array of counts: one number of samples per column and, with ratios, also
	 * one period per column. */
	size_t nr_counts;
	VEC(struct ratio) ratios;
	VEC(struct annotated_file) files; /* most samples first */
	VEC(struct annotated_rest) rest;  /* most samples first */
	uint64_t *without_line;           /* the sum of `rest` */
	uint64_t *other; /* counts of the functions that `top` excludes */
	/* An event is not precise: samples can be attributed to a later instruction. */
	bool has_skid;
	/* Memory that the pointers above refer to. */
	VEC(struct annotated_line) all_lines;
	VEC(struct annotated_start) all_starts;
	VEC(struct annotated_site) all_sites;
	uint64_t *functions; /* by function */
	uint64_t *pool;
	size_t pool_used;
};

struct annotation_options {
	const struct present_options *present;
	size_t top; /* only this many functions, those with the most samples; 0: all */
	/* Returns the code of an image of the profile with its lines, valid until the next call,
	 * or NULL if the binary is not found.  Needed to find inlined call sites. */
	struct code *(*code_of)(void *ctx, uint32_t image);
	void *ctx;
};

/* Builds the annotation from a profile with the keys image, symbol, function-line, address and
 * line.  Without function-line and line there are no files.  Returns 0, -ENOMEM, or -EINVAL with
 * a message if the columns cannot be shown next to each other.  Call annotation_done() in every
 * case. */
int annotation_make(struct annotation *a, struct profile *p,
		    const struct annotation_options *options, struct err *err);
void annotation_done(struct annotation *a);
/* Appends the quotient of a ratio for these counts as digits, or "-" if the divisor is 0. */
void annotation_put_ratio(const struct annotation *a, const uint64_t *counts,
			  size_t ratio, struct buf *out);
/* Returns true if these samples are at least `threshold` percent of the selected samples of any
 * event. */
bool annotation_reaches(const struct annotation *a, const uint64_t *counts,
			double threshold);
/* Finds the line with the most samples.  Returns false if no line has samples. */
bool annotation_hottest(const struct annotation *a, size_t *ret_file,
			uint32_t *ret_line);
