/* SPDX-License-Identifier: GPL-2.0-or-later */
/* read_ahead.h - reads a feed in its own thread, a few batches ahead.
 * Layer: resolve, for the files of replay.h alone. */
#pragma once
#include "resolve/replay/feed.h"

struct err;
struct read_ahead;

/* Starts the thread, which owns `feed` until read_ahead_free(). Returns 0 or a negative errno. */
int read_ahead_new(struct feed *feed, struct read_ahead **ret_ahead);
/* Ends the thread. Accepts NULL. */
void read_ahead_free(struct read_ahead *a);
/* Like feed_next(). */
int read_ahead_next(struct read_ahead *a, struct feed_batch *ret_batch,
		    struct err *err);
