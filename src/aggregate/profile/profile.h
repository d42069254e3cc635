/* profile.h - samples in, grouped counts out.
 * Layer: aggregate.  Not thread safe.
 *
 * The idea: work is done per distinct thing, not per sample.  A source (one segment of a
 * session, one perf.data file) comes as a dict and batches of sample columns that refer to
 * it by number.  Of every thread only what the keys ask for is kept (its "actor"), of every
 * stack likewise (its "place": image, function, address of the leaf); both are worked out
 * once and are array look-ups from then on.  A sample is then a number made of (actor,
 * place, event, cpu, time bucket); such numbers are sorted and counted (tally.h).  When the
 * source ends, the distinct ones are given their names, in the order of addresses, and added
 * to the groups of the profile in theirs: so nothing is searched for at random.  Thus
 * memory grows with what is distinct, never with the number of samples, and columns that
 * no key needs are never decoded.
 *
 * A row is (group, event): a group is one value for each key.  KEY_EVENT is no value of a
 * group but the row's event, so that a report can set events side by side. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregate/count/timeline.h"
#include "aggregate/count/tuples.h"
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

struct profile_options {
	const struct key_list *keys;
	const struct spec *spec; /* NULL: everything */
	enum trust trust;        /* whose recordings are read */
	enum name_style names;
	/* Functions of one name at several addresses are several groups (OProfile's
	 * --symbols), not one (--by symbol). */
	bool functions_apart;
	bool periods; /* sum up the samples' periods, else they stay 0 */
	/* Of keys with time and stack, none of them of the application, and without `periods`,
	 * `quality` and `give_up`: what was counted is in profile.timeline.  Rows are sums of who
	 * it was alone, without a value of KEY_TIME and without a place. */
	bool timeline;
	bool quality;    /* fill profile.quality and the counts of images */
	bool code;       /* note where the code of images is ... */
	bool code_lines; /* ... and find their debug files, too */
	bool raw_names;  /* symbols as in the symbol table, not demangled */
	const struct name_patterns
		*patterns;      /* make demangled names shorter; or NULL */
	bool merge_cores;       /* cpu_core/cycles/ and cpu_atom/cycles/ are cycles */
	bool merge_images;      /* each image is an application of its own */
	bool exclude_dependent; /* only samples in the application's own image */
	const struct symbol_filter *symbols; /* NULL: all */
	const char *vmlinux; /* names the kernel in OProfile's layouts; NULL: the
			      * session's file does */
	const struct lines_options *lines; /* NULL: no debug information is read */
	struct naming_places *places; /* where else to look for binaries; may be NULL */
	/* Call trees, of keys with stacks or not (profile_node()): */
	bool calls;
	bool call_graph; /* call_graph_make() will be called: implies `calls` */
	bool inlined;    /* inlined functions are nodes, too: needs `lines` */
	bool call_lines; /* a function has a node for each of its lines: likewise */
	uint32_t
		max_stack; /* frames of a stack, innermost first, of which there are nodes;
			     * longer ones are truncated.  0: all */
	unsigned int
		threads; /* that read a file, at most; 0: as there are CPUs, 1: without
			  * help.  The result is the same */
	/* When a source has more different samples than that (0: no matter how many), they are told
	 * apart by less: what these keys need, one after the other, is given up.  Ends with 0. */
	size_t most_cells;
	const unsigned int *give_up; /* NEED_PID, NEED_TID, NEED_CPU */
	/* Called for every batch of a file: bytes of it read so far, and all in all (0: not
	 * known).  May be NULL. */
	void (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *progress_ctx;
};

/* A distinct event: name, count, unit mask.  A later segment may know more of it. */
struct profile_event {
	uint32_t name; /* strings of the profile */
	uint32_t about;
	uint32_t mask_about; /* "": not known, or several masks */
	uint64_t count;
	uint64_t frequency_hz; /* of the first source */
	uint64_t least_hz; /* of the selected samples: segments may differ; 0: none */
	uint64_t most_hz;
	uint64_t unit_mask;
	uint32_t flags;   /* EVENT_... of dict.h */
	uint32_t rank;    /* position in a report: by unit mask, name, count */
	uint64_t samples; /* selected ones */
	uint64_t period;
	/* As session_totals.event_shares, the least of all sessions. */
	uint16_t share;
};

/* Where a section of a module was. */
struct profile_section {
	uint32_t name; /* string */
	uint64_t address;
};

