/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run_priv.h - the state of a run while it is made from a profile.
 * Layer: compare; private to compare/runs. */
#pragma once
#include "base/containers/map.h"
#include "compare/runs/run.h"

struct profile_row;

struct run_making {
	const struct run_source *from;
	struct compare_run *run;
	uint64_t first_ns,
		last_ns; /* of the samples; blocks are numbered from the first one */
	uint64_t width_ns;
	uint32_t event;     /* the compared one */
	uint32_t per_event; /* DICT_NONE: none */
	int image_key, symbol_key, line_key, stack_key, time_key;
	/* Items by number of the tuple (image, function, line or stack) in the profile. DICT_NONE:
	 * not added yet. */
	uint32_t *item_of;
	struct map image_by;
	/* For a tree: */
	uint32_t *item_of_function;
	uint32_t *node_of; /* node of the run, by node of the profile */
};

/* Adds the first `len` bytes of a text to the comparison's strings. Returns its number, or
 * STRTAB_FAILED if memory is short. */
uint32_t run_add_text(const struct run_making *m, const char *text, size_t len);
/* Finds or adds an image. Returns its index in the run, or DICT_NONE if memory is short. `number`
 * identifies the name in the profile. */
uint32_t run_add_image(struct run_making *m, uint64_t number, const char *name);
/* Copies the call tree.  Returns 0 or -ENOMEM. */
int run_add_tree(struct run_making *m);
