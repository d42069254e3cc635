/* SPDX-License-Identifier: GPL-2.0-or-later */
/* due_samples.h - stores raw samples whose stacks need an unwind table, of a binary or a jitdump,
 * that is not ready yet.
 * Layer: record. Zero the struct before use. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/containers/vec.h"

struct record;

struct due_sample {
	const uint8_t *bytes; /* the perf record; in one of the `chunks` */
	size_t len;
	uint64_t time_ns;
	uint32_t image; /* the image whose table the sample waits for */
};

struct due_samples {
	VEC(struct due_sample) list;
	VEC(uint8_t *) chunks; /* blocks of memory; new samples go into the last one */
	size_t used;           /* bytes used in the last chunk */
	struct buf sample;     /* scratch: the sample that is being added */
};

/* Appends a copy of the record, without the unused bytes of its stack. `rec` is the decoded
 * record, `image` the image whose table it waits for. Returns 0 or -ENOMEM. */
int due_samples_add(struct due_samples *d, const struct record *rec, const void *bytes,
		    size_t len, uint32_t image);
/* Drops all samples except the first `nr` of the list. If the rest uses at most half of the
 * allocated memory, tries to free the unused memory. */
void due_samples_keep(struct due_samples *d, size_t nr);
/* Returns the time of the oldest sample, or UINT64_MAX if the list is empty. */
uint64_t due_samples_since(const struct due_samples *d);
/* Returns the allocated memory in bytes. */
size_t due_samples_bytes(const struct due_samples *d);
/* Drops all samples and frees the memory. */
void due_samples_done(struct due_samples *d);
