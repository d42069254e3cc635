/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resolver_ops.h - the callbacks of a resolver (resolver.h).
 * Layer: resolve. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image;
struct record_mmap;

struct resolver_ops {
	/* Called at the first sample of a file image (kind FILE or VDSO): can set build-id,
	 * dev, inode, mtime and size. `pid` and the mapping give the location where it was
	 * seen. For KERNEL and MODULE it can set the build-id. May be NULL. */
	void (*first_hit)(void *ctx, const char *path, int32_t pid, uint64_t map_start,
			  uint64_t map_end, struct image *image);
	/* Returns whether the file of an image with samples has been overwritten in place: then
	 * it counts as a different file when it is mapped again. For files whose build-id is
	 * not recorded; called at most ten times a second for each file. May be NULL. */
	bool (*is_rewritten)(void *ctx, const char *path, const struct image *image);
	/* Returns whether a mapped file is not a binary. For executable mappings of files that
	 * were unlinked or are in /dev/shm, without a build-id. May be NULL. */
	bool (*is_memory)(void *ctx, const struct record_mmap *mmap);
	/* Called when a sample or a FORK record has the pid of a process that no record has
	 * named: can pass the records of a /proc snapshot of the process to
	 * resolver_side_band(). Called once per pid, and again whenever the mappings of a
	 * process were dropped because it had too many (resolver_bound()). May be NULL. */
	void (*unknown_process)(void *ctx, int32_t pid);
	/* Called when a sample has a cgroup that no record has named: can pass its CGROUP
	 * record to resolver_side_band(). Called once per id; `pid` ran in the cgroup. May be
	 * NULL. */
	void (*unknown_cgroup)(void *ctx, uint64_t id, int32_t pid);
	/* Returns the id of a process's cgroup when its samples do not contain it; 0 if
	 * unknown. Called once per process. May be NULL. */
	uint64_t (*process_cgroup)(void *ctx, int32_t pid);
	/* Returns the real user id of a running process, or -1. Needed by the limits of
	 * resolver_bound() and resolver_limit_stacks(). */
	int64_t (*process_user)(void *ctx, int32_t pid);
	/* Called after the mappings of `nr` processes of a user (PROC_NO_USER: of processes that
	 * have ended) were dropped, because all mappings together exceeded the limit of
	 * resolver_bound(). May be NULL. */
	void (*maps_lost)(void *ctx, uint32_t user, size_t nr);
	/* Called when resolver_limit_stacks() cuts a stack of a user (or PROC_NO_USER) for the
	 * first time. May be NULL. */
	void (*stacks_cut)(void *ctx, uint32_t user);
	void *ctx;
};
