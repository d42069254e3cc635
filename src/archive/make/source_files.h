/* SPDX-License-Identifier: GPL-2.0-or-later */
/* source_files.h - archives the source files of the lines with hits.
 * Layer: archive. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct archive_request;
struct archive_source_files;
struct err;
struct naming_lines;

/* Creates the state for one archive, which archives each source file once. Returns 0, or a
 * negative errno with a message in *err, for example if --search-dirs names something other than
 * directories. */
int archive_source_files_new(const struct archive_request *request,
			     struct archive_source_files **ret_files, struct err *err);
/* NULL is allowed. */
void archive_source_files_free(struct archive_source_files *f);
struct archive_source_binary {
	const char *path; /* NULL: unknown */
	bool local;       /* recorded on this machine, so its paths name local files */
};

/* Adds the source files of the code at `addrs` of a binary, including those of functions that
 * are inlined there. `lines` maps addresses to lines (naming_lines_find()). Returns 0, or a
 * negative errno with a message in *err. */
int archive_source_files_add(struct archive_source_files *f, struct naming_lines *lines,
			     const uint64_t *addrs, size_t nr,
			     const struct archive_source_binary *binary,
			     struct err *err);
/* Returns whether a source was omitted because its name is reserved or another file has it. */
bool archive_source_files_conflict(const struct archive_source_files *f);
/* Logs how many sources were not found or were omitted, if any. */
void archive_source_files_report(const struct archive_source_files *f);
