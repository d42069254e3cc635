/* SPDX-License-Identifier: GPL-2.0-or-later */
/* places.h - what `oprofile script` prints behind an address, worked out once for each
 * place in an image.
 * Layer: script.  Not thread safe.
 *
 * The places are in an open hash table of bounded size: when it is full it begins anew, so
 * memory does not grow with garbage in call chains.  Texts belong to functions, of which
 * there are few. */
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

/* The text of a function, or of an image where no function is known. */
struct script_label {
	uint32_t len;
	uint32_t first : 30; /* bytes in front of the offset */
	uint32_t has_offset : 1;
	uint32_t is_file : 1; /* in chains perf prints the place in the file */
	char text[]; /* does not move; SCRIPT_PADDING bytes behind it are there */
};

/* What is printed of a place in an image. */
struct script_spot {
	const struct script_label *label;
	uint64_t offset; /* from the start of the function */
};

enum {
	SCRIPT_NOWHERE = 0x7fff /* an image for what lies in none, with offset 0 */
};

/* What the texts are made from; all borrowed. */
struct script_naming {
	const struct dict *dict;
	struct naming *naming;
	const struct perf_input_info *info; /* NULL: not of a perf.data */
	uint32_t fields;                    /* SCRIPT_SYM, SCRIPT_SYMOFF, SCRIPT_DSO */
};

struct script_places {
	struct script_naming from;
	bool branches; /* texts of a branch stack: script_branch_place() */
	struct script_slot *slots;
	size_t mask; /* slots - 1 */
	size_t nr_used;
	VEC(uint64_t *) pieces; /* what the labels consist of */
	size_t piece_used;      /* words of the last one */
	struct map label_of;    /* (function's name, image) -> number of the label */
	struct buf scratch;
	struct strtab names; /* of functions and of images, as shown */
	struct map name_of;  /* (address of a function's name, 0) -> in names */
	struct map image_of; /* (image, 0) -> in names */
	uint32_t kernel;     /* image, DICT_NONE: not looked for */
};

/* 0 or -ENOMEM; script_places_done() is due all the same. */
int script_places_init(struct script_places *p, const struct script_naming *from,
		       bool branches);
void script_places_done(struct script_places *p);
/* Whether the place is known; else script_places_add() makes it known.  `image`: any number
 * that stands for the image. */
bool script_places_find(const struct script_places *p, uint32_t image, uint64_t offset,
			struct script_spot *ret_spot);
/* Reads ahead what script_places_find() will look at. */
void script_places_prefetch(const struct script_places *p, uint32_t image,
			    uint64_t offset);

/* A place that is not known. */
struct script_want {
	uint32_t image;      /* as for script_places_find() */
	uint32_t dict_image; /* in the dict; DICT_NONE: in no mapping */
	uint64_t offset;
	struct script_spot *ret_spot;
};

enum {
	SCRIPT_WANTS = 32
};

/* Makes known what up to SCRIPT_WANTS are about, the same place maybe more than once: waiting for
 * the memory of many symbols takes no longer than for one.  0 or -ENOMEM. */
int script_places_add(struct script_places *p, const struct script_want *wants,
		      size_t nr);

/* Reads the label ahead. */
static inline void script_spot_prefetch(const struct script_spot *spot)
{
	__builtin_prefetch(spot->label);
	__builtin_prefetch(spot->label->text + SCRIPT_PADDING + SCRIPT_PADDING / 2);
}

/* All of a frame but the address. */
static inline void script_spot_frame(const struct script_spot *spot,
				     struct script_frame *frame)
{
	const struct script_label *l = spot->label;

	frame->offset = spot->offset;
	frame->place = (struct script_text){ l->text, l->first };
	frame->behind = (struct script_text){ l->has_offset ? l->text + l->first : NULL,
					      l->len - l->first };
}
