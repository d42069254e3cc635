/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run.h - calls operf for commands that record first and then show the result.
 * Layer: tools. */
#pragma once
#include <stdbool.h>

/* Runs operf with these arguments, which end with NULL and begin after the command's name; `dir` is
 * their session directory, or NULL for the default. Returns the exit status of operf, and sets
 * *ret_recorded if there is a new session. */
int record_run(const char *dir, char *const *words, bool *ret_recorded);
