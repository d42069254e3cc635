/* annotation.h - a profile by source files and lines: what annotated listings are made of.
 * Layer: present.
 *
 * A sample counts for the line that its address came from: code of an inlined function for the
 * line of that function's source.  A function's total counts all samples in its code, what was
 * inlined into it as well, and stands at the line where the function begins.  So lines add up
 * to the samples, and totals overlap with them. */
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
	uint32_t line; /* 0: code of the file that is of none of its lines */
	const uint64_t *counts;
};

/* A function that begins at a line. */
struct annotated_start {
	uint32_t file;
	uint32_t line;
	uint32_t function; /* of the profile */
	const uint64_t *counts;
};

/* Samples in code of a function that was inlined, what was inlined into that included: where it
 * was called, or in all at the line that declares it. */
struct annotated_site {
	uint32_t file;
	uint32_t line;
	uint32_t name; /* string: of the function */
	bool is_sum;   /* all calls, at the declaration */
	uint64_t *counts;
};

struct annotated_file {
	const char *path;
	uint32_t image; /* string: the binary that most of its samples are of */
	uint64_t *counts;
	struct annotated_line *lines; /* by line */
	size_t nr_lines;
	struct annotated_start *starts; /* by line, the most samples first */
	size_t nr_starts;
	struct annotated_site
		*sites; /* by line, the most samples first; only if asked for */
	size_t nr_sites;
	uint64_t image_samples; /* while it is made: of `image` */
};

/* Samples without a line: of an image. */
struct annotated_rest {
	uint32_t image; /* string */
	uint64_t *counts;
	bool has_lines; /* other code of the image has lines */
};

struct annotation {
	struct profile *p;
	struct report_lines groups; /* columns, their totals; */
	size_t nr_columns;          /* of samples */
	size_t nr_counts; /* counts are arrays of so many: samples, and with ratios periods */
	VEC(struct ratio) ratios;
	VEC(struct annotated_file) files; /* the most samples first */
	VEC(struct annotated_rest) rest;  /* likewise */
	uint64_t *without_line;           /* the sum of `rest` */
	uint64_t *other;                  /* of functions beyond the top ones */
	bool has_skid; /* an event is not precise: samples may stand behind their place */
	/* What the above point into. */
	VEC(struct annotated_line) all_lines;
	VEC(struct annotated_start) all_starts;
	VEC(struct annotated_site) all_sites;
	uint64_t *functions; /* by function */
	uint64_t *pool;
	size_t pool_used;
};

struct annotation_options {
	const struct present_options *present;
	size_t top; /* only the functions with the most samples, so many; 0: all */
	/* The code of an image of the profile with its lines, borrowed until the next call; NULL:
	 * it is nowhere.  With it sites are found. */
	struct code *(*code_of)(void *ctx, uint32_t image);
	void *ctx;
};

/* Makes it from a profile with the keys image, symbol, function-line, address and line; without
 * function-line and line there are no files.  0, -ENOMEM, or -EINVAL with a line: columns cannot
 * stand side by side.  annotation_done() in any case. */
int annotation_make(struct annotation *a, struct profile *p,
		    const struct annotation_options *options, struct err *err);
void annotation_done(struct annotation *a);
/* The quotient that a ratio has of these counts, as digits; "-": there is nothing to divide by. */
void annotation_put_ratio(const struct annotation *a, const uint64_t *counts,
			  size_t ratio, struct buf *out);
/* Whether these samples are, of any event, at least `threshold` percent of the selected ones. */
bool annotation_reaches(const struct annotation *a, const uint64_t *counts,
			double threshold);
/* The most samples that one line has, and where; false if no line has any. */
bool annotation_hottest(const struct annotation *a, size_t *ret_file,
			uint32_t *ret_line);
