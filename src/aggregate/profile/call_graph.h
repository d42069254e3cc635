/* call_graph.h - a profile of stacks becomes one of functions: how much each has itself, with
 * all that it called, and who called whom.
 * Layer: aggregate. */
#pragma once
#include <stdint.h>

#include "base/containers/vec.h"

struct profile;

/* Samples with a function somewhere in their stacks; a recursion counts once. */
struct call_total {
	uint64_t samples;
	uint64_t period;
};

/* Samples with a call in their stacks, each once. */
struct call_arc {
	uint32_t
		caller; /* rows of the profile; CALL_BY_UNKNOWN: the stacks were cut there */
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
	arcs; /* caller and callee agree in all but image and
					* function */
};

/* Of a profile with options.call_graph that is finished: its groups are without stacks then, one
 * for each combination of the keys and the functions (as far as the keys tell them apart) in
 * its stacks, and p->graph is filled.  Rows of what only called something have no samples.
 * 0 or -ENOMEM. */
int call_graph_make(struct profile *p);
void call_graph_done(struct call_graph *g);