struct profile_image {
	uint32_t name; /* strings of the profile */
	uint32_t from; /* where its symbols came from */
	/* With options.code: the file with its code and a separate debug file, "": unknown.
	 * Its addresses are those of the profile less `shift`; of a module those of its
	 * sections count, an array of the profile's. */
	uint32_t binary;
	uint32_t debug;
	uint64_t shift;
	struct profile_section *sections;
	size_t nr_sections;
	/* Code that is in no file, an array of the profile's: of `start` on; of a machine by
	 * its uname -m (string). */
	uint8_t *bytes;
	size_t nr_bytes;
	uint64_t start;
	uint32_t machine;
	enum image_kind kind;
	struct build_id build_id;
	bool foreign; /* recorded on another machine: paths mean nothing here */
	enum naming_status status;
	uint64_t samples; /* these two only with options.quality */
	uint64_t unresolved;
};

enum function_kind {
	FUNCTION_NAMED,
	FUNCTION_OF_IMAGE, /* stands for all of an image without symbols */
	FUNCTION_BETWEEN,  /* for what no symbol of the image covers */
	FUNCTION_UNNAMED,  /* known by its unwind entry ("0x401000") or section alone */
	FUNCTION_INLINED   /* has no code of its own; shown as "name (inlined)" */
};

/* Whether profile_options.symbols wants it. */
enum function_wanted {
	WANTED_UNKNOWN, /* not asked yet */
	WANTED_NOT,
	WANTED
};

struct profile_function {
	uint32_t image;
	uint32_t raw;   /* string: as in the symbol table, or made up by kind */
	uint32_t shown; /* string: demangled; DICT_NONE until asked for */
	uint32_t line;  /* string: where it begins; DICT_NONE until asked for */
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

/* Where the values of a key are. */
struct key_slot {
	uint8_t side;
	uint8_t at; /* in the tuples of that side */
};

struct profile_row {
	uint32_t group;
	uint32_t event;
	uint64_t samples;
	uint64_t period;
	uint32_t next; /* row of the group, DICT_NONE: no more */
};

/* Shares of the selected samples that say how far the profile can be trusted. */
struct profile_quality {
	uint64_t samples;
	uint64_t unresolved;
	uint64_t truncated;
	uint64_t idle;
	uint64_t exiting;
	uint64_t
		irqs_on_again; /* TIMER only: held back until interrupts were enabled */
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
	uint32_t nr_interrupted;              /* of these whose recording was killed */
	uint64_t nr_malformed;                /* records of these */
	uint32_t session_flags;
	double cpu_mhz;    /* of the first segment, as the next two */
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
	struct timeline timeline; /* of options.timeline: its places are tuples */
	struct call_tree calls;   /* of KEY_STACK: its values are nodes */
	bool has_nodes; /* ... and profile_node() of each group, in their tuples: */
	uint8_t node_slot;
	/* With options.call_graph: by function, the tuple of its keys; and what comes of it. */
	VEC(uint32_t) tuple_of_function;
	struct call_graph graph;
	struct buf call_texts[2];
	VEC(uint32_t) path; /* of a text that is made */
	uint32_t call_text; /* which one was made last */
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
	VEC(uint32_t) first_rows; /* of each group; none before somebody asks */
	unsigned int needs;
	unsigned int
		given_up; /* of options.give_up: values of such keys are -1 from then on */
	struct view *view; /* between profile_begin() and profile_end() */
};

/* What is in `options` outlives the profile.  0 or -ENOMEM. */
int profile_init(struct profile *p, const struct profile_options *options);
void profile_done(struct profile *p);
static inline uint64_t profile_value(const struct profile *p, uint32_t group,
				     size_t key)
{
	const struct key_slot slot = p->key_slots[key];
	const struct tuples *t = &p->tuples[slot.side];

	return t->values.at[p->groups.at[group].tuple[slot.side] * t->width + slot.at];
}
/* Whether it matters where in the source the frames of stacks are. */
static inline bool profile_asks_frames(const struct profile *p)
{
	return p->needs & NEED_STACK && (p->options.inlined || p->options.call_lines);
}
/* With options.calls, or KEY_STACK among the keys: the node of the group's stacks. */
static inline uint32_t profile_node(const struct profile *p, uint32_t group)
{
	const struct tuples *t = &p->tuples[GROUP_WHERE];

	return (uint32_t)t->values
		.at[p->groups.at[group].tuple[GROUP_WHERE] * t->width + p->node_slot];
}
/* Values of a KEY_TEXT key number strings or functions: all are below this.  0 for other
 * keys. */
size_t profile_nr_values(const struct profile *p, size_t key);
/* The text of a KEY_TEXT value, borrowed; full names. */
const char *profile_text(struct profile *p, uint32_t group, size_t key);
const char *profile_function_name(struct profile *p, uint32_t function);
/* A name of a symbol table as options want it shown, malloc'd; NULL: as it is. */
char *profile_name_to_show(const struct profile *p, const char *raw);
const char *profile_event_name(const struct profile *p, uint32_t event);
/* Samples a second and CPU; of the selected samples the highest where segments differ.  0: none was set. */
uint64_t profile_event_hz(const struct profile_event *e);
