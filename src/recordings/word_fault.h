/* SPDX-License-Identifier: GPL-2.0-or-later */
/* word_fault.h - explains why an argument does not name a recording.
 * Layer: recordings. */
#pragma once
#include <stdbool.h>

struct err;

/* Stores a message in *err about the file that an argument names, and returns true. Returns
 * false if the argument does not look like a file. `program_too`: also explain programs. */
bool word_fault(const char *word, bool program_too, struct err *err);
