/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cells_rows.h - converts cells with numbered tuples to rows of the profile.
 * Layer: aggregate; used by cells.c only. */
#pragma once
#include <stdint.h>

struct profile;
struct tally;

/* In each cell, `a` is (who, position) and `b` the event of the profile; where_of[position] is the
 * tuple.  Rows are added by who, where and event.  Consumes the cells.  Returns 0 or -ENOMEM. */
int cells_rows_add(struct profile *p, struct tally *t, const uint32_t *where_of);
