/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jit_tables.h - unwind tables of jitdumps while the processes still write them.
 * Layer: record. Single-threaded; zero the struct before use.
 *
 * * A compiler can describe code in its dump after the code has run, or even only when the
 * process ends. So a sample at an address without known code must wait until the dump contains a
 * record that is newer than the sample. */
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
 * its process describes that code, sets *offset to the offset in the dump's table, and *ret_table
 * to that table, which `t` owns (NULL: the dump has no unwind information). Otherwise sets
 * *ret_table to NULL. */
enum jit_table_state jit_tables_find(struct jit_tables *t, const struct image *image,
				     uint64_t *offset, uint64_t time_ns,
				     const struct unwind_table **ret_table);
/* Starts a new round: reads the dumps that samples wait for, if their sizes have changed, and drops
 * dumps that their processes replaced by others. Within a round, jit_tables_find() does not read a
 * dump again. `all`: the caller waits for the result, so this also reads dumps that were read just
 * before, and waits longer for each. Returns whether any dump was read since the last call. */
bool jit_tables_read(struct jit_tables *t, bool all);
void jit_tables_done(struct jit_tables *t);
