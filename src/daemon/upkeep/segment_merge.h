/* SPDX-License-Identifier: GPL-2.0-or-later */
/* segment_merge.h - neighbouring segments of a session as one.
 * Layer: daemon.  Memory holds what is distinct in all of them and in one, and some 128k samples. */
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
	uint64_t bad_samples; /* that refer to what is damaged or missing: left out */
	uint64_t bytes;       /* of the merged file */
};

/* When it is given up. */
struct segment_merge_bounds {
	const atomic_bool *stop; /* is set; NULL: nobody stops it */
	size_t max_bytes; /* more memory is taken by what is distinct; 0: no bound */
};

/* Whether one info can stand for both: the same boot of the same machine, and between them the
 * clocks went alike. */
bool segment_merge_fits(const struct session_info *a, const struct session_info *b);
/* Writes what the `nr` files (in order, and fitting) have into segment-FIRST-LAST of `dir`, on
 * the disk before it has its name, with the last one's time of change.  The files stay; from the
 * rename on they are not read any more (session.h).  One file alone is replaced by what takes less
 * room (SESSION_SEALED); -EUCLEAN if it is damaged, which a new one would not show.  Times are rounded down to 10 us.  0 or a negative errno with a line (-ECANCELED: stopped, which it
 * looks for until all is written; -E2BIG: more memory than it may take); then nothing has changed. */
int segment_merge(const char *dir, const struct session_file *files, size_t nr,
		  const struct segment_merge_bounds *bounds,
		  struct segment_merge_result *ret_result, struct err *err);
