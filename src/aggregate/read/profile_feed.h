/* profile_feed.h - samples of a source into a profile, batch by batch.
 * Layer: aggregate. */
#pragma once
#include "aggregate/profile/profile.h"
#include "aggregate/views/profile_source.h"

struct err;
struct sample_batch;

/* COLUMN_... of session.h that batches must have. */
unsigned int profile_columns(const struct profile *p);
/* Between begin and end come the batches of one source.  After an error profile_end() is
 * still called.  0, -ENOMEM, -ERANGE (time buckets too narrow for the session) or -ENODATA
 * (shares of an unknown time are asked for). */
int profile_begin(struct profile *p, const struct profile_source *source);
int profile_add(struct profile *p, const struct sample_batch *batch, struct err *err);
int profile_end(struct profile *p);
/* Gives the events their ranks.  To be called when all sources are read. */
void profile_finish(struct profile *p);
