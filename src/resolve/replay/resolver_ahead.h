/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resolver_ahead.h - user stacks of the samples that come next, unwound together, and by several
 * threads.
 * Layer: resolve, for sample_group.c and resolver_unwind.c.  The functions are for the
 * resolver's thread.
 *
 * Ahead of its turn only that is unwound which leads through binaries that were met before: then
 * nothing is made on the way, and the stack is the one that would be found when its turn comes.
 * All others are left to it, so that the result does not depend on the threads. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/record.h"
#include "resolve/unwind/unwind.h"

struct resolver;
struct resolver_ahead;
struct resolver_found;
struct space_node;
struct unwind_table;

enum {
	RESOLVER_AHEAD_MAX = 128 /* samples at once: a chunk of stacks of 8 KB */
};

/* What was found of one sample. */
struct ahead_stack {
	bool found;                    /* else nothing else is said */
	const struct space_node *root; /* of the space that it was found in */
	const uint64_t *pcs;           /* as unwind_stack() has them */
	size_t nr;
	enum unwind_end end;
};

/* `nr_threads`, with the caller; 1: it does all by itself.  `r`, which was told how to unwind, and `d` outlive it.
 * 0, -ENOMEM, or -EAGAIN: there is no thread to be had. */
int resolver_ahead_new(struct resolver *r, const struct decoder *d,
		       unsigned int nr_threads, struct resolver_ahead **ret_ahead);
/* Waits for what is done at the moment.  NULL is fine. */
void resolver_ahead_free(struct resolver_ahead *a);
/* The next sample of RESOLVER_AHEAD_MAX; `rec` stays as it is until the last of them was got. */
void resolver_ahead_add(struct resolver_ahead *a, const struct record *rec,
			const struct resolver_found *found);
/* Begins with those that were added.  Until all are got no side band is applied. */
void resolver_ahead_start(struct resolver_ahead *a);
/* Number `at` of them; good until the next one is added.  Each is got once, one after the other. */
const struct ahead_stack *resolver_ahead_get(struct resolver_ahead *a, size_t at);
/* Code of an entry of the image table was met: what its table (NULL: none) is. */
void resolver_ahead_note(struct resolver_ahead *a, uint32_t entry,
			 const struct unwind_table *table);
/* What was noted is not so any more.  Not between the first that is added and the last that is got. */
void resolver_ahead_forget(struct resolver_ahead *a);
