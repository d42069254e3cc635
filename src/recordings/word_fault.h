/* SPDX-License-Identifier: GPL-2.0-or-later */
/* word_fault.h - explains why an argument does not name a recording.
 * Layer: recordings. */
#pragma once
#include <stdbool.h>

/* Returns the text to append to the word in a message, or NULL if the word does not look like a
 * file. `program_too`: also explain programs. */
const char *word_fault(const char *word, bool program_too);
