/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session_select.h - copies of a session that hold only the samples of a profile specification.
 * Layer: recordings. */
#pragma once
#include <stdint.h>

#include "base/files/trust.h"
#include "format/session/session.h"

struct err;
struct naming_places;
struct spec;

struct session_select_request {
	const char *from; /* directory of the session */
	enum trust trust; /* whose files are read there */
	const char *to;   /* an empty directory */
	const struct spec *spec;
	struct naming_places *places; /* for symbol:; NULL: the usual ones */
};

struct session_select_result {
	uint64_t samples;             /* that were copied */
	uint64_t skipped;             /* that the specification does not select */
	struct segment_damage damage; /* of all segments */
	uint32_t nr_unfinished;       /* segments */
};

/* Writes a segment for each segment of `from`, with the selected samples, and what these refer to:
 * events, threads, stacks and images.  Of the other files of the session it copies those that
 * the names of these images come from.  A segment keeps its name, mode, times and start; its lost
 * samples are scaled to the share of its samples that are selected, so that this share stays
 * the same in reports.  A damaged segment gives what is sound, as the result states.
 * Adds to *result.  0, or a negative errno with a line. */
int session_select(const struct session_select_request *request,
		   struct session_select_result *result, struct err *err);
