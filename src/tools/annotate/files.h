/* SPDX-License-Identifier: GPL-2.0-or-later */
/* files.h - the files of `oprofile annotate` in --output-dir.
 * Layer: tools. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/containers/strtab.h"

struct err;
struct source_file;

/* The directory of --output-dir. */
struct annotate_output {
	int fd; /* -1 until it is open */
	const char *dir;
	bool is_private; /* all files written there, and new directories */
	struct strtab written;
};

/* Creates o->dir and its parents unless they exist, and opens it as o->fd.  Returns 0, or a
 * negative errno with a message.  annotate_output_close() it in either case. */
int annotate_output_open(struct annotate_output *o, struct err *err);
void annotate_output_close(struct annotate_output *o);
/* Returns the path of a source's file below the directory, beginning with "/": the full path of
 * the source, in which control characters and invalid UTF-8 are escaped, or "_" where escapes
 * would make the name too long, because any user can choose the names in debug information.
 * Empty for the source "/".  The caller frees it.  Returns NULL if memory is short. */
char *annotate_output_path(const char *source);
/* Creates the file DIR/PATH without following a link below DIR.  Existing directories must
 * belong to the caller or to root.  Replaces an older file, but not the source itself, nor a
 * file that this run created.  Returns 0, or a negative errno with a message. */
int annotate_output_file(struct annotate_output *o, const char *path,
			 const struct source_file *source, FILE **ret_out,
			 struct err *err);
/* Returns whether an error of annotate_output_file() concerns only this path, for example because
 * the path is too long or one of its directories is a file. Then other files can still be
 * written. */
bool annotate_output_leaves_out(int code);
/* Removes a file that could not be written completely. */
void annotate_output_remove(const struct annotate_output *o, const char *path);
