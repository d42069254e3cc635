/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cells_priv.h - the decoded form of a cell of a source.
 * Layer: aggregate; private to cells.c, cells_fetch.c and cells_timeline.c. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct actor;
struct numbers;
struct position;
struct profile;
struct view;

enum {
	/* Value in where_of[] for a position whose tuple is needed, but not made yet. DICT_NONE is
	 * that for one that is not needed. The array has one more element, for an unknown position. */
	WHERE_WANTED = 0
};

/* The decoded form of a cell. */
struct cell_view {
	const struct actor *actor;
	const struct position *position;
	uint32_t event; /* of the profile */
	uint32_t cpu;
	uint64_t bucket;
	bool top;     /* the image is shown at the top level */
	uint32_t app; /* the image that is the application */
};

extern const struct actor cells_unknown_actor;
extern const struct position cells_nowhere;

/* Decodes the pair of `a` and `b` (tally.h). */
struct cell_view cells_look_at(const struct view *v, uint64_t a, uint64_t b);
/* Returns 1 if the specification selects the cell, and sets `top`; 0 if not; or -ENOMEM. */
int cells_wanted(struct profile *p, struct view *v, struct cell_view *c);
/* Returns true if all cells are selected. */
bool cells_all_wanted(const struct profile *p, const struct view *v);
/* Like cells_wanted(), but without checking functions. */
int cells_image_wanted(struct profile *p, struct view *v, struct cell_view *c);
/* Returns the number of the tuple for one side of the cell's group; DICT_NONE if memory is
 * short.  `n` can be NULL if no key needs source lines. */
uint32_t cells_tuple(struct profile *p, struct view *v, struct numbers *n,
		     const struct cell_view *c, unsigned int side);

/* Drops the samples of this source's timeline that are not selected, and marks the positions of the
 * others in where_of[].  Returns 0 or -ENOMEM. */
int cells_timeline_take(struct profile *p, struct view *v, uint32_t *where_of);
/* Counts the remaining samples, converting positions to tuples.  Returns 0 or -ENOMEM. */
int cells_timeline_add(struct profile *p, struct view *v, const uint32_t *where_of);
