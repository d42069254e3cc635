/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shared_tables.h - state that successive recordings of a process share: the helper process that
 * makes unwind tables, the limits on tables, and the tables of the previous recording.
 * Layer: record. Single-threaded, like the recorder. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/vec.h"
#include "format/session/dict.h"

struct table_budget;
struct table_helper;
struct unwind_table;

struct shared_table {
	/* Identifies the file that the table was made from. Its string numbers refer to the dict of
	 * a previous recording, so do not use them. */
	struct image image;
	struct unwind_table *table;
	uint32_t user; /* the user who is charged (struct stack_table); 0: the system */
};

struct shared_tables {
	/* Process that reads the binaries; NULL: the recorder reads them. */
	struct table_helper *helper;
	struct table_budget *budget; /* CPU time per user; NULL: no limit */
	/* limit in bytes on the tables of a recording; 0: none */
	uint64_t max_bytes;
	VEC(struct shared_table) kept;
	uint64_t kept_bytes;
	/* Earliest time of the next message about a dropped table. */
	uint64_t next_report_ns;
};

/* Takes ownership of the table of `image`, a file of `user`, and keeps it for the next recording.
 * Frees it if memory is short, or if `image` does not identify a state of a file. */
void shared_tables_keep(struct shared_tables *s, const struct image *image,
			struct unwind_table *table, uint32_t user);
/* Removes the table of the file that `image` identifies, if the file has not changed since, and
 * returns the table; the caller then owns it. Stores the user who is charged for it in *ret_user.
 * Returns NULL if there is no such table. */
struct unwind_table *shared_tables_take(struct shared_tables *s,
					const struct image *image, uint32_t *ret_user);
/* Frees all kept tables. */
void shared_tables_forget(struct shared_tables *s);
