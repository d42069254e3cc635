/* SPDX-License-Identifier: GPL-2.0-or-later */
/* call_graph.h - turns a profile of stacks into a profile of functions: the samples of each
 * function without and with its callees, and the calls between functions.
 * Layer: aggregate. */
#pragma once
#include <stdint.h>

#include "base/containers/vec.h"

struct profile;

/* Samples with a function anywhere in their stacks. A sample counts once, even if the function is
 * recursive. */
struct call_total {
	uint64_t samples;
	uint64_t period;
};

/* Samples with a call in their stacks; each sample counts once. */
struct call_arc {
	/* Row of the profile; CALL_BY_UNKNOWN: the stacks were truncated there. */
	uint32_t caller;
	uint32_t callee;
	uint64_t samples;
	uint64_t period;
};

enum {
	CALL_BY_UNKNOWN = 0xffffffff
};

struct call_graph {
	VEC(struct call_total) totals; /* by row of the profile */
	VEC(struct call_arc)
	arcs; /* in each arc, all other keys of caller and callee are equal */
};

/* Converts a finished profile with options.call_graph.  Afterwards its groups have no stacks:
 * there is a group for each combination of the keys and the functions (as far as the keys
 * distinguish them) in its stacks, and p->graph is filled.  Functions that only called others
 * have rows without samples.  Returns 0 or -ENOMEM. */
int call_graph_make(struct profile *p);
void call_graph_done(struct call_graph *g);
