/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jit_tables.h - unwind tables of jitdumps while the processes still write them.
 * Layer: record. Single-threaded; zero the struct before use.
 *
 * A compiler can describe code in its dump after the code has run, or even only when the process
 * ends. So a sample whose location has no known code must wait until the dump contains a newer
 * record. */
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
	const struct unwind_arch *arch; /* architecture of this machine */
	VEC(struct live_dump *) dumps;
	uint64_t bytes; /* sizes of all dumps in memory */
	uint64_t round; /* number of the current round */
	bool any_read;  /* a dump was read since the last call of jit_tables_read() */
};

enum jit_table_state {
	JIT_TABLE_KNOWN,  /* final: there is a table, or there will be none */
	JIT_TABLE_UNKNOWN /* the dump can still describe the location */
};
/* Finds the code that was at *offset in the anonymous memory `image` at `time_ns`. If the dump of
 * its process describes that code, sets *offset to the location in the dump's table and *ret_table
 * to that table, which `t` owns (NULL: it has none). Otherwise sets *ret_table to NULL. */
enum jit_table_state jit_tables_find(struct jit_tables *t, const struct image *image,
				     uint64_t *offset, uint64_t time_ns,
				     const struct unwind_table **ret_table);
/* Call at the begin of each round. Reads the dumps that samples wait for, if they have grown;
 * within a round, each dump is read at most once. `all`: this is the last round, so reads them
 * even if that takes long. Returns whether any dump was read since the last call. */
bool jit_tables_read(struct jit_tables *t, bool all);
void jit_tables_done(struct jit_tables *t);
