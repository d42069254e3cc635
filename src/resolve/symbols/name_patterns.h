/* SPDX-License-Identifier: GPL-2.0-or-later */
/* name_patterns.h - shortens demangled names by the rules of pattern files (--demangle=smart).
 * Layer: resolve. Built once, then read-only: threads may call name_patterns_apply()
 * concurrently.
 *
 * The files have the syntax of OProfile's stl.pat. A line is empty, a comment ("#"), a
 * definition or a rule:
 *   $name = "text"           ${name} in a later line is replaced with the text
 *   "pattern" = "replacement"
 * A pattern is a POSIX extended regular expression. In the replacement, \1 to \9 and \a to \z
 * are its groups (\a is the tenth), \0 is the whole match, and \\ a backslash.
 * Rules are applied in order, each until it no longer matches, and all of them again until none
 * matches; at most a hundred times. */
#pragma once

struct err;
struct name_patterns;

/* Creates an object with the built-in rules (stl.pat). Returns 0 or -ENOMEM; the caller owns
 * *ret_patterns. */
int name_patterns_new(struct name_patterns **ret_patterns, struct err *err);
/* Adds the rules of a file before all existing rules; they can use the existing definitions.
 * Returns 0, -EINVAL with the line number in `err`, or another negative errno. */
int name_patterns_read(struct name_patterns *p, const char *path, struct err *err);
/* Like name_patterns_read(), for the open file `fd`; `path` is its name in errors. */
int name_patterns_read_fd(struct name_patterns *p, int fd, const char *path,
			  struct err *err);
/* Like name_patterns_read(), for a text; `path` is its name in errors. */
int name_patterns_add(struct name_patterns *p, const char *path, const char *text,
		      struct err *err);
/* Returns the shortened name (malloc'd). Returns NULL if no rule matches, the result is empty, the
 * name has 16 KiB or more, or memory is short. */
char *name_patterns_apply(const struct name_patterns *p, const char *name);
void name_patterns_free(struct name_patterns *p); /* accepts NULL */
