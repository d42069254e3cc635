/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cells.h - adds the counts of a source to the profile: each cell's counts go to the row of its
 * group.
 * Layer: aggregate; used by profile_feed.c. */
#pragma once

struct profile;
struct view;

/* Adds all counts of the view to the profile, after count_end() and view_name_positions().
 * Consumes the tally.  Returns 0 or -ENOMEM. */
int cells_add_all(struct profile *p, struct view *v);
/* If binaries are fetched: calls naming_fetch() for the selected images that have samples, those
 * with most samples first.  Call it after count_end().  Returns 0 or -ENOMEM. */
int cells_fetch(struct profile *p, struct view *v);
