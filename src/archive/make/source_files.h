/* SPDX-License-Identifier: GPL-2.0-or-later */
/* source_files.h - the sources of the lines that were hit, for an archive.
 * Layer: archive. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct archive_request;
struct archive_source_files;
struct err;
struct naming_lines;

/* A search for one archive, in which each source is taken once.  0, or a negative errno with a
 * line: --search-dirs must be folders. */
int archive_source_files_new(const struct archive_request *request,
			     struct archive_source_files **ret_files, struct err *err);
/* NULL is fine. */
void archive_source_files_free(struct archive_source_files *f);
struct archive_source_binary {
	const char *path; /* NULL: unknown */
	bool local;       /* recorded here: its paths name files of this machine */
};

/* Adds the sources of the lines at `addrs` of a binary, as naming_lines_find() reports them, and of
 * the calls that are inlined there.  0, or a negative errno with a line. */
int archive_source_files_add(struct archive_source_files *f, struct naming_lines *lines,
			     const uint64_t *addrs, size_t nr,
			     const struct archive_source_binary *binary,
			     struct err *err);
/* Says how many were not found or left out, if there were any. */
void archive_source_files_tell(const struct archive_source_files *f);
