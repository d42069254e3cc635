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
	struct callgrind_sums part, whole; /* of the lines that were read */
	struct callgrind_sums summary;     /* as stated by the current part */
	bool has_summary, has_totals;      /* the current part states them */
	bool is_exact;                     /* written by callgrind: totals are exact */
	uint64_t nr_lines;                 /* lines with costs in the current part */
	uint64_t nr_wrong; /* stated sums that are not those of the costs */
};

/* Ends the current part. Call it also at the end of the file. */
void callgrind_totals_end_part(struct callgrind_totals *t);
/* The next costs are of other events: their sum over the whole file starts again. */
void callgrind_totals_change_events(struct callgrind_totals *t);
/* Adds the costs of a line. */
void callgrind_totals_add(struct callgrind_totals *t, const uint64_t *costs, size_t nr);
/* Takes the sums of a line "summary:", for the end of the part. */
void callgrind_totals_summary(struct callgrind_totals *t,
			      const struct callgrind_sums *sums);
/* Compares the sums of a line "totals:", which follows the costs. */
void callgrind_totals_check(struct callgrind_totals *t,
			    const struct callgrind_sums *sums);
