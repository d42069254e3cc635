/* SPDX-License-Identifier: GPL-2.0-or-later */
/* name_rules.h - the rules of --demangle=smart: the user's rules, followed by the built-in ones.
 * Layer: recordings. */
#pragma once

struct err;
struct name_patterns;

/* Reads the user's rules from the file `given`, or if that is NULL, from
 * $XDG_CONFIG_HOME/oprofile/stl.pat (~/.config) if it exists.  Returns 0, or a negative errno
 * with a message in *err.  The caller owns *ret_patterns. */
int name_rules_make(const char *given, struct name_patterns **ret_patterns,
		    struct err *err);
