/* SPDX-License-Identifier: GPL-2.0-or-later */
/* write_annotation.h - writes sources with the samples before each line, in OProfile's format.
 * Layer: present.  The caller checks `out` with ferror(). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "present/lines/screen.h"

struct annotation;

enum {
	ANNOTATE_WHOLE = -1 /* for `context`: all lines of a file */
};

struct annotation_layout {
	struct screen screen;
	long context; /* context lines around lines that have samples */
	/* Show only the lines around this one; 0: all lines that have samples, with their
	 * context. */
	uint32_t only_line;
	/* Put the file's summary after it, so that lines keep their numbers. */
	bool info_last;
	const char *const *words; /* the command line, ends with NULL */
	/* How the command line was interpreted; ends with NULL. */
	const char *const *said;
};

/* The source of a file. */
struct annotation_source {
	FILE *text;       /* NULL: not available */
	const char *note; /* a remark about the source; NULL: none */
};

/* Writes the comment about the events and the interpretation of the command line.  Returns 0 or
 * -ENOMEM. */
int annotation_write_info(FILE *out, const struct annotation *a,
			  const struct annotation_layout *l);
/* Writes a file, and adds the counts of the shown lines to `shown`.  Returns 0 or -ENOMEM. */
int annotation_write_file(FILE *out, const struct annotation *a, size_t file,
			  const struct annotation_source *source,
			  const struct annotation_layout *l, uint64_t *shown);
/* Writes the comment after the last file or function: the numbers of shown samples, and of the
 * others by reason. */
void annotation_write_sums(FILE *out, const struct annotation *a,
			   const struct annotation_layout *l, const uint64_t *shown,
			   bool by_line);
