/* sample.h - a profile specification asked about whole samples, one by one: for
 * what copies samples instead of counting them.
 * Layer: aggregate.  Not thread safe. */
#pragma once
#include <stddef.h>

#include "aggregate/selection/selection.h"

struct sample;
struct sample_batch;

/* Does the selection ask for sample `i` of a batch with all columns?  What was damaged is
 * asked for unless it asks for something else.  1, 0, or -ENOMEM. */
int selection_wants_sample(struct selection *s, const struct sample_batch *b, size_t i);
/* The same for a sample alone. */
int selection_wants_one(struct selection *s, const struct sample *sample);
