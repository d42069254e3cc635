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

/* Completes the chain of a decoded sample; the chain is built in sample->chain. Returns 0; 1 if
 * the user part has not arrived, and a copy of the record waits for it; or -ENOMEM. If the sample
 * has waited too long at `now_ns` (UINT64_MAX: no more records will come), or if too many samples
 * wait, it does not wait longer: UINT64_MAX is then the last address of its chain. */
int deferred_samples_join(struct deferred_samples *d, const struct decoder *decoder,
			  struct grouped_sample *sample, uint64_t now_ns);
/* Returns the waiting records and empties the list. The caller joins them again and frees the
 * buffer. */
struct buf deferred_samples_take(struct deferred_samples *d);
/* Returns the time of the oldest waiting sample, or UINT64_MAX if none waits. */
uint64_t deferred_samples_since(const struct deferred_samples *d);
/* Drops user parts that only samples before `time_ns` need, unless such a sample still waits.
 * The caller has joined all samples before `time_ns`. */
void deferred_samples_forget(struct deferred_samples *d, uint64_t time_ns);
void deferred_samples_done(struct deferred_samples *d);
