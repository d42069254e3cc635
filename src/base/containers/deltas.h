/* SPDX-License-Identifier: GPL-2.0-or-later */
/* deltas.h - computes by how much running totals have increased since they were read last. A pair
 * of numbers identifies each total.
 * Layer: base. */
#pragma once
#include <stdint.h>

#include "base/containers/map.h"
#include "base/containers/vec.h"

struct deltas {
	struct map by_key; /* index in `last` */
	VEC(uint64_t) last;
};

/* Sets *ret_gain to the increase of the total (a, b) since the previous call, or since 0 in the
 * first call. A total that has decreased was reset; its gain is then `total`. Returns 0 or
 * -ENOMEM. */
int deltas_take(struct deltas *d, uint64_t a, uint64_t b, uint64_t total,
		uint64_t *ret_gain);
void deltas_done(struct deltas *d);
