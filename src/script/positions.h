/* SPDX-License-Identifier: GPL-2.0-or-later */
/* positions.h - caches the text that `oprofile script` prints after an address, for each
 * position in an image.
 * Layer: script. Not thread safe.
 * The positions are in an open hash table of limited size, which is cleared when it is full, so
 * memory does not grow with garbage in call chains. All positions of a function share one text,
 * except in branch stacks. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/containers/map.h"
#include "base/containers/strtab.h"
#include "base/containers/vec.h"
#include "format/session/dict.h"
#include "present/export/script.h"

struct naming;
struct perf_input_info;

/* The printed text of a function or, if it is unknown, of its image. */
struct script_label {
	uint32_t len;
	uint32_t first : 30; /* bytes of `text` before the offset */
	uint32_t has_offset : 1;
	/* In chains, print the offset in the file instead of the address. */
	uint32_t is_file : 1;
	/* Stays at its address; SCRIPT_PADDING bytes after it are readable. */
	char text[];
};

/* The printed form of a position in an image. */
struct script_spot {
	const struct script_label *label;
	uint64_t offset; /* from the start of the function */
};

enum {
	SCRIPT_NOWHERE = 0x7fff /* the image of unmapped addresses, with offset 0 */
};

/* The data that the texts are made from; not owned. */
struct script_naming {
	const struct dict *dict;
	struct naming *naming;
	const struct perf_input_info *info; /* NULL: not from a perf.data file */
	uint32_t fields;                    /* SCRIPT_SYM, SCRIPT_SYMOFF, SCRIPT_DSO */
};

struct script_positions {
	struct script_naming from;
	/* the texts are for branch stacks and contain the offset: script_branch_position() */
	bool branches;
	struct script_slot *slots;
	size_t mask; /* number of slots - 1 */
	size_t nr_used;
	VEC(uint64_t *) pieces; /* blocks of memory for the labels */
	size_t piece_used;      /* words used in the last block */
	struct map label_of;    /* (function's name, image) -> number of the label */
	struct buf scratch;
	struct strtab names; /* names of functions and images, as they are printed */
	struct map name_of; /* (pointer of a function's name, 0) -> number in `names` */
	struct map image_of; /* (image, 0) -> number in `names` */
	uint32_t kernel;     /* image of the kernel; DICT_NONE: not searched yet */
};

/* Initializes an empty cache. Returns 0 or -ENOMEM. Call script_positions_done() in either case. */
int script_positions_init(struct script_positions *p, const struct script_naming *from,
			  bool branches);
void script_positions_done(struct script_positions *p);
/* Returns true if the position is cached; otherwise add it with script_positions_add().  `image` is
 * any number that identifies the image. */
bool script_positions_find(const struct script_positions *p, uint32_t image,
			   uint64_t offset, struct script_spot *ret_spot);
/* Prefetches the slot that script_positions_find() reads. */
void script_positions_prefetch(const struct script_positions *p, uint32_t image,
			       uint64_t offset);

/* A position that is not cached. */
struct script_want {
	uint32_t image;      /* the number passed to script_positions_find() */
	uint32_t dict_image; /* number of the image in the dict; DICT_NONE: unmapped */
	uint64_t offset;
	struct script_spot *ret_spot;
};

enum {
	SCRIPT_WANTS = 32
};

/* Looks up and caches at most SCRIPT_WANTS positions, which can contain duplicates. Pass several
 * at once, because the cache misses of the lookups then overlap. Returns 0 or -ENOMEM. */
int script_positions_add(struct script_positions *p, const struct script_want *wants,
			 size_t nr);

/* Prefetches the label. */
static inline void script_spot_prefetch(const struct script_spot *spot)
{
	__builtin_prefetch(spot->label);
	__builtin_prefetch(spot->label->text + SCRIPT_PADDING + SCRIPT_PADDING / 2);
}

/* Sets all fields of a frame except the address. */
static inline void script_spot_frame(const struct script_spot *spot,
				     struct script_frame *frame)
{
	const struct script_label *l = spot->label;

	frame->offset = spot->offset;
	frame->position = (struct script_text){ l->text, l->first };
	frame->after = (struct script_text){ l->has_offset ? l->text + l->first : NULL,
					     l->len - l->first };
}
