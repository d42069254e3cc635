/* SPDX-License-Identifier: GPL-2.0-or-later */
/* place.h - determines the name in the archive of a file found by the search of the reports.
 * Layer: archive.  docs/archive.md describes our layout; perf's is that of its cache
 * (resolve/find/debug_cache.h). */
#pragma once
#include <stdbool.h>

struct archive_request;
struct build_id;
struct source_image;

/* A file that a search found. */
struct archive_taken {
	const char *step; /* NAMING_STEP_... */
	char *path;
	bool proven; /* verified to be the recorded file, by build-id or inode */
};

/* Returns whether it is a separate debug file; a kernel's vmlinux does not count. */
bool archive_taken_debug(const struct source_image *at, const struct archive_taken *t);
/* Returns the file's name in the archive (malloc'd), or NULL if it is archived with the session
 * or has no destination. */
char *archive_place(const struct archive_request *q, const struct source_image *at,
		    const struct archive_taken *t);
/* The same for `perf archive`, with the link to the file; each field is malloc'd or NULL. */
struct archive_perf_place {
	char *name;   /* NAME/BUILDID/elf */
	char *link;   /* .build-id/XX/REST */
	char *target; /* ../../NAME/BUILDID */
};
struct archive_perf_place archive_place_perf(const struct source_image *at,
					     const struct archive_taken *t);
void archive_perf_place_done(struct archive_perf_place *p);
/* Returns the build-id of the image's kernel; its length is 0 if it is unknown. */
const struct build_id *archive_kernel_id(const struct source_image *at);
