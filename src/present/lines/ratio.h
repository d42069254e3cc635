/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ratio.h - implements --ratio A/B: a column with the number of events A per event B.
 * Layer: present. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct column_cell;
struct buf;
struct err;
struct report_lines;
struct profile;

/* Columns of counts: periods of `above` are divided by periods of `below`. */
struct ratio {
	size_t above;
	size_t below;
	bool above_has_values; /* its counts are its periods: profile_event_has_values() */
	bool below_has_values;
};

/* Returns 0 if `text` is NAME/NAME of two events of the profile.  A name needs :0xMASK if
 * several events share it.  Otherwise returns -ENOENT with a message that lists the events. */
int ratio_check(const struct profile *p, const char *text, struct err *err);
/* Checks several ratios like ratio_check(). */
int ratios_check(const struct profile *p, const char *const *texts, size_t nr,
		 struct err *err);
/* Finds the columns of the two events in `text`.  Returns 0, or -ENOENT if the columns are not
 * events. */
int ratio_find(const struct profile *p, const struct report_lines *lines,
	       const char *text, struct ratio *ret_ratio);
/* Prints the quotient with four digits, or "-" if the divisor is 0 or unknown. */
void ratio_print(struct buf *out, const struct column_cell *cell);

/* The periods of both events by group, for tables with one row per event. */
struct ratio_groups {
	size_t nr_ratios;
	/* Index: (group * nr_ratios + ratio) * 2 + (0: above, 1: below). */
	uint64_t *periods;
};
/* `texts` must have passed ratio_check().  Returns 0, -ENOENT or -ENOMEM.  Free *ret_groups with
 * ratio_groups_done(). */
int ratio_groups_make(const struct profile *p, const char *const *texts, size_t nr,
		      struct ratio_groups *ret_groups);
void ratio_groups_done(struct ratio_groups *g);
/* Appends the quotient of a ratio as digits, or nothing if the divisor is 0. */
void ratio_group_put(const struct ratio_groups *g, uint32_t group, size_t ratio,
		     struct buf *out);
