/* SPDX-License-Identifier: GPL-2.0-or-later */
/* source_file.h - opens the source files that debug information names.
 * Layer: recordings. */
#pragma once
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

struct image_code;
struct naming_locations;
struct profile_image;
struct source_find;

/* Where to search for sources. */
struct source_locations {
	struct source_find *find;
	struct naming_locations
		*locations; /* contains the debuginfod servers; NULL: none */
	struct image_code *
		code; /* code whose debug information can contain sources; NULL: none */
	bool handed_on; /* other users can read the output: open files by source_find_open() */
};

/* An open source file. */
struct source_file {
	FILE *text;   /* NULL: cannot be shown */
	char why[96]; /* the reason if `text` is NULL */
	char *file;   /* path of the source file; NULL: not found */
	/* from a server or debug information: `st` has no meaningful modification time */
	bool fetched;
	bool is_private; /* not every user can read the source, so copies must be private */
	struct stat st;
};

/* Opens the source that the debug information of `image` (NULL: unknown) calls `path`. Tries
 * source_find() first, then the debuginfod servers, then sources that are embedded in the debug
 * information. If the recording is from another machine, does not open `path` itself on this
 * one. Rejects files that are not regular or not text. Returns 0, also if the source cannot be
 * shown, or -ENOMEM; call source_file_close() in both cases. */
int source_file_open(const struct source_locations *locations, const char *path,
		     const struct profile_image *image, struct source_file *ret_source);
void source_file_close(struct source_file *s);
