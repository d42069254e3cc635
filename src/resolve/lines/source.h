/* source.h - the debug information of a binary with all its parts: the file itself,
 * dwz's alternate file, split DWARF beside it.
 * Layer: resolve.
 * Where the parts are looked for: docs/line-index.md. */
#pragma once
#include <stdbool.h>

#include "resolve/dwarf/file.h"
#include "resolve/dwarf/unit.h"

struct err;

struct line_source {
	struct dwarf_file file;
	struct dwarf_info info;
	char *path; /* of the file with the debug information */
	bool has_alt;
	bool alt_missing; /* it has one that was not found */
	int alt_fd;
	struct dwarf_file alt_file;
	struct dwarf_info alt;
	bool has_dwp;
	int dwp_fd;
	struct dwarf_file dwp;
};

/* A split unit, while it is read. */
struct line_split {
	struct dwarf_file file;
	bool own_file;
	int fd;
	struct dwarf_info info;
	struct dwarf_unit unit;
};

/* Opens `fd` (stays the caller's) and finds its parts and units.  `binary_path` is where the
 * program is, `path` the file that `fd` is.  0 or a negative errno. */
int line_source_open(struct line_source *s, int fd, const char *path,
		     const char *binary_path, struct err *err);
void line_source_close(struct line_source *s);
/* Frees what can be read again; no thread may read. */
void line_source_forget(struct line_source *s);
/* Whether the unit is a skeleton whose entries are elsewhere. */
bool line_source_is_split(const struct dwarf_unit *u);
/* Opens what a skeleton stands for.  0, -ENOENT, or another negative errno. */
int line_source_split(struct line_source *s, const struct dwarf_unit *skeleton,
		      struct dwarf_reader *rd, struct line_split *ret_split);
void line_split_close(struct line_split *split);
