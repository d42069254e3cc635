/* SPDX-License-Identifier: GPL-2.0-or-later */
/* segment_merge.h - merges adjacent segments of a session into one.
 * Layer: daemon.  Memory use: the distinct data of all segments so far and of one source, plus
 * some 128k samples. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct session_file;
struct session_info;

struct segment_merge_result {
	uint64_t samples;
	uint64_t
		bad_samples; /* samples dropped because they refer to damaged or missing data */
	uint64_t bytes; /* size of the merged file */
};

/* When to give up. */
struct segment_merge_bounds {
	const atomic_bool *stop; /* when set; NULL: never */
	size_t max_bytes; /* limit on the memory for distinct data; 0: no limit */
};

/* Returns whether two segments can be merged: they are from the same boot of the same machine, and
 * the clock was not set between them. */
bool segment_merge_fits(const struct session_info *a, const struct session_info *b);
/* Merges `nr` files of `dir` (adjacent, in order, and pairwise segment_merge_fits()) into
 * segment-FIRST-LAST with the modification time of the last one; syncs it before renaming it into
 * place. The source files stay, but readers ignore them after the rename (session.h). A single
 * file is replaced by a smaller one (SESSION_SEALED), unless it is damaged (-EUCLEAN), because the
 * new one would hide the damage. Times are rounded down to 10 us. Returns 0 or a negative errno
 * with a message in *err, in which case nothing has changed: -ECANCELED if `bounds` stopped the
 * merge, -E2BIG if it needs too much memory. */
int segment_merge(const char *dir, const struct session_file *files, size_t nr,
		  const struct segment_merge_bounds *bounds,
		  struct segment_merge_result *ret_result, struct err *err);
