/* SPDX-License-Identifier: GPL-2.0-or-later */
/* version.h - which version this is and what was built in.
 * Layer: tools. */
#pragma once
#include <stdio.h>

/* "0.1.0" */
const char *version_string(void);
/* `oprofile --version`: the version, then a line for each library and feature.  Holds no
 * build date: the same source gives the same binary. */
void version_print(FILE *out);
