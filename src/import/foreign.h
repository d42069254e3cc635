/* SPDX-License-Identifier: GPL-2.0-or-later */
/* foreign.h - converts a profile of another tool (format/foreign/foreign.h) to a segment of a
 * session.
 * Layer: import. */
#pragma once
#include <stdbool.h>

struct err;
struct import_request;
struct import_result;

/* Returns 1 if the content of a file is such a profile, 0 if not, or a negative errno. */
int import_is_foreign(const char *path);
/* Returns true if the standard input is not a perf.data file.  Waits for its first bytes, but
 * does not consume them. */
bool import_is_input_foreign(void);
/* Like import_file(), but the request must name the session's directory, which receives the
 * names of functions.  Lines that could not be parsed, and a sample that the end of the
 * input cuts, count as malformed and are reported by fault_incomplete(). */
int import_foreign(const struct import_request *request,
		   struct import_result *ret_result, struct err *err);
