/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resolver_ops.h - what a resolver (resolver.h) requests of its surroundings.
 * Layer: resolve. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct image;

struct resolver_ops {
	/* First hit of a file image (kind FILE or VDSO): may complete build-id, dev, inode,
	 * mtime and size.  `pid` and the mapping tell where it was seen.  May be NULL.
	 * For KERNEL and MODULE it may complete the build-id. */
	void (*first_hit)(void *ctx, const char *path, int32_t pid, uint64_t map_start,
			  uint64_t map_end, struct image *image);
	/* Whether the file of an image that was hit has been written anew in its place: then it is
	 * another one when it is mapped again.  For files of which no build-id is recorded; asked
	 * ten times a second for each at most.  May be NULL. */
	bool (*is_rewritten)(void *ctx, const char *path, const struct image *image);
	/* A sample of a pid that no record has named: may feed the records of a /proc
	 * snapshot of it to resolver_side_band().  Asked once per pid.  May be NULL. */
	void (*unknown_process)(void *ctx, int32_t pid);
	/* A sample has a cgroup that no record has named: may feed its CGROUP record to
	 * resolver_side_band().  Asked once per id; `pid` ran in it.  May be NULL. */
	void (*unknown_cgroup)(void *ctx, uint64_t id, int32_t pid);
	/* The id of the cgroup that a process is in, whose samples do not tell it; 0 unknown.
	 * Asked once per process.  May be NULL. */
	uint64_t (*process_cgroup)(void *ctx, int32_t pid);
	void *ctx;
};
