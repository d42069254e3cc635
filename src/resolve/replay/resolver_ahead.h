/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resolver_ahead.h - unwinds the user stacks of the next samples together, and in several
 * threads.
 * Layer: resolve, for sample_group.c and resolver_unwind.c. Call the functions from the
 * resolver's thread.
 *
 * A stack is only unwound ahead of time if all its code is in binaries that earlier stacks
 * contained (resolver_ahead_note()). Then the threads create nothing, and the result is the same
 * as it would be later. All other stacks are left to the resolver, so that the result does not
 * depend on the threads. */
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
	RESOLVER_AHEAD_MAX = 128 /* samples at once; about one chunk of 8 KB stacks */
};

/* The result of unwinding one sample. */
struct ahead_stack {
	bool found;                    /* false: the other fields are not valid */
	const struct space_node *root; /* of the address space that it was found in */
	const uint64_t *pcs;           /* as returned by unwind_stack() */
	size_t nr;
	enum unwind_end end;
};

/* Starts the threads. `nr_threads` includes the caller; 1: no other thread. `r`, which already
 * knows how to unwind, and `d` outlive it. Returns 0, -ENOMEM, or -EAGAIN if no thread could be
 * started. */
int resolver_ahead_new(struct resolver *r, const struct decoder *d,
		       unsigned int nr_threads, struct resolver_ahead **ret_ahead);
/* Waits for running work, then ends the threads. Accepts NULL. */
void resolver_ahead_free(struct resolver_ahead *a);
/* Adds a sample, at most RESOLVER_AHEAD_MAX; further ones are ignored. `rec` must not change
 * until the last result was read. */
void resolver_ahead_add(struct resolver_ahead *a, const struct record *rec,
			const struct resolver_found *found);
/* Starts unwinding the added samples. Do not apply side band until all results are read. */
void resolver_ahead_start(struct resolver_ahead *a);
/* Returns the result of sample number `at`, valid until the next sample is added. Read each
 * result once, in order. */
const struct ahead_stack *resolver_ahead_get(struct resolver_ahead *a, size_t at);
/* Notes the unwind table (NULL: it has none) of an image table entry whose code is in a stack,
 * so that later stacks can be unwound ahead of time. Ignores entries of other kinds than
 * IMAGE_FILE and IMAGE_VDSO. */
void resolver_ahead_note(struct resolver_ahead *a, uint32_t entry,
			 const struct unwind_table *table);
/* Drops all notes because they are not valid any more. Do not call it between adding the first
 * sample and reading the last result. */
void resolver_ahead_forget(struct resolver_ahead *a);
