/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tuples.h - numbers distinct tuples of 64-bit values.
 * Layer: aggregate; private to the counting of profiles. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"

struct tuple_slot {
	uint32_t hash;
	uint32_t number_plus_1; /* 0: empty */
};

struct tuples {
	size_t width;         /* values per tuple; set it before adding the first */
	VEC(uint64_t) values; /* tuple t begins at values.at[t * width] */
	uint32_t nr;
	struct tuple_slot *slots;
	size_t nr_slots;
};

/* Returns the number of a new or existing tuple; DICT_NONE if memory is short. */
uint32_t tuples_add(struct tuples *t, const uint64_t *values);
void tuples_done(struct tuples *t);
