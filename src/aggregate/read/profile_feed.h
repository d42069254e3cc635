/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile_feed.h - feeds the samples of a source into a profile, batch by batch.
 * Layer: aggregate. */
#pragma once
#include "aggregate/profile/profile.h"
#include "aggregate/views/profile_source.h"

struct err;
struct sample_batch;

/* Returns the COLUMN_... of session.h that batches must have. */
unsigned int profile_columns(const struct profile *p);
/* Add the batches of a source between begin and end.  Call profile_end() even after an error, then
 * with NULL for `err`.  They return 0, -ENOMEM, -ERANGE (time buckets too narrow for the session),
 * -ENODATA (a time specification needs times that are unknown) or, at the end, -EOVERFLOW (the
 * counts of an event are too large). */
int profile_begin(struct profile *p, const struct profile_source *source);
int profile_add(struct profile *p, const struct sample_batch *batch, struct err *err);
int profile_end(struct profile *p, struct err *err);
/* Sets the ranks of the events.  Call it when all sources have been read. */
void profile_finish(struct profile *p);
