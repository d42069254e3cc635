/* SPDX-License-Identifier: GPL-2.0-or-later */
/* confidence.h - confidence limits of the shares of report lines (opreport --confidence).
 * Layer: present.  docs/diff.md explains the method. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "compare/interval.h"

struct buf;
struct profile;

/* The sets of items whose shares are estimated. The sum of all items of a set is 100 %. */
struct share_sets {
	size_t nr_sets;
	size_t nr_items; /* of each set */
	/* By row of the profile: its set, or DICT_NONE for none, and its item. */
	const uint32_t *set_of;
	const uint32_t *item_of;
};

/* Sets ret_limits[item * nr_sets + set], as fractions of 1, from the blocks of the profile
 * (profile_fold_blocks()).  `percent` is the level.  Returns 0 or -ENOMEM. */
int confidence_limits(const struct profile *p, const struct share_sets *sets,
		      double percent, struct limits *ret_limits);
/* Appends "12.3456 .. 23.4567", in percent. */
void confidence_put(struct buf *out, const struct limits *l);
/* Writes a line that explains the limits: their level, and the variation that they include. */
void confidence_write_note(FILE *out, const struct profile *p, double percent);
