/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sides.h - sorts the arguments of `oprofile diff` into recordings of the two sides, and the
 * profile specification that selects samples of both.
 * Layer: tools. */
#pragma once
#include <stddef.h>

#include "base/containers/vec.h"
#include "compare/variation.h"
#include "recordings/series.h"

struct diff_options;
struct err;

struct sorted_sides {
	struct recording_series series; /* the recordings of --history */
	/* Recordings of each side, from the command line or the series. */
	VEC(const char *) runs[COMPARE_SIDES];
	VEC(const char *) spec; /* arguments that select samples */
};

/* Sorts the arguments `words`. `nr_after` is the number of arguments after "--", or -1 if there
 * was no "--". Returns 0, or a negative errno with a message in *err; call diff_sides_done() in
 * any case. */
int diff_sides_sort(const struct diff_options *options, char *const *words,
		    int nr_after, struct sorted_sides *ret_sides, struct err *err);
void diff_sides_done(struct sorted_sides *s);
/* Returns the number of arguments after "--", or -1 if there is no "--". Call it before parsing
 * the options, which removes the "--". */
int diff_sides_nr_after(int argc, char *const *argv);
