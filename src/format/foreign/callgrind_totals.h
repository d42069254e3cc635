/* SPDX-License-Identifier: GPL-2.0-or-later */
/* callgrind_totals.h - compares the sums that a callgrind file states with its costs. They differ
 * if the file is cut or was edited.
 * Layer: format, private to callgrind_profile.c. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/foreign/foreign.h"

/* Costs by event, in the order of the events of the current part. */
struct callgrind_sums {
	uint64_t by_event[FOREIGN_EVENTS_MAX];
	size_t nr;
};

/* Zero-initialize it. */
struct callgrind_totals {
	/* sums of the cost lines read so far: of the current part, of the file */
	struct callgrind_sums part, whole;
	struct callgrind_sums summary; /* the "summary:" line of the current part */
	/* the current part has a "summary:" or "totals:" line */
	bool has_summary, has_totals;
	/* callgrind wrote the file, so "totals:" must match exactly */
	bool is_exact;
	uint64_t nr_lines; /* lines with costs in the current part */
	uint64_t nr_wrong; /* number of stated sums that differ from the costs */
};

/* Compares the summary of the current part with its costs, unless the part also has totals, and
 * starts a new part. Call it also at the end of the file. */
void callgrind_totals_end_part(struct callgrind_totals *t);
/* Clears the sums of the whole file, because the next part has different events. */
void callgrind_totals_change_events(struct callgrind_totals *t);
/* Adds the costs of a line. */
void callgrind_totals_add(struct callgrind_totals *t, const uint64_t *costs, size_t nr);
/* Stores the sums of a line "summary:", which callgrind_totals_end_part() compares. */
void callgrind_totals_summary(struct callgrind_totals *t,
			      const struct callgrind_sums *sums);
/* Compares the sums of a line "totals:" with the costs, all of which precede this line. */
void callgrind_totals_check(struct callgrind_totals *t,
			    const struct callgrind_sums *sums);
