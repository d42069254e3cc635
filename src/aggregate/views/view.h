/* view.h - one source as the keys see it: threads become actors, stacks become places.
 * Layer: aggregate; used by profile.c only. */
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
	VIEW_UNSET = 0xffffffff, /* not worked out yet */
	VIEW_SKIP = 0xfffffffe,  /* not asked for */
	/* (event, cpu, bucket) share the second number of a tally cell. */
	VIEW_EVENT_BITS = TALLY_EVENT_BITS,
	VIEW_CPU_BITS = TALLY_CPU_BITS,
	VIEW_EVENT_NONE = (1 << VIEW_EVENT_BITS) - 1,
	VIEW_CPU_NONE = (1 << VIEW_CPU_BITS) - 1
};

/* What the keys need of a thread; the rest is 0. */
struct actor {
	uint32_t app; /* image of the dict, DICT_NONE: unknown */
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

/* What the keys need of a stack. */
struct place {
	uint32_t image;    /* of the dict; DICT_NONE: damaged, or not needed */
	uint32_t function; /* of the profile; DICT_NONE: not needed */
	uint64_t address;  /* until view_name_places() of a late view: the frame */
	bool truncated;
	uint32_t calls; /* with NEED_STACK: the node of its stack; until
			 * view_name_places() the stack */
};

/* A symbol and its function. */
struct named_symbol {
	const struct symbol *symbol; /* NULL: none */
	uint32_t image;
	uint32_t function;
};

/* The places of an image's symbols, by position in its table. */
struct symbol_places {
	const struct symtab *tab;
	const struct symbol *symbols; /* of the table */
	uint32_t *places;             /* NULL: no table, or not looked at yet */
};

struct call_inlines;

struct view {
	struct profile_source source;
	uint32_t *actor_of; /* by thread; actor_of[nr_threads] is of an unknown one */
	uint32_t *place_of; /* by stack; likewise */
	uint32_t *
		of_frame; /* function, of a late view place; NULL where symbols have one
			     * place each */
	uint32_t *event_of; /* by event: of the profile */
	uint32_t *image_of; /* by image: of the profile */
	uint32_t *text_of;  /* by image: its name, a string of the profile */
	/* With NEED_STACK, else NULL: by stack, its node as a caller; by frame, its function;
	 * what was inlined there; and what call_tree_of_stack() is at. */
	uint32_t *node_of;
	uint32_t *function_of[CALL_PLACES];
	size_t nr_nodes_of;
	size_t nr_functions_of[CALL_PLACES];
	struct call_inlines *inlines;
	/* With options.call_graph: places of functions, not of samples, are from here on. */
	size_t function_places;
	uint32_t damaged; /* function of frames that are lost; VIEW_UNSET: none */
	VEC(uint32_t) path;
	uint8_t *truncated; /* by stack; only with NEED_QUALITY */
	uint8_t *noted;     /* by image: the state of its symbols is in the profile */
	struct symbol_places *places_of; /* by image */
	size_t nr_places_of;
	size_t nr_threads;
	size_t nr_stacks;
	size_t nr_frames;
	size_t nr_events;
	size_t nr_images;
	size_t nr_texts;
	VEC(struct actor) actors;
	VEC(struct place) places;
	struct map actor_by;    /* hash, turn */
	struct map place_by;    /* (image, truncated and function, address) */
	uint64_t time_width_ns; /* of KEY_TIME */
	struct {
		uint64_t from, to; /* both 0: none yet */
		uint32_t number;
	} bucket;           /* of KEY_TIME: the last one */
	bool by_cpu;        /* KEY_CPU is among the keys */
	bool fetch;         /* some images have no names before cells_fetch() */
	struct dense dense; /* in front of the tally */
	struct tally tally;
	bool late; /* places get their names when the source ends, in order */
	/* Of a late view then: places by image and offset; NULL: as they are. */
	uint32_t *order;
	struct named_symbol last; /* what was named last */
	struct selection selection;
	struct buf text;
};

enum {
	EVENT_NAME_ROOM = 160
};
/* An event's name; with options.merge_cores what is left of it without its kind of cores, in
 * `room`. */
const char *event_of_any_core(const struct profile *p, const char *name,
			      char room[EVENT_NAME_ROOM]);
int view_new(const struct profile *p, const struct profile_source *source,
	     struct view **ret_view);
void view_free(struct view *v); /* NULL is fine */
/* The file that stands for the kernel in names, "" if there is none. */
const char *view_vmlinux(const struct profile *p, const struct view *v);
/* All samples are counted, or named: frees what only that needed. */
void view_counted(struct view *v);
void view_named(struct view *v);
/* Follows the growth of the dict. */
int view_extend(struct profile *p, struct view *v);
/* Whether all samples of a symbol have one place: where neither addresses nor callers
 * matter. */
bool view_one_place_a_symbol(const struct profile *p);
/* What is counted from now on, and what was, is told apart by less (profile_options.give_up).
 * 0 or -ENOMEM. */
int view_give_up(struct profile *p, struct view *v, unsigned int need);
/* The place of a stack, worked out; VIEW_UNSET when memory is short. */
uint32_t view_place(struct profile *p, struct view *v, uint32_t stack);
/* Asks for the memory that view_place() of a stack looks at; for many in turn, each first with
 * AHEAD_FAR, then with AHEAD_NEAR.  Nothing else changes. */
enum view_ahead {
	AHEAD_FAR,
	AHEAD_NEAR
};
void view_place_ahead(const struct view *v, uint32_t stack, enum view_ahead ahead);
/* The profile's function at an offset of an image of the dict (DICT_NONE: of none); VIEW_UNSET
 * when memory is short. */
uint32_t view_function(struct profile *p, struct view *v, uint32_t image,
		       uint64_t offset);
/* The profile's function of a name of the debug information that was inlined into code of an
 * image of the dict; likewise. */
uint32_t view_inlined(struct profile *p, struct view *v, uint32_t image,
		      const char *name);
/* Adds a place for each function in the stacks that were named: what keys say of it.  0 or
 * -ENOMEM. */
int view_add_functions(struct profile *p, struct view *v);
/* The address of an offset in an image, as symbols and lines have it. */
uint64_t view_address(const struct view *v, uint32_t number, uint64_t offset);
/* When the source ends: gives the places of a late view their functions and addresses.  Then
 * some are alike.  0 or -ENOMEM. */
int view_name_places(struct profile *p, struct view *v);
/* The same of a view with NEED_STACK whose places need not be in the order of addresses. */
int view_name_stacks(struct profile *p, struct view *v);
/* Whether each image's places are to stand together: its debug information is open then. */
bool view_needs_order(const struct profile *p);
