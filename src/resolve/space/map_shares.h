/* SPDX-License-Identifier: GPL-2.0-or-later */
/* map_shares.h - limits the memory that the mappings of all processes use.
 * Layer: resolve. If they use too much, the user whose processes use the most loses the mappings
 * of the largest ones. So no user can cost another user, who uses less, their mappings. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct procs;

struct map_shares {
	uint64_t max_bytes; /* 0: no limit */
	/* Returns the real user id of a running process, or -1. */
	int64_t (*user)(void *ctx, int32_t pid);
	/* Returns the memory that an image uses, in bytes, divided by the number of its
	 * mappings. */
	size_t (*image_bytes)(void *ctx, uint32_t image);
	/* Called after `nr` processes of a user (PROC_NO_USER: of processes that ended before
	 * their user was read) lost their mappings. */
	void (*on_lost)(void *ctx, uint32_t user, size_t nr);
	void *ctx;        /* argument of the functions above */
	uint64_t checked; /* bytes at the last check, for map_shares_apply() */
};

/* Applies the limit. A process that lost its mappings gets no others before its next exec.
 * `bytes` is an upper bound of the memory in use; as long as it is below the limit, the mappings
 * are not counted. If memory is short, nothing is done. */
void map_shares_apply(struct map_shares *s, struct procs *p, uint64_t bytes);
