/* SPDX-License-Identifier: GPL-2.0-or-later */
/* program.h - `oprofile ./program`: records a program, and shows its hottest functions.
 * Layer: tools. */
#pragma once

/* Records the program argv[0] with its arguments, which end with NULL.  Returns the exit status of
 * operf. */
int program_profile(char *const *argv);
/* Returns why `word`, which is not a command, could be a program, or NULL: how to record it. The
 * caller frees it. */
char *program_hint(const char *word);
