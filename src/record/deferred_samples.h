/* SPDX-License-Identifier: GPL-2.0-or-later */
/* deferred_samples.h - samples whose callers in user space the kernel tells later, when the thread
 * returns to its program (resolve/space/chain_join.h), while they are recorded.
 * Layer: record.  Starts as zeros. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "resolve/replay/sample_group.h"
#include "resolve/space/chain_join.h"

struct decoder;

struct deferred_samples {
	bool offered; /* the kernel does so */
	struct deferred_chains chains;
	struct buf waiting; /* records, one behind the other */
	uint64_t since_ns;  /* the oldest one's time, where there are any */
};

/* Puts the chain of a decoded sample together, in the room for it.  0; 1: the
 * rest of it is not there yet, and a copy of the record's bytes waits; or -ENOMEM.  One that has waited
 * too long before `now_ns` (UINT64_MAX: no more will come), or with too many others, does not wait: it
 * ends with a word that is no address. */
int deferred_samples_join(struct deferred_samples *d, const struct decoder *decoder,
			  struct grouped_sample *sample, uint64_t now_ns);
/* Takes those that wait out, to be joined once more; the caller frees them. */
struct buf deferred_samples_take(struct deferred_samples *d);
/* The oldest one's time; UINT64_MAX: none waits. */
uint64_t deferred_samples_since(const struct deferred_samples *d);
/* All samples before `time_ns` were joined, or wait: what only they could ask for is dropped. */
void deferred_samples_forget(struct deferred_samples *d, uint64_t time_ns);
void deferred_samples_done(struct deferred_samples *d);
