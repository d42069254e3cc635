/* tuples.h - distinct tuples of 64-bit values, each known by a number.
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
	size_t width;         /* values of a tuple; set before the first is added */
	VEC(uint64_t) values; /* of tuple t: values.at[t * width] and on */
	uint32_t nr;
	struct tuple_slot *slots;
	size_t nr_slots;
};

/* The number of a tuple, new or old; DICT_NONE when memory is short. */
uint32_t tuples_add(struct tuples *t, const uint64_t *values);
void tuples_done(struct tuples *t);
