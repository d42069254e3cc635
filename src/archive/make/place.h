/* SPDX-License-Identifier: GPL-2.0-or-later */
/* place.h - where in an archive a file goes that the search of the reports took.
 * Layer: archive.  docs/archive.md has the layout of ours; perf's is that of its cache
 * (resolve/find/debug_cache.h). */
#pragma once
#include <stdbool.h>

struct archive_request;
struct build_id;
struct source_image;

/* One file that a search took. */
struct archive_taken {
	const char *step; /* NAMING_STEP_... */
	char *path;
	bool proven; /* to be the file that was recorded, by build-id or inode */
};

/* Whether it is a separate debug file.  A kernel's vmlinux is none. */
bool archive_taken_debug(const struct source_image *at, const struct archive_taken *t);
/* The name of the file in the archive, malloc'd; NULL: it comes with the session, or there is
 * no place for it. */
char *archive_place(const struct archive_request *q, const struct source_image *at,
		    const struct archive_taken *t);
/* The same for `perf archive`, and the link that leads there: all are malloc'd or NULL. */
struct archive_perf_place {
	char *name;   /* NAME/BUILDID/elf */
	char *link;   /* .build-id/XX/REST */
	char *target; /* ../../NAME/BUILDID */
};
struct archive_perf_place archive_place_perf(const struct source_image *at,
					     const struct archive_taken *t);
void archive_perf_place_done(struct archive_perf_place *p);
/* The build-id of the image's kernel; of length 0 where it is not known. */
const struct build_id *archive_kernel_id(const struct source_image *at);
