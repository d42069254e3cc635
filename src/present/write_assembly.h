/* write_assembly.h - functions, instruction by instruction, with the samples of each in front:
 * as OProfile prints what objdump says (oprofile-behaviour.md 1.2).
 * Layer: present.  Errors of `out` are found by ferror(). */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "present/write_annotation.h"

struct code;

/* Where the code of images comes from. */
struct assembly_source {
	/* The code of an image, by its name among the strings of the profile; NULL: it is
	 * nowhere.  Borrowed until the next call. */
	struct code *(*code_of)(void *ctx, uint32_t image);
	void *ctx;
	double threshold; /* percent: functions with less are not shown */
	size_t top;       /* only so many functions; 0: all */
	bool hottest;     /* only the instruction with the most samples */
};

/* All functions, the most samples first.  Counts of what is shown are added to `shown`.  0 or
 * -ENOMEM. */
int assembly_write(FILE *out, const struct annotation *a,
		   const struct assembly_source *source,
		   const struct annotation_layout *l, uint64_t *shown);
