/* SPDX-License-Identifier: GPL-2.0-or-later */
/* deferred_samples.h - samples of a running recording whose user callers the kernel reports
 * later, when the thread returns to user space (resolve/space/chain_join.h).
 * Layer: record. Zero the struct before use. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "resolve/replay/sample_group.h"
#include "resolve/space/chain_join.h"

struct decoder;

struct deferred_samples {
	bool offered; /* the kernel defers user callers */
	struct deferred_chains chains;
	struct buf waiting; /* copies of the waiting samples' records, concatenated */
	uint64_t since_ns;  /* time of the oldest waiting sample, if there is one */
};

/* If the chain of a decoded sample ends with a mark of deferred user callers, replaces the mark by
 * the callers; the new chain is built in sample->chain. Returns 0; 1 if the callers have not
 * arrived yet, after storing a copy of the record in the list of waiting samples; or -ENOMEM. A
 * sample does not wait any longer if it has waited too long at `now_ns` (UINT64_MAX: no more
 * records will arrive), or if too many samples wait. Its chain then ends with the address
 * UINT64_MAX, and the result is 0. */
int deferred_samples_join(struct deferred_samples *d, const struct decoder *decoder,
			  struct grouped_sample *sample, uint64_t now_ns);
/* Returns the waiting records and empties the list. The caller joins them again and frees the
 * buffer. */
struct buf deferred_samples_take(struct deferred_samples *d);
/* Returns the time of the oldest waiting sample, or UINT64_MAX if none waits. */
uint64_t deferred_samples_since(const struct deferred_samples *d);
/* Frees the deferred callers that only samples before `time_ns` can need, but keeps those that a
 * waiting sample can still need. The caller has joined all samples before `time_ns`. */
void deferred_samples_forget(struct deferred_samples *d, uint64_t time_ns);
void deferred_samples_done(struct deferred_samples *d);
