/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile.h - turns samples into grouped counts.
 * Layer: aggregate.  Not thread safe.
 * Work is done per distinct element, not per sample.  A source (a segment of a session, a
 * perf.data file) consists of a dict, and of batches of sample columns that refer to the dict by
 * number.  Of every thread, only the data that the keys need is kept (its "actor"), and
 * similarly of every stack (its "position": image, function, address of the leaf).  Both are
 * computed once and are array look-ups from then on.  A sample then becomes a number made of
 * (actor, position, event, cpu, time bucket); these numbers are sorted and counted (tally.h).  When
 * the source ends, the distinct numbers are symbolized in address order and added to the
 * profile's groups in group order, so there are no random searches.  Thus memory use grows with
 * the number of distinct elements, not with the number of samples, and columns that no key needs
 * are never decoded.  A row is (group, event); a group has a value for each key.  KEY_EVENT is
 * the row's event and not a value of the group, so a report can show events in columns. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregate/count/timeline.h"
#include "aggregate/count/tuples.h"
#include "aggregate/profile/blocks.h"
#include "aggregate/profile/call_graph.h"
#include "aggregate/profile/call_tree.h"
#include "aggregate/selection/image_names.h"
#include "aggregate/selection/keys.h"
#include "aggregate/selection/spec.h"
#include "aggregate/selection/symbol_filter.h"
#include "base/buf.h"
#include "base/containers/map.h"
#include "base/containers/strtab.h"
#include "base/containers/vec.h"
#include "base/files/trust.h"
#include "format/perfdata/input.h"
#include "format/session/dict.h"
#include "format/session/session.h"
#include "resolve/symbolize/naming.h"

struct err;
struct lines_options;
struct name_patterns;
struct view;

/* The images whose samples are shown below the application that used them, as with opcontrol's
 * --separate. Any other image is shown as an application itself. */
enum profile_separation {
	PROFILE_SEPARATE_KERNEL,  /* libraries, the kernel and its modules */
	PROFILE_SEPARATE_LIBRARY, /* libraries */
	PROFILE_SEPARATE_NONE     /* none; the tag image: then selects any image */
};

