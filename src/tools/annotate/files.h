/* SPDX-License-Identifier: GPL-2.0-or-later */
/* files.h - the files of `oprofile annotate`: sources, and what --output-dir gets.
 * Layer: tools. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

struct report_code;
struct err;
struct naming_places;
struct profile_image;
struct source_find;

/* Where sources are looked for. */
struct source_places {
	struct source_find *find;
	struct naming_places *places; /* with the servers of debuginfod; NULL: none */
	struct report_code
		*code;  /* whose debug information may have them; NULL: none */
	bool handed_on; /* source_find_open() decides what is taken */
};

/* A source, opened. */
struct source_file {
	FILE *text;      /* NULL: cannot be shown, and ... */
	char why[96];    /* ... this is why */
	char *file;      /* where it was found; NULL: nowhere */
	bool fetched;    /* from a server: its times say nothing */
	bool is_private; /* not every user can read it, so not its copies either */
	struct stat st;
};

/* Opens the source that is called `path` by the debug information of `image` (NULL: not known):
 * where source_find() has it, else from servers, else in the debug information itself.  Of a recording from elsewhere the path means
 * nothing here.  What is no regular file of text is not read.  0 or -ENOMEM; source_file_close()
 * it. */
int source_file_open(const struct source_places *places, const char *path,
		     const struct profile_image *image, struct source_file *ret_source);
void source_file_close(struct source_file *s);

/* The directory of --output-dir. */
struct annotate_output {
	int fd;
	const char *dir;
	bool is_private; /* all that is written there, and directories that are made */
};

/* Makes o->dir, with those above, unless it is there, and opens it as o->fd.  0, or a negative errno with a
 * line. */
int annotate_output_open(struct annotate_output *o, struct err *err);
/* A new file DIR/PATH, whatever links are below DIR: none is followed.  A directory that is there must belong to the
 * caller or to root.  An older file is replaced; not the source itself.  NULL with a line. */
FILE *annotate_output_file(const struct annotate_output *o, const char *path,
			   const struct source_file *source, struct err *err);
/* Removes the file again, of which not all could be written. */
void annotate_output_remove(const struct annotate_output *o, const char *path);
