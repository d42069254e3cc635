/* SPDX-License-Identifier: GPL-2.0-or-later */
/* files.h - the files of `oprofile annotate`: reads sources, and writes into --output-dir.
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

/* Configures the search for sources. */
struct source_places {
	struct source_find *find;
	struct naming_places *places; /* contains the debuginfod servers; NULL: none */
	struct report_code *
		code; /* code whose debug information can contain sources; NULL: none */
	bool handed_on; /* others will read the output: use the rules of source_find_open() */
};

/* An open source file. */
struct source_file {
	FILE *text;      /* NULL: cannot be shown */
	char why[96];    /* the reason if `text` is NULL */
	char *file;      /* its path; NULL: not found */
	bool fetched;    /* from a server, so its times are meaningless */
	bool is_private; /* not every user can read it, so copies must be private */
	struct stat st;
};

/* Opens the source that the debug information of `image` (NULL: unknown) calls `path`: first as
 * found by source_find(), then from servers, then from the debug information itself.  If the
 * recording is from another machine, local paths are not used.  Rejects files that are not
 * regular or not text.  Returns 0 or -ENOMEM; call source_file_close() in both cases. */
int source_file_open(const struct source_places *places, const char *path,
		     const struct profile_image *image, struct source_file *ret_source);
void source_file_close(struct source_file *s);

/* The directory of --output-dir. */
struct annotate_output {
	int fd;
	const char *dir;
	bool is_private; /* restricts all files and directories created there to the owner */
};

/* Creates o->dir with its parents unless it exists, and opens it as o->fd.  Returns 0, or a
 * negative errno with a message in *err. */
int annotate_output_open(struct annotate_output *o, struct err *err);
/* Creates the file DIR/PATH without following links below DIR.  Existing directories must belong
 * to the caller or root.  Replaces an older file, but never the source itself.  Returns NULL with
 * a message in *err on failure. */
FILE *annotate_output_file(const struct annotate_output *o, const char *path,
			   const struct source_file *source, struct err *err);
/* Removes a file that could not be written completely. */
void annotate_output_remove(const struct annotate_output *o, const char *path);
