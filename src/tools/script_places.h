/* script_places.h - what `oprofile script` prints behind an address, worked out once for each
 * place in an image.
 * Layer: tools.  Not thread safe.
 *
 * The places are in an open hash table of bounded size: when it is full it begins anew, so
 * memory does not grow with garbage in call chains.  Texts belong to functions, of which
 * there are few. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "format/dict.h"
#include "present/write_script.h"

struct naming;
struct perf_input_info;

/* A place in an image. */
struct script_spot {
	uint64_t key;    /* offset in the image */
	uint64_t offset; /* from the start of the function */
	uint32_t image;
	uint32_t label_plus_1; /* 0: the slot is empty */
};

/* The text of a function, or of an image where no function is known. */
struct script_label {
	const char *text; /* does not move */
	uint32_t len;
	uint32_t first;  /* bytes in front of the offset */
	bool has_offset; /* else all is in front */
	bool is_file;    /* in chains perf prints the place in the file */
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
	struct script_spot *spots;
	size_t mask; /* slots - 1 */
	size_t nr_spots;
	VEC(struct script_label) labels;
	struct map label_of; /* (function's name, image) -> label */
	VEC(char *) pieces;  /* what the texts consist of */
	size_t piece_left;   /* bytes of the last one */
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
/* The spot of a place if it is known, else NULL: then script_places_add() makes it.  Good until
 * the next add.  `image`: any number that stands for it. */
const struct script_spot *script_places_find(const struct script_places *p,
					     uint32_t image, uint64_t offset);
/* Reads ahead what script_places_find() will look at. */
void script_places_prefetch(const struct script_places *p, uint32_t image,
			    uint64_t offset);
/* `frame` of the dict (DICT_NONE: in no mapping) is what lies there.  0 or -ENOMEM. */
int script_places_add(struct script_places *p, uint32_t image, uint64_t offset,
		      uint32_t frame, const struct script_spot **ret_spot);
/* What is printed of it, but for the address.  *ret_is_file: in chains that is the offset. */
void script_places_frame(const struct script_places *p, const struct script_spot *spot,
			 struct script_frame *ret_frame, bool *ret_is_file);
/* The whole text, of a script_places with `branches`. */
struct script_text script_places_text(const struct script_places *p,
				      const struct script_spot *spot);
