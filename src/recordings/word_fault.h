/* SPDX-License-Identifier: GPL-2.0-or-later */
/* word_fault.h - why a word of a command line names no recording.
 * Layer: recordings. */
#pragma once
#include <stdbool.h>

/* What to say of the word, behind it; NULL: nothing, it is none of a file.
 * `program_too`: also of a program. */
const char *word_fault(const char *word, bool program_too);
