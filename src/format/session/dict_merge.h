/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dict_merge.h - copies entries from one dict to another.
 * Layer: format. Not thread safe. An entry is copied when it is requested for the first time. The
 * source dict can grow meanwhile. */
#pragma once
#include <stdint.h>

#include "base/containers/vec.h"
#include "format/session/dict.h"
#include "format/session/session.h"

/* Maps numbers in `from` to numbers in `to`. DICT_NONE: not copied yet. */
struct dict_numbers {
	VEC(uint32_t) to;
};

struct dict_merge {
	/* The source. The caller may replace it by another copy of the same dict, read from the
	 * same file, because the numbers in it are the same. */
	const struct dict *from;
	struct dict *to;
	struct dict_numbers events, images, frames, stacks, threads;
	VEC(uint32_t) path; /* the stack that is being added, and its parents */
	uint64_t
		time_unit_ns; /* start times of processes are rounded down to it, set by the
                               * caller; 0: not rounded */
};

/* Initializes a merge of two dicts, which the caller owns and which must outlive it.
 * dict_merge_done() frees it. */
void dict_merge_init(struct dict_merge *m, const struct dict *from, struct dict *to);
void dict_merge_done(struct dict_merge *m);
/* Return the number in `to` of entry `number` of `from`, which must exist; DICT_NONE if memory
 * is short. */
uint32_t dict_merge_event(struct dict_merge *m, uint32_t number);
uint32_t dict_merge_image(struct dict_merge *m, uint32_t number);
/* Replaces the numbers in a sample of the source dict by those of the same entries in `to`.
 * Returns 0, -EINVAL (the sample is damaged: it refers to entries that do not exist), or
 * -ENOMEM. */
int dict_merge_sample(struct dict_merge *m, struct sample *sample);
