/* ties.h - the order of groups by their keys as one number a group, so that sorting a
 * long report compares numbers and not names.
 * Layer: present. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct profile;

/* How lines are ordered where the counts are equal. */
enum line_order {
	LINES_BY_KEYS,     /* by the keys as they come */
	LINES_BY_FUNCTION, /* OProfile's: address, symbol, image, application */
};

/* Fills ties[group]: a smaller number comes first, equal numbers have equal keys.  0,
 * -ENOMEM, or -E2BIG when the keys have too many combinations for 64 bits. */
int ties_make(struct profile *p, enum line_order order, uint64_t *ties);
