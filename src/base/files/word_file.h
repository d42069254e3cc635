/* SPDX-License-Identifier: GPL-2.0-or-later */
/* word_file.h - expands @FILE on a command line to the words in that file.
 * Layer: base.  Follows GNU tools (libiberty's expandargv): blanks separate words, quotes and
 * backslashes protect them; if the file cannot be read, the word stays unchanged. */
#pragma once
#include "base/buf.h"
#include "base/containers/vec.h"

struct err;

struct word_file {
	int argc;
	char **argv; /* NULL-terminated */
	VEC(char *) words;
};

/* Replaces each argument @FILE by the arguments in the file. Returns 0, -E2BIG (files include each
 * other endlessly) or -ENOMEM. */
int word_file_expand(struct word_file *w, int argc, char **argv, struct err *err);
void word_file_done(struct word_file *w);
