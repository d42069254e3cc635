/* SPDX-License-Identifier: GPL-2.0-or-later */
/* name_rules.h - the rules of --demangle=smart: ours, and before them the user's own.
 * Layer: recordings. */
#pragma once

struct err;
struct name_patterns;

/* The user's are in the file `given`, or, if that is NULL and it exists, in
 * $XDG_CONFIG_HOME/oprofile/stl.pat (~/.config).  0, or a negative errno with a line for the
 * user.  The caller owns *ret_patterns. */
int name_rules_make(const char *given, struct name_patterns **ret_patterns,
		    struct err *err);
