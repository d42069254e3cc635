/* SPDX-License-Identifier: GPL-2.0-or-later */
/* deltas.h - what running totals have gained since they were last seen, each known by a pair of
 * numbers.
 * Layer: base. */
#pragma once
#include <stdint.h>

#include "base/containers/map.h"
#include "base/containers/vec.h"

struct deltas {
	struct map turns; /* index in `last` */
	VEC(uint64_t) last;
};

/* The gain of the total (a, b), from 0 at first.  One that has become less began anew.
 * 0 or -ENOMEM. */
int deltas_take(struct deltas *d, uint64_t a, uint64_t b, uint64_t total,
		uint64_t *ret_gain);
void deltas_done(struct deltas *d);
