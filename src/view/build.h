/* SPDX-License-Identifier: GPL-2.0-or-later */
/* build.h - copies profiles into the columns of a model.
 * Layer: view; used by load.c.
 * Each profile has the keys of view_build_keys, and either a timeline or rows. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "aggregate/profile/call_tree.h"
#include "base/containers/map.h"
#include "view/model_priv.h"

struct profile;

struct view_build {
	struct view_data *to;
	struct profile *profiles[VIEW_SIDES];
	size_t nr_sides;
	/* The joined call tree of all sides. Its nodes refer to functions of the model. */
	struct call_tree tree;
	struct map function_by; /* (string of the stable name, string of the image) */
	struct map thread_by, track_by;
	uint32_t
		*image_of[VIEW_SIDES]; /* by image of the profile: string of its name */
	uint32_t *function_of[VIEW_SIDES];
	uint32_t *node_of[VIEW_SIDES]; /* by node of the profile: node of `tree` */
	uint32_t *place_of;            /* by node of `tree`: its position in preorder */
	uint32_t truncated, unknown;   /* nodes of `tree` */
};

/* The keys of the profiles: those of VIEW_KEY_TIME and so on, then the stack. The caller sets the
 * width of time. */
extern const char view_build_keys[];
enum {
	VIEW_KEY_TIME,
	VIEW_KEY_PID,
	VIEW_KEY_TID,
	VIEW_KEY_COMM,
	VIEW_KEY_CPU,
	VIEW_KEY_CGROUP
};

/* Fills the columns and lists of b->to from the profiles, and counts facts[].samples. The caller
 * sets bin_ns and the other facts. Returns 0 or -ENOMEM; call view_build_done() in either case. */
int view_build_run(struct view_build *b);
void view_build_done(struct view_build *b);
/* Sets b->image_of so that images that compare/images.h matches have the same name on both sides.
 * Returns 0 or -ENOMEM. */
int view_build_match_images(struct view_build *b);
