/* SPDX-License-Identifier: GPL-2.0-or-later */
/* due_samples.h - raw samples that wait for the unwind table of an image.
 * Layer: record.  Starts as zeros. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/containers/vec.h"

struct record;

struct due_sample {
	const uint8_t *bytes; /* a record */
	size_t len;
	uint64_t time_ns;
	uint32_t image; /* that it waits for */
};

struct due_samples {
	VEC(struct due_sample) list;
	VEC(uint8_t *) chunks; /* of memory, the last one is filled */
	size_t used;           /* of the last one */
	struct buf sample;     /* the one at hand */
};

/* Keeps a copy, with no more of its stack than was used.  `rec` is what it decodes to.  0 or
 * -ENOMEM. */
int due_samples_add(struct due_samples *d, const struct record *rec, const void *bytes,
		    size_t len, uint32_t image);
/* The oldest one's time; UINT64_MAX: there is none. */
uint64_t due_samples_since(const struct due_samples *d);
/* Bytes of memory. */
size_t due_samples_bytes(const struct due_samples *d);
/* Frees the memory, when none are left or all may go. */
void due_samples_done(struct due_samples *d);
