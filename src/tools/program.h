/* SPDX-License-Identifier: GPL-2.0-or-later */
/* program.h - `oprofile ./program`: records a program, and shows its hottest functions.
 * Layer: tools. */
#pragma once

/* Records the program argv[0] with its arguments, which end with NULL.  Returns the exit status of
 * operf. */
int program_profile(char *const *argv);
/* If `word`, which is not a command, is the name of a program, returns a hint how to record that
 * program. Otherwise, or if memory is short, returns NULL. The caller frees the hint. */
char *program_hint(const char *word);
