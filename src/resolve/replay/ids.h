/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ids.h - the build-ids that a perf.data knows of its binaries, by name.
 * Layer: resolve, for replay.c alone. */
#pragma once
#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "format/perfdata/input.h"
#include "format/session/dict.h"

struct replay_ids {
	VEC(struct build_id) ids;
	struct map by_name; /* (hash of kind and name, 0) -> ids */
	size_t nr_rows;     /* of the input's table that were looked at */
};

/* Adds those of the table that are new: a pipe's come one by one.  0 or -ENOMEM. */
int replay_ids_add(struct replay_ids *t, const struct perf_input *in);
void replay_ids_done(struct replay_ids *t);
/* The build-id of an image of this name, if the table has one; else *ret_id stays. */
void replay_ids_find(const struct replay_ids *t, const char *name, enum image_kind kind,
		     struct build_id *ret_id);
/* The same for the kernel. */
void replay_ids_kernel(const struct replay_ids *t, struct build_id *ret_id);
