/* dict_calls.h - stacks told by who calls whom: which frame follows another one in a stack is
 * mostly one of the few that did so before, and a new one is near those.
 * Layer: format, private to it.  The layout is in docs/format.md, section 5. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"
#include "format/session/dict.h"

enum {
	CALLS_RECENT = 8, /* frames that are remembered behind each */
	/* How a frame is told; 0: it is new, and of the image that is likely there; up to
	 * CALLS_RECENT: its place in the list, from 1 on; else ... */
	CALLS_OLD = CALLS_RECENT + 1,       /* ... one that was before */
	CALLS_ELSEWHERE = CALLS_RECENT + 2, /* ... a new one of another image */
	/* By how long the list is, and whether a chain begins. */
	CALLS_CONTEXTS = 2 * (CALLS_RECENT + 1)
};

/* The columns of a section. */
enum calls_column {
	CALLS_LENGTHS, /* of chains, less one, twice; and 1 if no chain before has the caller */
	CALLS_AGAIN,   /* how many chains ago the caller was one's last */
	CALLS_CALLERS, /* those that were not */
	CALLS_FRAMES,  /* that are OLD */
	CALLS_IMAGES,  /* ELSEWHERE */
	CALLS_NEAR,    /* offsets of new frames, from the list's first one */
	CALLS_FAR,     /* ... from the last one of the image */
	CALLS_HOWS,    /* and so on, by context */
	CALLS_COLUMN_COUNT = CALLS_HOWS + CALLS_CONTEXTS
};

struct calls_values {
	VEC(uint64_t) list;
	size_t taken; /* by the reader */
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
	uint32_t first_stack;
	uint64_t chain_left;   /* nodes of the chain at hand, to the reader */
	VEC(uint32_t) callers; /* of the section's chains */
	VEC(uint32_t)
	chain_below; /* the writer's, by stack: the last chain that has it
				    * as its caller, plus 1 */
	struct calls_values columns[CALLS_COLUMN_COUNT];
};

void dict_calls_done(struct dict_calls *c);
/* Begins a section.  All frames that it has or refers to have numbers below `max_frame`.  0 or
 * -ENOMEM. */
int dict_calls_begin(struct dict_calls *c, const struct dict *d, uint32_t next_frame,
		     size_t max_frame, uint32_t first_stack);
/* The writer: appends what tells of stack `number`, which is the next one of the section, to the
 * columns.  0 or -ENOMEM. */
int dict_calls_tell(struct dict_calls *c, uint32_t number);
/* The reader: the stack that the columns tell of next.  *ret_is_new: its frame is number c->next - 1,
 * and has to become *ret_new.  0, -EBADMSG or -ENOMEM. */
int dict_calls_take(struct dict_calls *c, uint32_t number, struct stack *ret_stack,
		    bool *ret_is_new, struct frame *ret_new);

/* As sections of version 2 tell a frame. */
struct call_words {
	uint64_t
		how; /* 0: new; up to CALLS_RECENT: its place in the list, from 1 on; else
		       * that and next - frame */
	uint64_t
		image; /* of a new one: 0, that of the list's first, else its number plus 1 */
	uint64_t
		offset; /* ... zigzag of the distance to the list's first, or the image's last */
};

/* The frame that was told so behind the frame of its caller `parent`; words->image and ->offset are
 * asked for if it is new: then *ret_new has to become number c->next - 1.  0, -EBADMSG or -ENOMEM. */
int dict_calls_take_words(struct dict_calls *c, uint32_t parent,
			  const struct call_words *words, uint32_t *ret_frame,
			  struct frame *ret_new);
