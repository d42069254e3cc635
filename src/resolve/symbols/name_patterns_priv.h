/* SPDX-License-Identifier: GPL-2.0-or-later */
/* name_patterns_priv.h - parts of name_patterns.c.
 * Layer: resolve, only for name_patterns*.c. */
#pragma once

/* The text of stl.pat. */
extern const char name_patterns_stl[];

/* Returns the longest text found that every match of the extended regular expression contains
 * (malloc'd; "" if none is found), or NULL if out of memory. Most names do not contain it, and
 * need no regular expression match. */
char *name_pattern_literal(const char *pattern);
