/* SPDX-License-Identifier: GPL-2.0-or-later */
/* program_find.h - finds the file of a program as a shell does.
 * Layer: base. */
#pragma once
#include <stdbool.h>

/* Returns the path without links (malloc'd) of a program: of `name` if it contains a slash, or else
 * of an executable file of that name in $PATH.  Returns NULL if no such file
 * is found. */
char *program_find(const char *name);
/* Returns whether `name` can be executed: it is found, and is an executable regular file. */
bool program_can_run(const char *name);
