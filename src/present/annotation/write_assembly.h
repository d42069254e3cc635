/* SPDX-License-Identifier: GPL-2.0-or-later */
/* write_assembly.h - writes functions instruction by instruction with their samples, in the format
 * that OProfile puts around objdump's output, on request with source lines.
 * Layer: present.  The caller checks `out` with ferror(). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "present/annotation/write_annotation.h"

struct assembly;
struct assembly_function;
struct code;

/* The source of the images' code, and options for showing it. */
struct assembly_source {
	/* Returns the code of an image of the profile, valid until the next call, or NULL if the
	 * binary is not found. */
	struct code *(*code_of)(void *ctx, uint32_t image);
	/* Opens a source for reading.  Returns NULL if it is not available. */
	FILE *(*open_source)(void *ctx, const char *path);
	/* Writes the function of the current rows in another format.  Returns 1 if it did, 0 if
	 * it did not, or -ENOMEM.  Adds the shown samples to `shown`.  Can be NULL. */
	int (*write)(void *ctx, FILE *out, const struct assembly *s,
		     const struct assembly_function *function, uint64_t *shown);
	void *ctx;
	double threshold;  /* percent: functions with less are not shown */
	size_t top;        /* only this many functions; 0: all */
	bool hottest;      /* only the instruction with the most samples */
	bool mixed;        /* add source lines */
	bool inline_sites; /* and inlined call sites */
};

/* Writes all functions, most samples first, and adds the counts that are shown to `shown`.
 * Returns 0 or -ENOMEM. */
int assembly_write(FILE *out, const struct annotation *a,
		   const struct assembly_source *source,
		   const struct annotation_layout *l, uint64_t *shown);
