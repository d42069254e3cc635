/* SPDX-License-Identifier: GPL-2.0-or-later */
/* comma.h - lists with commas, as options and profile specifications have them.
 * Layer: base. */
#pragma once

/* The next value of a comma list, malloc'd; `\,` is a comma within a value.  Moves *text
 * behind the comma, or to NULL after the last value.  NULL when memory is short. */
char *comma_next(const char **text);
