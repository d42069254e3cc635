/* SPDX-License-Identifier: GPL-2.0-or-later */
/* count.h - counts the samples of a batch by actor, position, event, cpu and time bucket.
 * Layer: aggregate; used by profile_feed.c.  Most of a report's time is spent here. */
#pragma once

struct profile;
struct sample_batch;
struct view;

/* Adds the samples to the view's dense counts or its tally; columns that no key needs are NULL.
 * Returns 0, -ENOMEM, or -ERANGE (the number of a time bucket is too large). */
int count_batch(struct profile *p, struct view *v, const struct sample_batch *b);
/* Call it after the last batch: moves all counts to the tally, sorted.  Returns 0 or -ENOMEM. */
int count_end(struct view *v);
