/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session_merge.h - merges recordings of any kind into one session directory.
 * Layer: recordings.
 * The merged session has a part for each session of each input (recordings/session_parts.h): a
 * session with the machine, threads, binaries and times of the original. Data of different
 * machines is therefore never mixed, and reports add up the parts as they add up several
 * sessions. */
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
		*sources; /* the sources that report_sources_find() found for `name` */
	struct naming_locations
		*locations; /* to unwind stack copies; NULL: the usual ones */
	double weight;
};

struct session_merge_result {
	uint64_t samples_read;
	uint64_t samples; /* in the merged session */
	bool incomplete; /* some data of an input could not be read; a warning says so */
};

/* Prepares the directory `path`, which must not exist.  Returns 0, or a negative errno with a
 * message in *err. */
int session_merge_new(const char *path, struct session_merge **ret_merge,
		      struct err *err);
/* Adds all sessions of an input. A weight that is a whole number repeats samples, any other one
 * selects samples evenly (sample_weights.h). Adds the numbers of samples to *result. Returns 0,
 * or a negative errno with a message in *err. */
int session_merge_add(struct session_merge *m, const struct session_merge_input *input,
		      struct session_merge_result *result, struct err *err);
/* Moves the finished directory to its final name. `is_private`: only its owner may read it.
 * Returns 0, or a negative errno with a message in *err. */
int session_merge_commit(struct session_merge *m, bool is_private, struct err *err);
/* Frees the merge, and removes its directory unless it was committed. NULL is allowed. */
void session_merge_free(struct session_merge *m);
