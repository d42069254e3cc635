/* write_assembly.h - functions, instruction by instruction, with the samples of each in front:
 * as OProfile prints what objdump says (oprofile-behaviour.md 1.2), on request with the source
 * lines that they came from.
 * Layer: present.  Errors of `out` are found by ferror(). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "present/annotation/write_annotation.h"

struct assembly;
struct assembly_function;
struct code;

/* Where the code of images comes from, and what is shown of it. */
struct assembly_source {
	/* The code of an image of the profile; NULL: it is nowhere.  Borrowed until the next
	 * call. */
	struct code *(*code_of)(void *ctx, uint32_t image);
	/* Opens a source for reading, NULL: it cannot be shown. */
	FILE *(*open_source)(void *ctx, const char *path);
	/* Writes the function, whose rows are at hand, in another way: 1: it did; 0: it does
	 * not; -ENOMEM.  What it shows is added to `shown`.  May be NULL. */
	int (*write)(void *ctx, FILE *out, const struct assembly *s,
		     const struct assembly_function *function, uint64_t *shown);
	void *ctx;
	double threshold;  /* percent: functions with less are not shown */
	size_t top;        /* only so many functions; 0: all */
	bool hottest;      /* only the instruction with the most samples */
	bool mixed;        /* source lines between them */
	bool inline_sites; /* and what was inlined where */
};

/* All functions, the most samples first.  Counts of what is shown are added to `shown`.  0 or
 * -ENOMEM. */
int assembly_write(FILE *out, const struct annotation *a,
		   const struct assembly_source *source,
		   const struct annotation_layout *l, uint64_t *shown);
