/* dict_merge.h - one dict's things in another dict.
 * Layer: format.  Not thread safe.  Things are added as they are asked for, once each; the
 * dict that is read may grow meanwhile. */
#pragma once
#include <stdint.h>

#include "base/containers/vec.h"
#include "format/session/dict.h"
#include "format/session/session.h"

/* By number in one dict, the number in the other; DICT_NONE: not asked for yet. */
struct dict_numbers {
	VEC(uint32_t) to;
};

struct dict_merge {
	const struct dict *from; /* may be read from the file anew: numbers stay */
	struct dict *to;
	struct dict_numbers events, images, frames, stacks, threads;
	VEC(uint32_t) path; /* of a stack */
	uint64_t
		time_unit_ns; /* the caller's: begins of processes are rounded down to it; 0: not */
};

/* All is freed by _done(); the dicts stay the caller's and outlive it. */
void dict_merge_init(struct dict_merge *m, const struct dict *from, struct dict *to);
void dict_merge_done(struct dict_merge *m);
/* The number in `to` of what is `number` (in range) in `from`; DICT_NONE when memory is
 * short. */
uint32_t dict_merge_event(struct dict_merge *m, uint32_t number);
uint32_t dict_merge_image(struct dict_merge *m, uint32_t number);
/* Gives a sample `to`'s numbers.  0, -EINVAL (it refers to what is not there: damaged), or
 * -ENOMEM. */
int dict_merge_sample(struct dict_merge *m, struct sample *sample);
