/* SPDX-License-Identifier: GPL-2.0-or-later */
/* view.h - a source reduced to the data that the keys need: threads become actors, stacks become
 * positions.
 * Layer: aggregate. */
#pragma once
#include <stdint.h>

#include "aggregate/count/dense.h"
#include "aggregate/count/tally.h"
#include "aggregate/profile/profile.h"
#include "aggregate/selection/selection.h"
#include "aggregate/views/call_stacks.h"
#include "aggregate/views/profile_source.h"
#include "base/buf.h"

enum {
	VIEW_UNSET = 0xffffffff, /* not computed yet */
	VIEW_SKIP = 0xfffffffe,  /* not selected */
	/* (event, cpu, bucket) share the second number of a tally cell. */
	VIEW_EVENT_BITS = TALLY_EVENT_BITS,
	VIEW_CPU_BITS = TALLY_CPU_BITS,
	VIEW_EVENT_NONE = (1 << VIEW_EVENT_BITS) - 1,
	VIEW_CPU_NONE = (1 << VIEW_CPU_BITS) - 1
};

/* The data of a thread that the keys need; fields that no key needs are 0. */
struct actor {
	uint32_t app; /* index in dict.images; DICT_NONE: unknown */
	uint32_t comm;
	uint32_t cgroup;
	int32_t pid;
	int32_t tid;
	uint32_t flags;
};

enum {
	ACTOR_KERNEL = 1, /* kernel thread or idle: the kernel is its application */
	ACTOR_IDLE = 2,
	ACTOR_EXITING = 4
};

/* The data of a stack that the keys need. */
struct position {
	uint32_t image;    /* index in dict.images; DICT_NONE: damaged, or not needed */
	uint32_t function; /* function number of the profile; DICT_NONE: not needed */
	/* In a late view, the frame number until view_name_positions() sets the address. */
	uint64_t address;
	bool truncated;
	/* With NEED_STACK: the call-tree node of the stack; until view_name_positions(), the
	 * stack's number. */
	uint32_t calls;
};

/* A symbol and its function. */
struct named_symbol {
	const struct symbol *symbol; /* NULL: none */
	uint32_t image;
	uint32_t function;
};

/* The positions of an image's symbols, by index in its table. */
struct symbol_positions {
	const struct symtab *tab;
	const struct symbol *symbols; /* of the table */
	uint32_t *positions; /* NULL: the image has no symbols, or no sample was in it
				       * yet */
};

struct call_inlines;

struct view {
	struct profile_source source;
	uint32_t *actor_of;    /* by thread; the last is for an unknown thread */
	uint32_t *position_of; /* by stack; the last is for an unknown stack */
	/* By frame of the dict: its function or, in a late view, its position; NULL if each symbol
	 * has a single position. */
	uint32_t *of_frame;
	uint32_t *event_of; /* by event of the dict: its number in the profile */
	uint32_t *image_of; /* by image of the dict: its number in the profile */
	/* By image of the dict: its name, as a string of the profile. */
	uint32_t *text_of;
	/* With NEED_STACK, otherwise NULL: by stack, its node as a caller; by frame, its
	 * function; the inlined functions; and `path`, the state of call_tree_of_stack(). */
	uint32_t *node_of;
	uint32_t *function_of[CALL_POSITIONS];
	size_t nr_nodes_of;
	size_t nr_functions_of[CALL_POSITIONS];
	struct call_inlines *inlines;
	/* With options.call_graph: index of the first position of a function without samples. */
	size_t function_positions;
	uint32_t damaged; /* function of lost frames; VIEW_UNSET: none */
	VEC(uint32_t) path;
	uint8_t *truncated; /* by stack; only with NEED_QUALITY */
	uint8_t *noted;     /* by image: its symbol status is in the profile */
	struct symbol_positions *positions_of; /* by image */
	size_t nr_positions_of;
	size_t nr_threads;
	size_t nr_stacks;
	size_t nr_frames;
	size_t nr_events;
	size_t nr_images;
	size_t nr_texts;
	VEC(struct actor) actors;
	VEC(struct position) positions;
	struct map actor_by;    /* key: hash, collision index */
	struct map position_by; /* key: (image, truncated and function, address) */
	uint64_t time_width_ns; /* of KEY_TIME */
	struct {
		uint64_t from, to; /* both 0: none yet */
		uint32_t number;
	} bucket;        /* of KEY_TIME: the bucket of the last sample */
	bool by_cpu;     /* KEY_CPU is among the keys */
	bool weighted;   /* samples have weights: SESSION_WEIGHTED */
	bool has_values; /* some events have EVENT_VALUES, which options.values counts */
	bool fetch;      /* some images have no symbols before cells_fetch() */
	struct dense dense; /* overflows into the tally */
	struct tally tally;
	bool late; /* positions are symbolized when the source ends, in order */
	/* In a late view after symbolization: the positions sorted by image and offset; NULL:
	 * unsorted. */
	uint32_t *order;
	struct named_symbol last; /* the last symbol that was looked up */
	struct selection selection;
	struct buf text;
};

