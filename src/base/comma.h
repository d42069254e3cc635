/* SPDX-License-Identifier: GPL-2.0-or-later */
/* comma.h - parses comma-separated lists, as in options and profile specifications.
 * Layer: base. */
#pragma once

/* Returns the next value of a comma-separated list, which the caller frees; `\,` is a comma
 * within a value. Moves *text past the comma, or to NULL after the last value. Returns NULL if
 * memory is short. */
char *comma_next(const char **text);
