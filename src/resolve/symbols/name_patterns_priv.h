/* name_patterns_priv.h - parts of name_patterns.c.
 * Layer: resolve, for name_patterns*.c alone. */
#pragma once

/* The text of stl.pat. */
extern const char name_patterns_stl[];

/* The longest text that everything has that an extended regular expression matches,
 * malloc'd: "" if none is seen.  A look for it spares most names the matching.  NULL: no
 * memory. */
char *name_pattern_literal(const char *pattern);
