/* SPDX-License-Identifier: GPL-2.0-or-later */
/* odb_tree.h - converts a session of OProfile, a directory of sample files (format/odb), to a
 * segment of a session.
 * Layer: import.  docs/oprofile-trees.md describes such sessions. */
#pragma once
#include <stdbool.h>

struct err;
struct import_request;
struct import_result;

/* Returns 1 if the directory is a session of OProfile, 0 if not, or a negative errno with a message
 * in *err. */
int import_is_odb_tree(const char *dir, struct err *err);
/* Like import_file(), for the directory request->path. Each offset of a sample file becomes one
 * stored sample, whose period divided by the event's count is the number of samples
 * (SESSION_WEIGHTED). Files that cannot be read are reported by fault_incomplete() and skipped.
 * The request must name the session's directory, which receives the kernel's symbols. */
int import_odb_tree(const struct import_request *request,
		    struct import_result *ret_result, struct err *err);
/* Calls import_foreign() (foreign.h) or, for a directory, import_odb_tree(). */
int import_of_other_tool(const struct import_request *request,
			 struct import_result *ret_result, struct err *err);
