/* groups.h - the groups of a profile, found by their values, and their rows.
 * Layer: aggregate; private to the counting of profiles.
 *
 * A group is a pair of tuples: what its keys say of who was running (thread, processor,
 * time, session) and of where (image, function, address).  There are few of each and many
 * pairs, so that a pair is made and found without looking at the values. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct profile;

/* Gives each key its place in the tuples. */
void groups_init(struct profile *p);
void groups_done(struct profile *p);
/* Takes all groups away with their rows; tuples stay. */
void groups_clear(struct profile *p);
/* Numbers a tuple: the values of the keys of one side, in the order of the keys.  DICT_NONE
 * when memory is short. */
uint32_t groups_tuple(struct profile *p, unsigned int side, const uint64_t *values);
/* The row of an event in the group of two tuples, each made if it is new; DICT_NONE when
 * memory is short. */
uint32_t groups_row_of(struct profile *p, uint32_t who, uint32_t where, uint32_t event);
/* The same by the values of all keys. */
uint32_t groups_row(struct profile *p, const uint64_t *values, uint32_t event);
/* As groups_row_of() where pairs, and events in them, come in order and the profile had no groups
 * before: nothing is searched for. */
uint32_t groups_append(struct profile *p, uint32_t who, uint32_t where, uint32_t event);
/* Room for so many in all.  0 or -ENOMEM. */
int groups_reserve(struct profile *p, size_t nr_groups, size_t nr_rows);
