/* SPDX-License-Identifier: GPL-2.0-or-later */
/* version.h - reports the version and the features of the build.
 * Layer: tools. */
#pragma once
#include <stdio.h>

/* Returns the version, such as "0.1.0". */
const char *version_string(void);
/* Prints the output of `oprofile --version`: the version, then one line per library and per source
 * of events.  Omits the build date, so that the same source gives the same binary. */
void version_print(FILE *out);
