/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session_merge.h - merges recordings of any kind into one session directory.
 * Layer: recordings.
 * The merged session has a part for each input (recordings/session_parts.h), which is a session with
 * the machine, threads, binaries and times of that input.  So nothing of different machines is
 * mixed, and reports add up the parts as they add up several sessions. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct err;
struct naming_locations;
struct report_sources;
struct session_merge;

struct session_merge_input {
	const char *name; /* as the user typed it */
	const struct report_sources
		*sources; /* what report_sources_find() found for it */
	struct naming_locations
		*locations; /* to unwind stack copies; NULL: the usual ones */
	double weight;
};

struct session_merge_result {
	uint64_t samples_read;
	uint64_t samples; /* in the merged session */
	bool incomplete;  /* part of an input could not be read; a warning says so */
};

/* Prepares the directory `path`, which must not exist.  Returns 0, or a negative errno with a
 * message in *err. */
int session_merge_new(const char *path, struct session_merge **ret_merge,
		      struct err *err);
/* Adds all sessions of an input, each with the weight: a weight that is a whole number repeats
 * samples, any other one selects samples evenly (sample_weights.h).  Adds to *result.  Returns 0,
 * or a negative errno with a message in *err. */
int session_merge_add(struct session_merge *m, const struct session_merge_input *input,
		      struct session_merge_result *result, struct err *err);
/* Gives the directory of the merged session its final name. `is_private`: only for its owner.
 * Returns 0, or a negative errno with a message in *err. */
int session_merge_commit(struct session_merge *m, bool is_private, struct err *err);
/* Removes the directory unless it was committed.  NULL is allowed. */
void session_merge_free(struct session_merge *m);
