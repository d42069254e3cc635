/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shifts.h - explains changes that are no slowdown: code that only moved to another function, and
 * changes that lasted only for a short time.
 * Layer: compare; part of comparison.c.
 * Code moves when a function is inlined, renamed or split. Then a function appears or disappears,
 * and other functions of the same binary (in a tree: with the same caller) change in the opposite
 * direction. These functions are a group, which is tested as if it were a row.
 * A change is transient if nearly all of it is in a short part of a run, although the function is
 * also active in other parts. The test of rows takes bursts into account, so it rates such a change
 * as noise. */
#pragma once

struct comparison;
struct row_sums;

/* Finds groups of changed rows between which code moved, and transient changes. Stores the groups
 * in c->moves and corrects the verdicts. Call it after the rows are tested, and before they are
 * sorted. `whole` is the value of 100 %.  Returns 0 or -ENOMEM. */
int shifts_find(struct comparison *c, const struct row_sums *sums, double whole);
