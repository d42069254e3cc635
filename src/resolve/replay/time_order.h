/* SPDX-License-Identifier: GPL-2.0-or-later */
/* time_order.h - sorts records by time; records with the same time keep their order of arrival.
 * Layer: resolve, for sorter.c (samples) and side_band.c. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"

struct timed_record {
	uint64_t time_ns;
	uint64_t order; /* number in the file, if the owner needs it */
	const uint8_t *bytes;
	uint32_t size;
	/* Number of the block of memory with the record, as the owner counts them. */
	uint32_t block;
};

/* Zero it before use. */
struct time_order {
	VEC(struct timed_record) records;
	size_t next;    /* index of the first record that was not taken */
	bool is_sorted; /* the records from `next` on are sorted */
};

/* Adds a record. Returns 0 or -ENOMEM. */
int time_order_add(struct time_order *o, const struct timed_record *record);
/* Removes the record that was added last, if none was sorted or taken since. */
void time_order_unadd(struct time_order *o);
/* Sorts the records that were not taken, and reuses the memory of the others. Returns 0; or
 * -ENOMEM, and then no record is lost. */
int time_order_sort(struct time_order *o);
/* Returns the next record up to that time, or NULL. Sort first. Valid until a record is added
 * or the records are sorted. */
const struct timed_record *time_order_take(struct time_order *o, uint64_t until_ns);
/* Returns how many records were not taken. */
static inline size_t time_order_waiting(const struct time_order *o)
{
	return o->records.nr - o->next;
}
void time_order_done(struct time_order *o);
