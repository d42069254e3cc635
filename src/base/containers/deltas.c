/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/containers/deltas.h"

#include <errno.h>

int deltas_take(struct deltas *d, uint64_t a, uint64_t b, uint64_t total,
		uint64_t *ret_gain)
{
	bool is_new;
	struct map_slot *slot = map_at(&d->by_key, a, b, &is_new);
	uint64_t *last;

	if (!slot)
		return -ENOMEM;
	if (is_new) {
		if (!vec_push(&d->last, 0))
			return -ENOMEM;
		slot->value_plus_1 = (uint32_t)d->last.nr;
	}
	last = &d->last.at[slot->value_plus_1 - 1];
	*ret_gain = total < *last ? total : total - *last;
	*last = total;
	return 0;
}

void deltas_done(struct deltas *d)
{
	map_done(&d->by_key);
	vec_done(&d->last);
}
