/* cells_rows.h - cells whose tuples are numbered become rows of the profile.
 * Layer: aggregate; used by cells.c only. */
#pragma once
#include <stdint.h>

struct profile;
struct tally;

/* Of each cell `a` is (who, place) and `b` the event of the profile; where_of[place] is the tuple.
 * Rows come by who, where and event.  The cells are used up.  0 or -ENOMEM. */
int cells_rows_add(struct profile *p, struct tally *t, const uint32_t *where_of);
