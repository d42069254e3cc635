/* cells.h - what was counted in one source, by name: each cell's counts go to the row of the
 * group that it belongs to.
 * Layer: aggregate; used by profile.c only. */
#pragma once

struct profile;
struct view;

/* Adds all counts of the view to the profile.  0 or -ENOMEM. */
int cells_add_all(struct profile *p, struct view *v);