enum {
	EVENT_NAME_ROOM = 160
};
/* Returns an event's name.  With options.merge_cores, stores the name without its kind of cores
 * in `room` and returns that. */
const char *event_of_any_core(const struct profile *p, const char *name,
			      char room[EVENT_NAME_ROOM]);
/* Creates the view of `source`, whose data it borrows.  Returns 0 or -ENOMEM. */
int view_new(const struct profile *p, const struct profile_source *source,
	     struct view **ret_view);
void view_free(struct view *v); /* `v` can be NULL */
/* Returns the file that represents the kernel in names, or "". */
const char *view_vmlinux(const struct profile *p, const struct view *v);
/* Free data that is not needed any more: the first after all samples have been counted, the second
 * after symbolization. */
void view_counted(struct view *v);
void view_named(struct view *v);
/* Adapts the view to a dict that has grown. Returns 0 or -ENOMEM. */
int view_extend(struct profile *p, struct view *v);
/* Returns true if all samples of a symbol share a position, because neither addresses nor callers
 * matter. */
bool view_one_position_a_symbol(const struct profile *p);
/* Drops a key from existing and future counts (profile_options.give_up).  Returns 0 or -ENOMEM. */
int view_give_up(struct profile *p, struct view *v, unsigned int need);
/* Computes the position of a stack; VIEW_UNSET if memory is short. */
uint32_t view_position(struct profile *p, struct view *v, uint32_t stack);
/* Prefetches the memory that view_position() of a stack needs.  For a sequence of stacks, call it
 * with AHEAD_FAR first, and later with AHEAD_NEAR.  Changes nothing else. */
enum view_ahead {
	AHEAD_FAR,
	AHEAD_NEAR
};
void view_position_ahead(const struct view *v, uint32_t stack, enum view_ahead ahead);
/* Returns the profile's function at an offset of an image of the dict (DICT_NONE: no image);
 * VIEW_UNSET if memory is short. */
uint32_t view_function(struct profile *p, struct view *v, uint32_t image,
		       uint64_t offset);
/* Returns the profile's function for a name of debug information that was inlined into code of
 * an image of the dict; VIEW_UNSET if memory is short. */
uint32_t view_inlined(struct profile *p, struct view *v, uint32_t image,
		      const char *name);
/* Adds a position for each function in the symbolized stacks.  Returns 0 or -ENOMEM. */
int view_add_functions(struct profile *p, struct view *v);
/* Returns the address of an offset in an image, as in its symbols and lines. */
uint64_t view_address(const struct view *v, uint32_t number, uint64_t offset);
/* Call it when the source ends: sets functions and addresses of a late view's positions.  Some
 * positions become equal.  Returns 0 or -ENOMEM. */
int view_name_positions(struct profile *p, struct view *v);
/* Like view_name_positions(), for a view with NEED_STACK whose positions need not be sorted by
 * address. */
int view_name_stacks(struct profile *p, struct view *v);
/* Returns true if the positions of an image must be adjacent because its debug information is
 * opened. */
bool view_needs_order(const struct profile *p);
