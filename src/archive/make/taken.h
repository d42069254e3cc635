/* SPDX-License-Identifier: GPL-2.0-or-later */
/* taken.h - decides which files of binaries may be archived.
 * Layer: archive.  docs/archive.md explains the rule. */
#pragma once
#include <stdbool.h>
#include <sys/stat.h>

struct archive_request;
struct archive_taken;
struct source_image;

struct archive_opened {
	int fd;           /* owned by the caller */
	const char *path; /* borrowed from the archive_taken */
	struct stat st;
};

/* Opens a file that a search found. For a debug file, `binary` is the path of its binary (NULL:
 * unknown). Returns false after logging a warning if the file may not be archived. */
bool archive_taken_open(const struct archive_request *q, const struct source_image *at,
			const struct archive_taken *t, const char *binary,
			struct archive_opened *ret_file);
