/* SPDX-License-Identifier: GPL-2.0-or-later */
/* source.h - the debug information of a binary with all its files: the file itself, dwz's
 * alternate file, and split DWARF; or, if it has none, the table of a Go program.
 * Layer: resolve.
 * The search locations are in docs/line-index.md. */
#pragma once
#include <stdbool.h>

#include "resolve/dwarf/file.h"
#include "resolve/dwarf/unit.h"

struct err;
struct go_table;

struct line_source {
	struct dwarf_file file;
	struct dwarf_info info;
	char *path; /* path of the file with the debug information */
	bool has_alt;
	bool alt_missing; /* the alternate file was not found */
	int alt_fd;
	struct dwarf_file alt_file;
	struct dwarf_info alt;
	bool has_dwp;
	int dwp_fd;
	struct dwarf_file dwp;
	/* Table of the Go program; NULL: there is debug information, or no such table. */
	struct go_table *go;
	struct elf_file go_file;
};

/* A split unit that is being read. */
struct line_split {
	struct dwarf_file file;
	bool own_file;
	int fd;
	struct dwarf_info info;
	struct dwarf_unit unit;
};

/* Opens `fd` (the caller keeps it), and finds its other files and its units. `binary_path` is
 * the path of the program, `path` that of `fd`. Returns 0 or a negative errno. */
int line_source_open(struct line_source *s, int fd, const char *path,
		     const char *binary_path, struct err *err);
void line_source_close(struct line_source *s);
/* If no debug information was found, opens the table of the Go program at `fd`, which the caller
 * keeps. Returns 0 (also if it is not a Go program) or -ENOMEM. */
int line_source_open_go(struct line_source *s, int fd);
/* Returns the number of units: of the debug information, or of the Go program's table. */
size_t line_source_count_units(const struct line_source *s);
/* Returns the offset that identifies a unit. */
uint64_t line_source_unit_off(const struct line_source *s, size_t i);
/* Frees the cached contents of sections, which are read again when they are needed. No thread
 * may read meanwhile. */
void line_source_forget(struct line_source *s);
/* Returns whether the unit is a skeleton whose entries are in another file. */
bool line_source_is_split(const struct dwarf_unit *u);
/* Opens the split unit of a skeleton. Returns 0, -ENOENT, or another negative errno. */
int line_source_split(struct line_source *s, const struct dwarf_unit *skeleton,
		      struct dwarf_reader *rd, struct line_split *ret_split);
void line_split_close(struct line_split *split);
