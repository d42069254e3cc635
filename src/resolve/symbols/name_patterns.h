/* name_patterns.h - makes demangled names shorter by rules from pattern files: what
 * --demangle=smart means.
 * Layer: resolve.  Built once, then read-only: name_patterns_apply() may run in threads.
 *
 * The files have the syntax of OProfile's stl.pat.  A line is empty, a comment ("#"), a
 * definition or a rule:
 *	$name = "text"            ${name} in a later line stands for the text
 *	"pattern" = "replacement"
 * A pattern is an extended regular expression of POSIX; \1 to \9 and \a to \z in the
 * replacement are its groups (\a is the tenth), \0 all that matched, \\ a backslash.
 * Rules are applied in their order, each until it matches no more, and all of them again
 * until none does; a hundred times at most. */
#pragma once

struct err;
struct name_patterns;

/* The rules that we ship (stl.pat).  0 or -ENOMEM; the caller owns *ret_patterns. */
int name_patterns_new(struct name_patterns **ret_patterns, struct err *err);
/* Adds those of a file, which come before all rules so far and may use their definitions.
 * 0, -ENOENT and the like, or -EINVAL with the line in `err`. */
int name_patterns_read(struct name_patterns *p, const char *path, struct err *err);
/* The same of a file that is open as `fd`; `path` is its name in errors. */
int name_patterns_read_fd(struct name_patterns *p, int fd, const char *path,
			  struct err *err);
/* The same from a text, which `path` is the name of in errors. */
int name_patterns_add(struct name_patterns *p, const char *path, const char *text,
		      struct err *err);
/* The shorter name, malloc'd; NULL: no rule matches, the name is longer than a person reads
 * (16 KiB), or memory is short. */
char *name_patterns_apply(const struct name_patterns *p, const char *name);
void name_patterns_free(struct name_patterns *p); /* NULL is fine */
