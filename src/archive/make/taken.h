/* SPDX-License-Identifier: GPL-2.0-or-later */
/* taken.h - the files of binaries that may go into an archive.
 * Layer: archive.  docs/archive.md has the rule. */
#pragma once
#include <stdbool.h>
#include <sys/stat.h>

struct archive_request;
struct archive_taken;
struct source_image;

struct archive_opened {
	int fd;           /* the caller's */
	const char *path; /* borrowed from the taken one */
	struct stat st;
};

/* Opens a file that a search took.  `binary`: of a debug file, the path of the binary that it is of;
 * NULL: unknown.  False: it is left out, which is said. */
bool archive_taken_open(const struct archive_request *q, const struct source_image *at,
			const struct archive_taken *t, const char *binary,
			struct archive_opened *ret_file);
