/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sample_weights.h - multiplies the samples of a segment by a weight.
 * Layer: recordings. Not thread safe.
 * A weight that is a whole number repeats each sample. Any other weight repeats some samples and
 * omits others: the samples of an event are ordered by image and offset, and in this order the
 * number of stored samples is kept at `weight` times the number of samples so far, rounded. Each
 * function, like any other range of addresses, therefore gets its weighted number of samples
 * with an error of less than one. */
#pragma once
#include <stdint.h>

#include "base/containers/vec.h"
#include "base/files/trust.h"
#include "format/session/session.h"

struct err;

struct weight_sums {
	/* By frame: the number of samples of the event that precede the next sample of this
	 * frame in the order described above. */
	VEC(double) before;
	double before_rest; /* likewise, for samples without a frame */
};

struct sample_weights {
	double weight;
	bool is_whole;
	VEC(struct weight_sums) events;
};

/* Initializes the weights of one segment. Unless the weight is a whole number, reads the segment
 * at `path` to count the samples of each frame. Returns 0, or a negative errno with a message in
 * *err; call sample_weights_done() in any case. */
int sample_weights_init(struct sample_weights *w, double weight, const char *path,
			enum trust trust, struct err *err);
void sample_weights_done(struct sample_weights *w);
/* Returns how often to store a sample of the segment; 0: leave it out. If the period of the
 * sample is a number of samples or a measured value, multiplies the period instead and returns
 * 1, or 0 if the result is 0. `dict` and `info` are those of the segment. */
uint64_t sample_weights_take(struct sample_weights *w, const struct dict *dict,
			     const struct session_info *info, struct sample *sample);
