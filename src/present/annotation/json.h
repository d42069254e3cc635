/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json.h - writes an annotation as JSON, {"schema":"oprofile-annotate/1",...}; docs/annotate.md
 * describes the members.
 * Layer: present.  The caller checks `out` with ferror(). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct annotation;
struct code;

struct annotation_json {
	/* Returns the code of an image of the profile, valid until the next call, or NULL if the
	 * binary is not found. */
	struct code *(*code_of)(void *ctx, uint32_t image);
	/* Returns true if the file is included. */
	bool (*wants_file)(void *ctx, size_t file);
	void *ctx;
	bool sources;
	bool code;
	double threshold; /* percent: functions with less are omitted */
	size_t top;       /* only this many functions; 0: all */
};

/* Writes the annotation to `out` as JSON. Returns 0 or -ENOMEM. */
int annotation_write_json(FILE *out, const struct annotation *a,
			  const struct annotation_json *what);