struct profile_options {
	const struct key_list *keys;
	const struct spec *spec; /* NULL: everything */
	enum trust trust;        /* whose recordings may be read */
	enum name_style names;
	/* Functions of the same name at several addresses are separate groups (OProfile's
	 * --symbols), not merged (--by symbol). */
	bool functions_apart;
	bool periods; /* sum up the samples' periods, otherwise they stay 0 */
	/* For events with EVENT_VALUES, count the periods instead of the samples, so that they
	 * decide about order and shares: `samples` is the sum of periods, and `period` the number
	 * of samples.  profile_sums() exchanges them again. */
	bool values;
	/* Store the counts in profile.timeline.  Requires keys with time and stack and none of the
	 * application; cannot be combined with `periods`, `quality` and `give_up`.  Rows are then
	 * sums by "who" only, without KEY_TIME and without a position. */
	bool timeline;
	bool quality;    /* fill profile.quality and the counts of images */
	bool code;       /* record where the code of images is ... */
	bool code_lines; /* ... and also find their debug files */
	bool raw_names;  /* symbols as in the symbol table, not demangled */
	const struct name_patterns *patterns; /* shorten demangled names; or NULL */
	bool merge_cores; /* count cpu_core/cycles/ and cpu_atom/cycles/ as one event */
	/* Count all functions of an image that only have an address as one function, named after
	 * the image. */
	bool fold_unnamed;
	bool merge_images; /* each image is its own application */
	enum profile_separation separation;
	bool exclude_dependent; /* only samples in the application's own image */
	const struct symbol_filter *symbols; /* NULL: all */
	/* Name of the kernel in OProfile's layouts; NULL: from the session. */
	const char *vmlinux;
	const struct lines_options *lines; /* NULL: do not read debug information */
	/* More locations to search for binaries; can be NULL. */
	struct naming_locations *locations;
	/* Make call trees, whether or not KEY_STACK is a key. profile_node() returns the node of a
	 * group. */
	bool calls;
	bool call_graph; /* call_graph_make() will be called: implies `calls` */
	bool call_events; /* also rows of events with EVENT_CALLS; implied by call_graph */
	bool inlined;     /* inlined functions are nodes: needs `lines` */
	bool call_lines; /* a function has a node for each line: needs `lines` */
	/* Frames of a stack, innermost first, that become nodes; longer stacks are truncated.
	 * 0: all. */
	uint32_t max_stack;
	/* Maximum threads that read a file; 0: number of CPUs, 1: no extra threads.  Does not
	 * affect the result. */
	unsigned int threads;
	/* If a source has more distinct samples than this (0: no limit), the keys that need the
	 * columns in give_up are dropped, one column after the other.  give_up ends with 0. */
	size_t most_cells;
	const unsigned int *give_up; /* NEED_PID, NEED_TID, NEED_CPU */
	/* Called for every batch of a file with the bytes read so far and the total (0:
	 * unknown).  Can be NULL. */
	void (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *progress_ctx;
};

/* A distinct event: name, count, unit mask.  A later segment can add information. */
struct profile_event {
	uint32_t name; /* strings of the profile */
	uint32_t about;
	uint32_t mask_about; /* "": unknown, or several masks */
	uint64_t count;
	uint64_t frequency_hz; /* of the first source */
	/* Sampling rates of the selected samples, which can differ between segments; 0: none was
	 * set. */
	uint64_t least_hz;
	uint64_t most_hz;
	uint64_t unit_mask;
	uint32_t flags;   /* EVENT_... of dict.h */
	uint32_t type;    /* perf_event_attr.type */
	uint32_t rank;    /* position in a report: by unit mask, name, count */
	uint64_t samples; /* selected samples */
	uint64_t period;
	/* Like session_totals.event_shares: the minimum over all sessions. */
	uint16_t share;
};

/* The address of a module's section. */
struct profile_section {
	uint32_t name; /* string */
	uint64_t address;
};

struct profile_image {
	uint32_t name; /* strings of the profile */
	uint32_t from; /* the source of its symbols */
	/* With options.code: the file with its code, and a separate debug file; "": unknown.
	 * Addresses in the file are those of the profile minus `shift`; for a module, use the
	 * addresses of its sections, which the profile owns. */
	uint32_t binary;
	uint32_t debug;
	uint64_t shift;
	struct profile_section *sections;
	size_t nr_sections;
	/* Code that is not in a file, from `start` on, owned by the profile; `machine` is a
	 * uname -m (string). */
	uint8_t *bytes;
	size_t nr_bytes;
	uint64_t start;
	uint32_t machine;
	enum image_kind kind;
	struct build_id build_id;
	bool foreign; /* recorded on another machine: do not open its paths */
	enum naming_status status;
	/* `samples` and `unresolved` are set only with options.quality. */
	uint64_t samples;
	uint64_t unresolved;
};

enum function_kind {
	FUNCTION_NAMED,
	FUNCTION_OF_IMAGE, /* represents all of an image without symbols */
	FUNCTION_BETWEEN,  /* represents code between the symbols of an image */
	FUNCTION_UNNAMED,  /* known only by its unwind entry ("0x401000") or section */
	FUNCTION_INLINED   /* has no separate code; shown as "name (inlined)" */
};

/* The result of matching against profile_options.symbols. */
enum function_wanted {
	WANTED_UNKNOWN, /* not matched yet */
	WANTED_NOT,
	WANTED
};

struct profile_function {
	uint32_t image;
	uint32_t raw;   /* string: as in the symbol table, or generated by kind */
	uint32_t shown; /* string: demangled; DICT_NONE until needed */
	/* string: source line where the function begins; DICT_NONE until needed. */
	uint32_t line;
	enum function_kind kind;
	enum function_wanted wanted;
	uint64_t vma;
};

/* The two halves of a group (groups.h). */
enum {
	GROUP_WHO,   /* thread, processor, time, session */
	GROUP_WHERE, /* image, function, address */
	GROUP_SIDES
};

struct profile_group {
	uint32_t tuple[GROUP_SIDES];
};

/* The position of a key's values. */
struct key_slot {
	uint8_t side;
	uint8_t at; /* index in the tuples of that side */
};

struct profile_row {
	uint32_t group;
	uint32_t event;
	uint64_t samples;
	uint64_t period;
	uint32_t next; /* next row of the group, or DICT_NONE */
};

/* Numbers of selected samples that show how reliable the profile is. */
struct profile_quality {
	uint64_t samples;
	uint64_t unresolved;
	uint64_t truncated;
	uint64_t idle;
	uint64_t exiting;
	uint64_t irqs_on_again; /* TIMER only: delayed until interrupts were enabled */
	/* the sampled instruction can be after the one that caused the event (skid) */
	uint64_t imprecise;
	bool has_chains;
};

/* Sums over all segments read. */
struct profile_input {
	struct session_totals totals;
	struct segment_damage damage;
	uint64_t samples_read;
	uint32_t nr_segments; /* and perf.data files */
	uint32_t nr_unfinished;
	struct perf_input_damage file_damage; /* of perf.data files */
	/* Number of perf.data files whose recording was killed. */
	uint32_t nr_interrupted;
	uint64_t nr_malformed; /* records of perf.data files */
	uint32_t session_flags;
	uint64_t recorded_ns; /* sum of the segments' lengths; 0: unknown */
	/* Clocks at the start of the first segment: the clock of the samples, and the wall clock.
	 * `boot` is a string that identifies the boot. `drift_ns` is the largest change, in later
	 * segments of the same boot, of the difference between the two clocks. */
	uint64_t start_ns;
	uint64_t start_wall_ns;
	uint64_t drift_ns;
	uint32_t boot;
	double cpu_mhz; /* CPU frequency in MHz; like the next two fields, of the first
			    * segment */
	uint32_t cpu_desc; /* strings of the profile */
	uint32_t vmlinux;
};

struct profile {
	struct profile_options options;
	struct strtab strings;
	VEC(struct profile_event) events;
	VEC(struct profile_image) images;
	VEC(struct profile_function) functions;
	VEC(struct profile_group) groups;
	VEC(struct profile_row) rows;
	/* After profile_fold_blocks(): the samples of rows in blocks of time. */
	VEC(struct block_cell) block_cells;
	uint32_t nr_blocks;
	struct timeline timeline; /* with options.timeline: its positions are tuples */
	struct call_tree calls;   /* for KEY_STACK: its values are nodes */
	bool has_nodes;           /* tuples have profile_node() at node_slot */
	uint8_t node_slot;
	/* With options.call_graph: by function, the tuple of its keys; and the resulting graph. */
	VEC(uint32_t) tuple_of_function;
	struct call_graph graph;
	struct buf call_texts[2];
	VEC(uint32_t) path; /* buffer for call_tree_text() */
	uint32_t call_text; /* index of the last text */
	struct tuples tuples[GROUP_SIDES];
	struct key_slot key_slots[KEY_ID_COUNT];
	size_t nr_keys;
	uint64_t samples;
	struct profile_input input;
	struct profile_quality quality;
	struct map image_by;
	struct map function_by;
	uint32_t *group_slots; /* hash table: number of the group + 1, 0: empty */
	size_t nr_group_slots;
	VEC(uint32_t) first_rows; /* by group; computed when needed */
	unsigned int needs;
	/* Keys of options.give_up that were dropped; their value is -1 from then on. */
	unsigned int given_up;
	struct view *view; /* between profile_begin() and profile_end() */
};

/* Prepares an empty profile.  The objects in `options` must outlive it.  Returns 0 or -ENOMEM. */
int profile_init(struct profile *p, const struct profile_options *options);
void profile_done(struct profile *p);
static inline uint64_t profile_value(const struct profile *p, uint32_t group,
				     size_t key)
{
	const struct key_slot slot = p->key_slots[key];
	const struct tuples *t = &p->tuples[slot.side];

	return t->values.at[p->groups.at[group].tuple[slot.side] * t->width + slot.at];
}
/* Returns true if the counts of an event are sums of periods (options.values). */
static inline bool profile_event_has_values(const struct profile *p, uint32_t event)
{
	return p->options.values && p->events.at[event].flags & EVENT_VALUES;
}

/* The number of samples and the sum of their periods. */
struct profile_sums {
	uint64_t samples;
	uint64_t period;
};

/* Returns the two counts of a row, node or arc of an event as sums of samples and periods. */
static inline struct profile_sums profile_sums(const struct profile *p, uint32_t event,
					       uint64_t samples, uint64_t period)
{
	return profile_event_has_values(p, event)
		       ? (struct profile_sums){ period, samples }
		       : (struct profile_sums){ samples, period };
}
/* Returns true if the source lines of stack frames are needed. */
static inline bool profile_asks_frames(const struct profile *p)
{
	return p->needs & NEED_STACK && (p->options.inlined || p->options.call_lines);
}
/* Returns the node of the group's stacks.  Needs options.calls, or KEY_STACK among the keys. */
static inline uint32_t profile_node(const struct profile *p, uint32_t group)
{
	const struct tuples *t = &p->tuples[GROUP_WHERE];

	return (uint32_t)t->values
		.at[p->groups.at[group].tuple[GROUP_WHERE] * t->width + p->node_slot];
}
/* Returns a limit: all values of a KEY_TEXT key, which are numbers of strings, functions or
 * call-tree nodes, are below it. Returns 0 for other keys. */
size_t profile_nr_values(const struct profile *p, size_t key);
/* Returns the full text of a KEY_TEXT value; do not free it. */
const char *profile_text(struct profile *p, uint32_t group, size_t key);
const char *profile_function_name(struct profile *p, uint32_t function);
/* Returns a symbol name as the options show it (malloc'd), or NULL if it is shown unchanged. */
char *profile_name_to_show(const struct profile *p, const char *raw);
const char *profile_event_name(const struct profile *p, uint32_t event);
/* Returns the samples per second and CPU; the maximum of the selected samples if segments
 * differ; 0 if none was set. */
uint64_t profile_event_hz(const struct profile_event *e);
