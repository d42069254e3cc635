/* SPDX-License-Identifier: GPL-2.0-or-later */
/* version.h - reports the version and the features of the build.
 * Layer: tools. */
#pragma once
#include <stdio.h>

/* "0.1.0" */
const char *version_string(void);
/* Prints `oprofile --version`: the version, then a line for each library and feature.  Contains
 * no build date, so that the same source gives the same binary. */
void version_print(FILE *out);
