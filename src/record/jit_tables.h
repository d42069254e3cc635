/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jit_tables.h - unwind tables of jitdumps while the processes still write them.
 * Layer: record. Single-threaded; zero the struct before use.
 *
 * A compiler can write its dump later than the code runs, at the worst when the process ends.
 * So a location without known code has to wait until the dump has a record that is newer than
 * the sample. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/vec.h"

struct image;
struct jit_store;
struct live_dump;
struct unwind_arch;
struct unwind_table;

struct jit_tables {
	const struct jit_store *store; /* holds the dumps open; NULL: no dump is read */
	const struct unwind_arch *arch; /* of this machine */
	VEC(struct live_dump *) dumps;
	uint64_t bytes; /* sizes of all dumps in memory */
	uint64_t round; /* number of the current round */
	bool any_read;  /* a dump was read since the last call of jit_tables_read() */
};

enum jit_table_state {
	JIT_TABLE_KNOWN,  /* with a table, or without */
	JIT_TABLE_UNKNOWN /* the dump can still describe the location */
};
/* Finds the code at `offset` of anonymous memory `image` at that time. *ret_table is its table
 * (NULL: none); then *offset is the location's in the table. */
enum jit_table_state jit_tables_find(struct jit_tables *t, const struct image *image,
				     uint64_t *offset, uint64_t time_ns,
				     const struct unwind_table **ret_table);
/* Begins a round: dumps are read at most once in each. Reads those that samples wait for, if
 * they have grown. With `all`, reads them however long that takes, as this is the last time.
 * Returns whether there was one. */
bool jit_tables_read(struct jit_tables *t, bool all);
void jit_tables_done(struct jit_tables *t);
