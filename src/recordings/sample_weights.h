/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sample_weights.h - multiplies the samples of a segment by a weight.
 * Layer: recordings.  Not thread safe.
 * A weight that is a whole number repeats each sample.  For other weights, the samples are put in
 * the order of event, image and offset, where each takes up `weight` of a scale.  A sample is
 * stored once for each whole number of the scale that it contains.  Therefore each function, like
 * any range of addresses, gets its weighted sum with an error of less than one sample. */
#pragma once
#include <stdint.h>

#include "base/containers/vec.h"
#include "base/files/trust.h"
#include "format/session/session.h"

struct err;

struct weight_sums {
	/* The samples of the event that are before the next sample of a frame, by frame. */
	VEC(double) before;
	double before_rest; /* likewise, for stacks without a frame */
};

struct sample_weights {
	double weight;
	bool is_whole;
	VEC(struct weight_sums) events;
};

/* Reads the segment at `path` unless the weight is a whole number.  Returns 0, or a negative errno
 * with a message in *err; call sample_weights_done() in any case. */
int sample_weights_init(struct sample_weights *w, double weight, const char *path,
			enum trust trust, struct err *err);
void sample_weights_done(struct sample_weights *w);
/* Returns how often to store a sample of the segment; 0: leave it out.  Multiplies the period if
 * it contains the number of samples or a value.  `dict` and `info` are those of the segment. */
uint64_t sample_weights_take(struct sample_weights *w, const struct dict *dict,
			     const struct session_info *info, struct sample *sample);
