/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shifts.h - explains changes that are no slowdown: code that only moved to another function, and
 * changes that lasted only for a short time.
 * Layer: compare; part of comparison.c.
 * Code moves when a function is inlined, renamed or split.  Then a function appears or disappears,
 * and others of the same binary change in the opposite direction.  The group of both is tested as
 * if it were a row.
 * A change is transient if nearly all of it is in a short part of a single run, although the
 * function is also active in other parts.  Intervals that respect bursts call it noise. */
#pragma once

struct comparison;
struct row_sums;

/* Finds the groups among the changed rows, and corrects verdicts.  Call it after the rows are
 * tested, and before they are sorted.  `whole` as for the rows.  Returns 0 or -ENOMEM. */
int shifts_find(struct comparison *c, const struct row_sums *sums, double whole);
