/* sample_merge.h - the samples of several segments, in order of time and in one dict: what
 * of them a profile specification asks for.
 * Layer: aggregate.  Not thread safe.  Memory holds what is distinct, and of each segment
 * what is out of order (segment_order.h); a segment is open only while its time lasts. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/files/trust.h"
#include "format/session/dict.h"
#include "format/session/session.h"

struct err;
struct naming_places;
struct sample_merge;
struct spec;

struct sample_merge_source {
	const char *path;        /* of the segment */
	const char *session_dir; /* as of naming_new() */
	uint32_t session; /* any number: those with the same share its span of time */
	enum trust trust; /* of the segment */
	bool chosen;      /* it holds only what is asked for */
};

/* Of all segments, known when all have been added.  Strings are borrowed. */
struct sample_merge_info {
	struct session_info
		first;      /* of the first segment; strings that differ are "" */
	uint64_t lost;      /* by the kernel */
	uint64_t malformed; /* records that the recorder could not read */
	struct segment_damage damage; /* .bad_samples grows while samples are read */
	uint32_t nr_unfinished;       /* segments */
	uint32_t nr_machines;         /* or boots of one */
	uint32_t nr_segments;
	bool cgroups; /* threads have them */
};

/* `spec` (NULL: all) outlives this, and so do the `places` (NULL: the usual ones) for what it
 * says of functions.  0 or -ENOMEM. */
int sample_merge_new(const struct spec *spec, struct naming_places *places,
		     struct sample_merge **ret_merge);
void sample_merge_free(struct sample_merge *m); /* NULL is fine */
/* Adds a segment, for which its times are read; a damaged one gives what is sound.  0 or a
 * negative errno with a line that names the file. */
int sample_merge_add(struct sample_merge *m, const struct sample_merge_source *source,
		     struct err *err);
const struct sample_merge_info *sample_merge_info(const struct sample_merge *m);
/* Has the events asked for and all images of kernels at once; grows with the samples. */
const struct dict *sample_merge_dict(const struct sample_merge *m);
/* The number of the machine on which each image of the dict so far was first seen. */
const uint32_t *sample_merge_machines(struct sample_merge *m);
/* The next sample, with the dict's numbers.  0, 1 at the end, or a negative errno. */
int sample_merge_next(struct sample_merge *m, struct sample *ret_sample,
		      struct err *err);
/* Samples that the specification does not ask for, so far. */
uint64_t sample_merge_skipped(const struct sample_merge *m);
