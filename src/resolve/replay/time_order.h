/* SPDX-License-Identifier: GPL-2.0-or-later */
/* time_order.h - records in order of time; of those with the same time the order of arrival holds.
 * Layer: resolve, for sorter.c (samples) and side_band.c. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"

struct timed_record {
	uint64_t time_ns;
	uint64_t order; /* in the file, if the owner wants to know */
	const uint8_t *bytes;
	uint32_t size;
	uint32_t block; /* of memory, as the owner numbers them */
};

/* Starts as zeros. */
struct time_order {
	VEC(struct timed_record) records;
	size_t next;    /* records before it were taken */
	bool is_sorted; /* those from there on are */
};

/* 0 or -ENOMEM. */
int time_order_add(struct time_order *o, const struct timed_record *record);
/* Takes back the last one that was added, if nothing was sorted or taken since. */
void time_order_unadd(struct time_order *o);
/* Sorts those that were not taken; the room of the others is used again.  0; or -ENOMEM, then all of
 * them are there. */
int time_order_sort(struct time_order *o);
/* The next one up to that time, or NULL; sorted.  Good until the next is added or all are sorted. */
const struct timed_record *time_order_take(struct time_order *o, uint64_t until_ns);
/* How many were not taken. */
static inline size_t time_order_waiting(const struct time_order *o)
{
	return o->records.nr - o->next;
}
void time_order_done(struct time_order *o);
