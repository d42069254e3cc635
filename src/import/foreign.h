/* SPDX-License-Identifier: GPL-2.0-or-later */
/* foreign.h - one profile of another tool (format/foreign/foreign.h) to one segment of a session.
 * Layer: import. */
#pragma once
#include <stdbool.h>

struct err;
struct import_request;
struct import_result;

/* Whether a file is such a profile, by its content: 1, 0, or a negative errno. */
int import_is_foreign(const char *path);
/* Whether what comes on the standard input, of which nothing is taken yet, is no perf.data: waits for
 * its first bytes. */
bool import_is_input_foreign(void);
/* As import_file(); the session's folder, which the request must name, takes the names of functions.
 * Lines that were not understood are counted as malformed.  */
int import_foreign(const struct import_request *request,
		   struct import_result *ret_result, struct err *err);
