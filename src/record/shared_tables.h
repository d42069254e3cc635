/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shared_tables.h - what recordings that follow each other share of unwind tables: who makes them, how
 * much memory they may take, and those that the last one had.
 * Layer: record.  Single-threaded, as the recorder. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/vec.h"
#include "format/session/dict.h"

struct table_budget;
struct table_helper;
struct unwind_table;

struct shared_table {
	struct image image; /* of the file; its strings mean nothing here */
	struct unwind_table *table;
};

struct shared_tables {
	struct table_helper *helper; /* who reads binaries; NULL: the recorder itself */
	struct table_budget *budget; /* of users for their binaries; NULL: no limit */
	uint64_t max_bytes;          /* of a recording's tables; 0: no bound */
	VEC(struct shared_table) kept;
	uint64_t kept_bytes;
	uint64_t next_tell_ns; /* of one that was dropped; at most one a minute */
};

/* Takes over a table of `image`, for the next recording; it is freed if there is no memory for that, or
 * if it is not known of which state of a file it is. */
void shared_tables_keep(struct shared_tables *s, const struct image *image,
			struct unwind_table *table);
/* The table of the same state of the same file, which is the caller's from then on; or NULL. */
struct unwind_table *shared_tables_take(struct shared_tables *s,
					const struct image *image);
/* Frees those that are kept. */
void shared_tables_forget(struct shared_tables *s);
