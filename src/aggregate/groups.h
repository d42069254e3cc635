/* groups.h - the groups of a profile, found by their values, and their rows.
 * Layer: aggregate; private to the counting of profiles. */
#pragma once
#include <stdint.h>

struct profile;

/* The row of an event in the group with these values (profile.nr_keys of them), each made
 * if it is new; DICT_NONE when memory is short. */
uint32_t groups_row(struct profile *p, const uint64_t *values, uint32_t event);
