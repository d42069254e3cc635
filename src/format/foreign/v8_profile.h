/* SPDX-License-Identifier: GPL-2.0-or-later */
/* v8_profile.h - CPU profiles of V8, the JavaScript engine of Node.js and Chrome: the Profile
 * of the DevTools protocol (domain Profiler), as a whole (.cpuprofile) or in chunks (Chrome
 * traces).
 * Layer: format, private to its readers. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "format/foreign/json_walk.h"
#include "format/foreign/number_queue.h"
#include "format/foreign/stack_tree.h"

struct err;

/* The members of a chunk, as offsets in a list of paths. */
enum v8_part {
	V8_NODE,
	V8_ID,
	V8_PARENT,
	V8_CHILD,
	V8_FUNCTION,
	V8_URL,
	V8_SAMPLE,
	V8_DELTA,
	V8_START,
	V8_END,
	NR_V8_PARTS
};

#define V8_PATHS(base, prefix)                                                         \
	[(base) + V8_NODE] = prefix "nodes/*", [(base) + V8_ID] = prefix "nodes/*/id", \
		  [(base) + V8_PARENT] = prefix "nodes/*/parent",                      \
		  [(base) + V8_CHILD] = prefix "nodes/*/children/*",                   \
		  [(base) + V8_FUNCTION] = prefix "nodes/*/callFrame/functionName",    \
		  [(base) + V8_URL] = prefix "nodes/*/callFrame/url",                  \
		  [(base) + V8_SAMPLE] = prefix "samples/*",                           \
		  [(base) + V8_DELTA] = prefix "timeDeltas/*",                         \
		  [(base) + V8_START] = prefix "startTime",                            \
		  [(base) + V8_END] = prefix "endTime"

struct v8_node {
	uint32_t id; /* V8's id of the node; STACK_TREE_NONE: none */
	uint32_t parent;
	uint32_t frame;
	uint32_t node; /* number of the node in the stack tree */
};

struct v8_edge {
	uint32_t parent, child; /* ids */
};

/* Data of a chunk that was read but not yet added to a profile. Zero-initialize it. */
struct v8_chunk {
	struct v8_node current;
	uint32_t name, url;
	size_t first_edge; /* index in `edges` of the first edge of the current node */
	VEC(struct v8_node) nodes;
	VEC(struct v8_edge) edges;
	struct number_queue samples; /* ids */
	struct number_queue deltas;  /* us */
	int64_t start_us, end_us;    /* 0: unknown */
	uint64_t skipped;
};

/* A profile. A sample has no weight; it lasts until the next sample. */
struct v8_profile {
	VEC(struct v8_node) nodes;
	struct map node_by;   /* (id, 0) -> index of `nodes` */
	struct map parent_by; /* (id, 0): id */
	int64_t time_us;      /* time of the last sample */
	/* The tree's node of the last sample; STACK_TREE_NONE: no sample. */
	uint32_t last;
	int64_t last_delta;
};

struct v8_target {
	struct stack_tree *tree;
	const struct foreign_sample *like; /* template: the thread of all samples */
	foreign_fn fn;
	void *ctx;
	struct foreign_info *info;
};

/* Adds a value that json_walk() delivered for the member `part` to the chunk. Adds function
 * names and URLs to `tree`. Returns 0 or -ENOMEM. Invalid numbers are only counted. */
int v8_chunk_take(struct v8_chunk *c, struct stack_tree *tree, enum v8_part part,
		  const struct json_value *v);
/* If `r` is an error of the chunk's temporary file, stores a message in *err. Returns `r`. */
int v8_chunk_explain(const struct v8_chunk *c, int r, struct err *err);
void v8_chunk_done(struct v8_chunk *c);

/* Returns an empty profile that begins at `start_us`. */
struct v8_profile v8_profile_start(int64_t start_us);
/* Adds a chunk, passes the samples whose duration is now known to to->fn, and empties the chunk.
 * Returns 0, -ENOMEM or the error of to->fn. */
int v8_profile_add(struct v8_profile *p, struct v8_chunk *c,
		   const struct v8_target *to);
/* Passes the last sample to to->fn. It lasts until `end_us` or, if that is 0 (unknown), as long
 * as its time delta. Returns 0, -ENOMEM or the error of to->fn. */
int v8_profile_finish(struct v8_profile *p, int64_t end_us, const struct v8_target *to);
void v8_profile_done(struct v8_profile *p);
