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
	uint64_t bytes; /* of the merged file */
};

/* When to give up. */
struct segment_merge_bounds {
	const atomic_bool *stop; /* when set; NULL: never */
	size_t max_bytes; /* limit on the memory for distinct data; 0: no limit */
};

/* Returns whether the same info describes both: same boot of the same machine, and no clock step
 * between them. */
bool segment_merge_fits(const struct session_info *a, const struct session_info *b);
/* Writes the data of the `nr` files (in order, and fitting) into segment-FIRST-LAST of `dir`,
 * with the last one's modification time; syncs it before renaming it into place.  The source
 * files stay, but readers ignore them after the rename (session.h).  A single file is replaced by
 * a smaller one (SESSION_SEALED); -EUCLEAN if it is damaged, because the new one would hide that.
 * Times are rounded down to 10 us.  Returns 0 or a negative errno with a message in *err
 * (-ECANCELED: stopped, which is checked until everything is written; -E2BIG: over the memory
 * limit); then nothing has changed. */
int segment_merge(const char *dir, const struct session_file *files, size_t nr,
		  const struct segment_merge_bounds *bounds,
		  struct segment_merge_result *ret_result, struct err *err);
