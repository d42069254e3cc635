/* json.h - an annotation as JSON, {"schema":"oprofile-annotate/1",...}: what the
 * members are is in docs/annotate.md.
 * Layer: present.  Errors of `out` are found by ferror(). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct annotation;
struct code;

struct annotation_json {
	/* The code of an image of the profile, borrowed until the next call; NULL: it is
	 * nowhere. */
	struct code *(*code_of)(void *ctx, uint32_t image);
	/* Whether a file is to be among them. */
	bool (*wants_file)(void *ctx, size_t file);
	void *ctx;
	bool sources;
	bool code;
	double threshold; /* percent: functions with less are left out */
	size_t top;       /* only so many functions; 0: all */
};

/* 0 or -ENOMEM. */
int annotation_write_json(FILE *out, const struct annotation *a,
			  const struct annotation_json *what);
