/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sample_merge.h - merges the samples of several segments by time, into a single dict, filtered
 * by a profile specification.
 * Layer: aggregate.  Not thread safe.  Memory holds the distinct elements, and the out-of-order
 * samples of each segment (segment_order.h); a segment is open only during its span of time. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/files/trust.h"
#include "format/session/dict.h"
#include "format/session/session.h"

struct err;
struct naming_locations;
struct sample_merge;
struct spec;

struct sample_merge_source {
	const char *path;        /* of the segment */
	const char *session_dir; /* as for naming_new() */
	/* Any number; segments with the same number share a span of time. */
	uint32_t session;
	enum trust trust; /* of the segment */
	bool chosen;      /* the specification selects every sample of the segment */
};

/* Facts about all segments, complete when all have been added.  Strings are not owned. */
struct sample_merge_info {
	struct session_info
		first; /* Values of the first segment; a string is "" if the segments differ
			     * in it */
	uint64_t lost;                /* by the kernel, or dropped */
	uint64_t malformed;           /* records that the recorder could not parse */
	struct segment_damage damage; /* .bad_samples grows while samples are read */
	uint32_t nr_unfinished;       /* segments */
	/* Number of different machines, or boots of one machine. */
	uint32_t nr_machines;
	uint32_t nr_segments;
	bool cgroups; /* any thread has a cgroup */
};

/* `spec` (NULL: all) and `locations` (NULL: the usual ones), which are used for its functions, must
 * outlive the merge.  Returns 0 or -ENOMEM. */
int sample_merge_new(const struct spec *spec, struct naming_locations *locations,
		     struct sample_merge **ret_merge);
void sample_merge_free(struct sample_merge *m); /* `m` can be NULL */
/* Adds a segment and reads its times; of a damaged segment, the intact data is used.  Returns 0
 * or a negative errno with a message that names the file. */
int sample_merge_add(struct sample_merge *m, const struct sample_merge_source *source,
		     struct err *err);
const struct sample_merge_info *sample_merge_info(const struct sample_merge *m);
/* Returns the dict.  It has the selected events and all kernel images from the start, and grows
 * with the samples. */
const struct dict *sample_merge_dict(const struct sample_merge *m);
/* Returns the number of the machine on which each image of the dict was first seen. */
const uint32_t *sample_merge_machines(struct sample_merge *m);
/* Returns the next sample, with the dict's numbers.  The result is 0, 1 at the end, or a
 * negative errno with a message. */
int sample_merge_next(struct sample_merge *m, struct sample *ret_sample,
		      struct err *err);
/* Returns the number of samples so far that the specification does not select. */
uint64_t sample_merge_skipped(const struct sample_merge *m);
