/* SPDX-License-Identifier: GPL-2.0-or-later */
/* foreign.h - converts a profile of another tool (format/foreign/foreign.h) to a segment of a
 * session.
 * Layer: import. */
#pragma once
#include <stdbool.h>

struct err;
struct foreign_format;
struct import_request;
struct import_result;

/* Detects the format of a file, or of its content if it is compressed; stores NULL if it is
 * unknown.  Returns 0; -EPERM for a compressed file of another user, which is not decompressed;
 * or another negative errno. */
int import_recognise(const char *path, const struct foreign_format **ret_format);
/* Returns 1 if the file is a profile of another tool, 0 if it can be something else, or a negative
 * errno with a message in *err, in particular if it is a profile in a format without a reader. */
int import_is_foreign(const char *path, struct err *err);
/* Returns whether the standard input is not a perf.data file. Waits for the first bytes of the
 * input, but does not consume them. */
bool import_is_input_foreign(void);
/* Like import_file(), but the request must name the session's directory, which receives the names
 * of functions. Counts lines that cannot be parsed, and a sample that is cut off at the end of the
 * input, as malformed; reports them by fault_incomplete(). */
int import_foreign(const struct import_request *request,
		   struct import_result *ret_result, struct err *err);
