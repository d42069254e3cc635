/* write_annotation.h - sources with the samples of their lines in front, as OProfile sets them
 * (oprofile-behaviour.md 1.2).
 * Layer: present.  Errors of `out` are found by ferror(). */
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
	long context;       /* lines shown around those that have samples */
	uint32_t only_line; /* and only around this one; 0: around all */
	bool info_last; /* what is said of a file stands behind it, so that lines keep
			     * their numbers */
	const char *const *words; /* the command line, ends with NULL */
	const char *const *said;  /* how it was understood, likewise */
};

/* A file's source. */
struct annotation_source {
	FILE *text;       /* NULL: there is none */
	const char *note; /* what is to be known of it; NULL: nothing */
};

/* The comment on what was counted, and how the command line was understood.  0 or -ENOMEM. */
int annotation_write_info(FILE *out, const struct annotation *a,
			  const struct annotation_layout *l);
/* One file.  The counts of the lines that are shown are added to `shown`.  0 or -ENOMEM. */
int annotation_write_file(FILE *out, const struct annotation *a, size_t file,
			  const struct annotation_source *source,
			  const struct annotation_layout *l, uint64_t *shown);
/* The comment behind the last file, or function: that what was shown and what was not are all
 * samples. */
void annotation_write_sums(FILE *out, const struct annotation *a,
			   const struct annotation_layout *l, const uint64_t *shown,
			   bool by_line);
