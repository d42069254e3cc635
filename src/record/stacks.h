/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stacks.h - user stacks of a recording, unwound while it runs.
 * Layer: record. Single-threaded, as the recorder. */
#pragma once
#include <stdint.h>

#include "base/containers/shares.h"
#include "base/containers/vec.h"
#include "record/jit_tables.h"
#include "record/table_maker.h"
#include "resolve/replay/resolver.h"
#include "resolve/unwind/code_blocks.h"

struct image_store;
struct jit_store;
struct session_dir;
struct shared_tables;
struct unwind_table;

struct stack_table {
	/* the table was looked for: it is set, requested, refused or known to be missing */
	bool looked;
	bool is_due; /* the table was requested and is not finished yet */
	/* not made, because the CPU budget of the file's owner was used up */
	bool is_refused;
	/* it was used since the last time that unused tables were dropped */
	bool is_used;
	/* the user who is charged: a hash of the account of the file; 0: the system */
	uint32_t user;
	struct unwind_table *table; /* NULL: none */
};

/* The files that tables are made from. */
struct recorder_files {
	const struct image_store *images; /* binaries */
	const struct jit_store *jit;      /* jitdumps */
	const struct session_dir *dir;    /* contains the copy of the vdso */
};

struct recorder_stacks {
	const struct dict *dict;
	struct recorder_files files;
	VEC(struct stack_table) tables; /* indexed by image number of the dict */
	uint64_t bytes;                 /* size of all tables */
	/* Bytes of the tables of each user; tables of the system are not included. */
	struct shares bytes_of;
	struct shared_tables *shared; /* NULL: tables are not shared */
	uint64_t next_trim_ns;
	bool any_refused;
	/* When refused tables are requested again; 0: not set. */
	uint64_t next_again_ns;
	struct table_maker maker;
	char *cache_dir; /* directory for tables of large binaries; NULL: none */
	bool hurried;    /* samples do not wait for tables */
	/* The image that the last sample waits for: its table was requested and is not finished, or
	 * it is anonymous memory with code that a jitdump does not describe yet. */
	uint32_t missing;
	struct jit_tables jit;
	struct code_blocks code;
	bool any_dump_read; /* the last call of recorder_stacks_take_tables() read a dump */
};

/* Returns the registers to copy for unwinding, as a bit mask in perf's numbering, on a machine
 * with this uname(2) name; 0 if unwinding is not supported there. */
uint64_t recorder_stacks_regs(const char *machine);
/* Zeroes `s`, and makes `resolver` unwind with the tables of these files. All arguments must
 * outlive `s`. Returns 0 or -ENOMEM. */
int recorder_stacks_open(struct recorder_stacks *s, struct resolver *resolver,
			 const struct dict *dict, const struct recorder_files *files,
			 const char *machine);
/* Returns whether a thread or the helper is making tables of binaries. */
bool recorder_stacks_is_making(const struct recorder_stacks *s);
/* Lets `s` use the helper, the budget and the memory limit of `shared`. From now on, `s` takes
 * existing tables from `shared`, and recorder_stacks_done() moves its tables there. `shared` must
 * outlive `s`. */
void recorder_stacks_share(struct recorder_stacks *s, struct shared_tables *shared);
/* Keeps the memory of tables below the limit. Call it once per round, when no stack is being
 * unwound. Above half of the limit, drops the tables that are left from the previous recording, and
 * then those that were not used for a minute; they are made again if needed. Above the limit, drops
 * tables of the user with the most bytes: unused ones first, then the largest ones, whose code is
 * unwound by frame pointers from then on. Drops tables of the system only if those of all users
 * together use at most half of the limit. Once a minute, this also allows requests for refused
 * tables again. Returns true if the caller must request all tables again: some may be gone, and
 * only a request marks a table as used. */
bool recorder_stacks_trim(struct recorder_stacks *s, uint64_t now_ns);
/* Collects finished tables, and reads jitdumps that have grown. If nothing is new, waits until
 * `until_ns` for a table to be finished (CLOCK_MONOTONIC; 0: does not wait, UINT64_MAX: no limit).
 * Returns true if a table or dump is new: then samples for which resolver_sample() returned -EAGAIN
 * can be tried again. */
bool recorder_stacks_take_tables(struct recorder_stacks *s, uint64_t until_ns);
/* `hurried`: from now on, samples do not wait for tables that are being made; their stacks are
 * unwound by frame pointers. */
void recorder_stacks_hurry(struct recorder_stacks *s, bool hurried);
/* Returns whether a sample that waits for the table of `image` should be tried again: the table is
 * finished or known to be missing, a jitdump was read, or samples do not wait for tables. */
bool recorder_stacks_have(const struct recorder_stacks *s, uint32_t image);
void recorder_stacks_done(struct recorder_stacks *s);
