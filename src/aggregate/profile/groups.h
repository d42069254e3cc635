/* SPDX-License-Identifier: GPL-2.0-or-later */
/* groups.h - finds the groups of a profile by their values, and their rows.
 * Layer: aggregate; private to the counting of profiles.
 * A group is a pair of tuples: "who" has the keys of thread, processor, time and session;
 * "where" has those of image, function and address.  There are few of each and many pairs, so
 * pairs are created and found without comparing the values. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct profile;

/* Assigns each key its position in the tuples. */
void groups_init(struct profile *p);
void groups_done(struct profile *p);
/* Removes all groups and their rows; keeps the tuples. */
void groups_clear(struct profile *p);
/* Returns the number of a tuple: the values of a side's keys, in the order of the keys.
 * DICT_NONE if memory is short. */
uint32_t groups_tuple(struct profile *p, unsigned int side, const uint64_t *values);
/* Returns the row of an event in the group of two tuples, creating either if it is new;
 * DICT_NONE if memory is short. */
uint32_t groups_row_of(struct profile *p, uint32_t who, uint32_t where, uint32_t event);
/* Like groups_row_of(), but takes the values of all keys. */
uint32_t groups_row(struct profile *p, const uint64_t *values, uint32_t event);
/* Like groups_row_of(), but without a search.  The profile must have had no groups before, and
 * pairs and their events must be added in order. */
uint32_t groups_append(struct profile *p, uint32_t who, uint32_t where, uint32_t event);
/* Reserves room for this many in total.  Returns 0 or -ENOMEM. */
int groups_reserve(struct profile *p, size_t nr_groups, size_t nr_rows);
