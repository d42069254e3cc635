/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session_select.h - copies a session, reduced to the samples that a profile specification
 * selects.
 * Layer: recordings. */
#pragma once
#include <stdint.h>

#include "base/files/trust.h"
#include "format/session/session.h"

struct err;
struct naming_locations;
struct spec;

struct session_select_request {
	const char *from; /* directory of the session */
	enum trust trust; /* whose files may be read from `from` */
	const char *to;   /* an empty directory */
	const struct spec *spec;
	double weight; /* of each sample (sample_weights.h); 0 means 1 */
	struct naming_locations *locations; /* for symbol:; NULL: the default search */
};

struct session_select_result {
	uint64_t read;    /* samples selected */
	uint64_t samples; /* samples written: the selected ones after weighting */
	uint64_t skipped; /* samples that the specification does not select */
	struct segment_damage damage; /* of all segments */
	uint32_t nr_unfinished;       /* number of segments whose end is missing */
};

/* Writes a segment for each segment of `from`, with the selected samples and the events,
 * threads, stacks and images that they refer to. Also copies those other files of the session
 * that contain the symbols of these images. A segment keeps its file name, permissions, file
 * times and start. Its number of lost samples is multiplied by the selected share of its
 * samples, so reports show an unchanged share of lost samples. From a damaged segment, copies
 * the intact data and reports the damage in *result.
 * Adds to the numbers in *result. Returns 0, or a negative errno with a message in *err. */
int session_select(const struct session_select_request *request,
		   struct session_select_result *result, struct err *err);
