/* SPDX-License-Identifier: GPL-2.0-or-later */
/* word_file.h - words of a command line that stand for the words in a file: @FILE.
 * Layer: tools.  As GNU tools do it (libiberty's expandargv): blanks separate words, quotes
 * and backslashes protect; a word whose file cannot be read stays as it is. */
#pragma once
#include "base/buf.h"
#include "base/containers/vec.h"

struct err;

struct word_file {
	int argc;
	char **argv; /* with NULL behind */
	VEC(char *) words;
};

/* 0, -E2BIG (files in files without end) or -ENOMEM. */
int word_file_expand(struct word_file *w, int argc, char **argv, struct err *err);
void word_file_done(struct word_file *w);
