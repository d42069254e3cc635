/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dict_calls.h - encodes stacks by their calls. The callee of a frame is usually one of the few
 * recent callees of that frame, and a new callee is usually at an address near those.
 * Layer: format, private to it.  The layout is in docs/format.md, section 5. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"
#include "format/session/dict.h"

enum {
	CALLS_RECENT = 8, /* recent callees kept per frame */
	/* How a frame is encoded. 0: a new frame of the most likely image. 1 to CALLS_RECENT:
	 * the position of the frame in the list of recent callees. The other values: */
	/* an earlier frame that is not in the list */
	CALLS_OLD = CALLS_RECENT + 1,
	CALLS_ELSEWHERE = CALLS_RECENT + 2, /* a new frame of another image */
	/* Number of contexts: combinations of the length of the list and whether a chain begins. */
	CALLS_CONTEXTS = 2 * (CALLS_RECENT + 1)
};

/* The columns of a section. */
enum calls_column {
	/* (length of a chain - 1) * 2, plus 1 if no earlier chain has this caller */
	CALLS_LENGTHS,
	/* for a caller that was used before: number of chains since then */
	CALLS_AGAIN,
	/* for other callers: distance from the first stack of the chain, minus 1 */
	CALLS_CALLERS,
	CALLS_FRAMES, /* frames encoded as CALLS_OLD */
	CALLS_IMAGES, /* images of frames encoded as CALLS_ELSEWHERE */
	CALLS_NEAR, /* offsets of new frames relative to the first frame of the list */
	/* Offsets of other new frames, relative to the previous frame of the same image. */
	CALLS_FAR,
	CALLS_HOWS, /* first of the columns of how frames are encoded, one per context */
	CALLS_COLUMN_COUNT = CALLS_HOWS + CALLS_CONTEXTS
};

struct calls_values {
	VEC(uint64_t) list;
	size_t taken; /* values consumed by the reader */
};

/* The recent callees of a frame, the latest first. */
struct call_list {
	uint32_t frames[CALLS_RECENT];
	uint32_t nr;
	uint32_t slot; /* index in list_of */
};

/* The state while one section is encoded or decoded. */
struct dict_calls {
	const struct dict *dict; /* contains the frames below `next` */
	VEC(uint32_t)
	list_of; /* indexed by frame plus STACK_FIRST: index in `lists` plus 1 */
	VEC(struct call_list) lists;
	size_t nr_slots;            /* entries of list_of that this section uses */
	VEC(uint64_t) last_offsets; /* indexed by image */
	VEC(uint32_t) met;          /* images whose last offset is not 0 */
	uint32_t next; /* the first frame that has not appeared in a stack */
	uint32_t first_stack;
	uint64_t chain_left;   /* nodes left in the current chain; used when reading */
	VEC(uint32_t) callers; /* callers of the section's chains so far */
	VEC(uint32_t)
	chain_below; /* indexed by stack: the last chain that has it as its caller, plus 1;
                      * used when writing */
	struct calls_values columns[CALLS_COLUMN_COUNT];
};

void dict_calls_done(struct dict_calls *c);
/* Begins a section. All frames that it contains or refers to have numbers below `max_frame`.
 * Returns 0 or -ENOMEM. */
int dict_calls_begin(struct dict_calls *c, const struct dict *d, uint32_t next_frame,
		     size_t max_frame, uint32_t first_stack);
/* Encodes stack `number`, which must be the next one of the section. Returns 0 or -ENOMEM. */
int dict_calls_report(struct dict_calls *c, uint32_t number);
/* Decodes the next stack. If *ret_is_new, its frame is number c->next - 1 and the caller has to
 * set that frame to *ret_new. Returns 0, -EBADMSG or -ENOMEM. */
int dict_calls_take(struct dict_calls *c, uint32_t number, struct stack *ret_stack,
		    bool *ret_is_new, struct frame *ret_new);

/* A frame as encoded in sections of version 2. */
struct call_words {
	/* 0: a new frame; 1 to CALLS_RECENT: position in the list; larger: CALLS_RECENT + next -
	 * frame. */
	uint64_t how;
	/* Image of a new frame. 0: that of the list's first frame; else the image's number plus
	 * 1. */
	uint64_t image;
	/* Offset of a new frame: zigzag distance to the list's first frame, or to the last one of
	 * the image. */
	uint64_t offset;
};

/* Decodes the frame of a callee of stack `parent`, from version 2. words->image and ->offset are
 * used only if the frame is new; then the caller has to set frame c->next - 1 to *ret_new. Returns
 * 0, -EBADMSG or -ENOMEM. */
int dict_calls_take_words(struct dict_calls *c, uint32_t parent,
			  const struct call_words *words, uint32_t *ret_frame,
			  struct frame *ret_new);
