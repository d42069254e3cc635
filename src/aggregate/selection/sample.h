/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sample.h - applies a profile specification to individual samples, for code that copies samples
 * instead of counting them.
 * Layer: aggregate.  Not thread safe. */
#pragma once
#include <stddef.h>

#include "aggregate/selection/selection.h"

struct sample;
struct sample_batch;

/* Returns 1 if the specification selects sample `i` of a batch with all columns, 0 if not, or
 * -ENOMEM.  Damaged samples are selected unless the specification requires something else. */
int selection_wants_sample(struct selection *s, const struct sample_batch *b, size_t i);
/* Like selection_wants_sample(), for a single sample. */
int selection_wants_one(struct selection *s, const struct sample *sample);
