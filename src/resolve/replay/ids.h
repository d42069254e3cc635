/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ids.h - the build-ids of binaries in a perf.data, by name.
 * Layer: resolve, for the files of replay.h alone. */
#pragma once
#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "format/perfdata/input.h"
#include "format/session/dict.h"

struct replay_ids {
	VEC(struct build_id) ids;
	struct map by_name; /* (hash of kind and name, 0) -> ids */
	size_t nr_rows;     /* rows of the input's table that were read */
};

/* Adds the rows of the input's table that are new: in a pipe they arrive over time. Returns 0
 * or -ENOMEM. */
int replay_ids_add(struct replay_ids *t, const struct perf_input *in);
void replay_ids_done(struct replay_ids *t);
/* Sets *ret_id to the build-id of the image of this name, if the table has one. */
void replay_ids_find(const struct replay_ids *t, const char *name, enum image_kind kind,
		     struct build_id *ret_id);
/* Like replay_ids_find(), for the kernel. */
void replay_ids_kernel(const struct replay_ids *t, struct build_id *ret_id);
