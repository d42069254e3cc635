/* cells.h - what was counted in one source, by name: each cell's counts go to the row of the
 * group that it belongs to.
 * Layer: aggregate; used by profile.c only. */
#pragma once

struct profile;
struct view;

/* Adds all counts of the view to the profile, after count_end() and view_name_places(); the
 * tally is used up.  0 or -ENOMEM. */
int cells_add_all(struct profile *p, struct view *v);
/* After count_end(), with names that are fetched: has naming_fetch() look at the images that
 * the counts are of and that are asked for, those with most samples first.  0 or -ENOMEM. */
int cells_fetch(struct profile *p, struct view *v);
