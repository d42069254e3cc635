/* count.h - samples of a batch to counts by actor, place, event, cpu and time bucket.
 * Layer: aggregate; used by profile.c only.  This is where the time of a report goes. */
#pragma once

struct profile;
struct sample_batch;
struct view;

/* Adds the samples to the view's dense counts or its tally; columns that no key needs are
 * NULL.  0, -ENOMEM, or -ERANGE (a time bucket's number is too big). */
int count_batch(struct profile *p, struct view *v, const struct sample_batch *b);
/* Behind the last batch: all counts are in the tally then, in order.  0 or -ENOMEM. */
int count_end(struct view *v);
