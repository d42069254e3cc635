/* dict_calls.h - stacks told by who calls whom: which frame follows another one in a stack is
 * mostly one of the few that did so before, and a new one is near those.
 * Layer: format, private to it.  The layout is in docs/format.md, section 5. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "format/dict.h"

enum {
	CALLS_RECENT = 8 /* frames that are remembered behind each */
};

/* The frames behind one frame, the latest first. */
struct call_list {
	uint32_t frames[CALLS_RECENT];
	uint32_t nr;
	uint32_t slot; /* in list_of */
};

/* Of one section. */
struct dict_calls {
	const struct dict *dict; /* frames up to `next` are in it */
	VEC(uint32_t) list_of;   /* by frame plus STACK_FIRST: number plus 1 */
	VEC(struct call_list) lists;
	size_t nr_slots;            /* of list_of in this section; it may be longer */
	VEC(uint64_t) last_offsets; /* by image */
	VEC(uint32_t) met;          /* images whose last offset is not 0 */
	uint32_t next;              /* the first frame that no stack had */
};

/* How a frame is told. */
struct call_words {
	uint64_t
		how; /* 0: new; up to CALLS_RECENT: its place in the list, from 1 on; else
		       * that and next - frame */
	uint64_t
		image; /* of a new one: 0, that of the list's first, else its number plus 1 */
	uint64_t
		offset; /* ... zigzag of the distance to the list's first, or the image's last */
};

void dict_calls_done(struct dict_calls *c);
/* Begins a section.  All frames that it has or refers to have numbers below `max_frame`.  0 or
 * -ENOMEM. */
int dict_calls_begin(struct dict_calls *c, const struct dict *d, uint32_t next_frame,
		     size_t max_frame);
/* What frame `frame` of a stack is told as, behind the frame of its caller `parent`.  0 or
 * -ENOMEM. */
int dict_calls_tell(struct dict_calls *c, uint32_t parent, uint32_t frame,
		    struct call_words *ret);
/* The frame that was told so; words->image and ->offset are asked for if it is new: then
 * *ret_new has to become number c->next - 1.  0, -EBADMSG or -ENOMEM. */
int dict_calls_take(struct dict_calls *c, uint32_t parent,
		    const struct call_words *words, uint32_t *ret_frame,
		    struct frame *ret_new);
