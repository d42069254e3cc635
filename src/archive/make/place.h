/* SPDX-License-Identifier: GPL-2.0-or-later */
/* place.h - determines the name in the archive for a file that reports would find.
 * Layer: archive. docs/archive.md describes the layout of our archives; those of perf have the
 * layout of its cache (resolve/find/debug_cache.h). */
#pragma once
#include <stdbool.h>

struct archive_request;
struct build_id;
struct source_image;

/* A file that a search found. */
struct archive_taken {
	/* the step of the search that found the file: NAMING_STEP_... */
	const char *step;
	char *path;
	bool proven; /* verified to be the recorded file, by build-id or inode */
};

/* Returns whether the file is a separate debug file; a kernel's vmlinux does not count. */
bool archive_taken_debug(const struct source_image *at, const struct archive_taken *t);
enum archive_placed {
	ARCHIVE_PLACED, /* *ret_name is its name in the archive (malloc'd) */
	/* no name is needed: already archived with the session, or not to be archived */
	ARCHIVE_PLACED_ELSEWHERE,
	/* Not archived: under every possible name, readers would mistake it for another file. */
	ARCHIVE_PLACED_NOWHERE
};
enum archive_placed archive_place(const struct archive_request *q,
				  const struct source_image *at,
				  const struct archive_taken *t, char **ret_name);
/* The result of archive_place_perf(): the name in an archive of `perf archive`, and the link to
 * the file. Each string is malloc'd or NULL. */
struct archive_perf_place {
	char *name;   /* NAME/BUILDID/elf */
	char *link;   /* .build-id/XX/REST */
	char *target; /* ../../NAME/BUILDID */
	/* perf's cache uses this name, or this build-id, for something else */
	bool is_reserved;
};
struct archive_perf_place archive_place_perf(const struct source_image *at,
					     const struct archive_taken *t);
void archive_perf_place_done(struct archive_perf_place *p);
/* Returns the build-id of the image's kernel; its length is 0 if it is unknown. */
const struct build_id *archive_kernel_id(const struct source_image *at);
