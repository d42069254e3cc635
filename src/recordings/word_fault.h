/* SPDX-License-Identifier: GPL-2.0-or-later */
/* word_fault.h - explains why an argument does not name a recording.
 * Layer: recordings. */
#pragma once
#include <stdbool.h>

struct err;

/* Returns false if the word does not look like a file.  Otherwise stores a message about the file
 * in *err.  `program_too`: also explain programs. */
bool word_fault(const char *word, bool program_too, struct err *err);
