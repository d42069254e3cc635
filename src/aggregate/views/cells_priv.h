/* cells_priv.h - what is said of a cell of a source, for those who name cells.
 * Layer: aggregate; private to cells.c, cells_fetch.c and cells_timeline.c. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct actor;
struct numbers;
struct place;
struct profile;
struct view;

/* In where_of[], by place with one more for an unknown one: the tuple is not made yet; DICT_NONE: it
 * is not wanted. */
enum {
	WHERE_WANTED = 0
};

/* What one cell stands for. */
struct cell_view {
	const struct actor *actor;
	const struct place *place;
	uint32_t event; /* of the profile */
	uint32_t cpu;
	uint64_t bucket;
	bool top;     /* the image stands at the top level */
	uint32_t app; /* image that names the application */
};

extern const struct actor cells_nobody;
extern const struct place cells_nowhere;

/* The cell of a pair as in tally.h. */
struct cell_view cells_look_at(const struct view *v, uint64_t a, uint64_t b);
/* 1: the specification asks for the cell, of which `top` is set then; 0: it does not; or
 * -ENOMEM. */
int cells_wanted(struct profile *p, struct view *v, struct cell_view *c);
/* Whether it asks for all of them. */
bool cells_all_wanted(const struct profile *p, const struct view *v);
/* The same as cells_wanted() as far as functions do not matter. */
int cells_image_wanted(struct profile *p, struct view *v, struct cell_view *c);
/* The number of the tuple that one side of the cell's group is; DICT_NONE when memory is short.
 * `n` may be NULL where no key is of the source's lines. */
uint32_t cells_tuple(struct profile *p, struct view *v, struct numbers *n,
		     const struct cell_view *c, unsigned int side);

/* The timeline's part of this source, first by place, then by tuple.  Drops what is not asked for,
 * and marks the places of the rest in where_of[].  0 or -ENOMEM. */
int cells_timeline_take(struct profile *p, struct view *v, uint32_t *where_of);
/* Counts the rest.  0 or -ENOMEM. */
int cells_timeline_add(struct profile *p, struct view *v, const uint32_t *where_of);
