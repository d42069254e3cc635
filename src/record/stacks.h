/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stacks.h - the user's stacks of a recording, unwound while it goes on.
 * Layer: record.  Single-threaded, as the recorder. */
#pragma once
#include <stdint.h>

#include "base/containers/vec.h"
#include "record/table_maker.h"
#include "resolve/replay/resolver.h"

struct image_keeper;
struct session_dir;
struct shared_tables;
struct unwind_table;

struct stack_table {
	bool looked;
	bool is_due;                /* it is being made */
	bool is_refused;            /* its owner's budget was used up */
	bool is_used;               /* since bounds were looked at */
	struct unwind_table *table; /* NULL: it has none */
};

struct recorder_stacks {
	const struct dict *dict;
	const struct image_keeper *keeper;
	const struct session_dir *dir;  /* where the vdso is kept */
	VEC(struct stack_table) tables; /* by image number of the dict */
	uint64_t bytes;                 /* of all of them */
	struct shared_tables *shared;   /* or NULL */
	uint64_t next_trim_ns;
	bool any_refused;
	uint64_t next_again_ns; /* those are requested again; 0: in a minute */
	struct table_maker maker;
	char *cache_dir; /* where tables of large binaries are kept; NULL: nowhere */
	bool hurried;    /* no sample waits for a table now */
	uint32_t
		missing; /* the image whose table was asked for last and is being made */
};

/* The registers to be copied, as perf numbers them, for unwinding on a machine that uname(2)
 * calls so; 0: it is not known how. */
uint64_t recorder_stacks_regs(const char *machine);
/* Has `resolver` unwind with the tables of the binaries that `keeper` holds open; all of them
 * outlive `s`, which starts as zeros.  0 or -ENOMEM. */
int recorder_stacks_open(struct recorder_stacks *s, struct resolver *resolver,
			 const struct dict *dict, const struct image_keeper *keeper,
			 const struct session_dir *dir, const char *machine);
/* From here on binaries are read as `shared`, which outlives `s`, says, its bound is kept, and tables are
 * taken from it and left to it in the end. */
void recorder_stacks_share(struct recorder_stacks *s, struct shared_tables *shared);
/* To be called when no stack is being unwound, now and then: with more than half of what tables may take
 * those that were not used for a minute go, to be made again if need be; with more than all of it
 * at once, and then the largest, whose code has frame pointers from then on.  What was refused is requested
 * again once a minute.  True: tables are to be asked for anew, as they may have gone, and who does not ask
 * does not use them. */
bool recorder_stacks_trim(struct recorder_stacks *s, uint64_t now_ns);
/* Takes tables that were being made; waits for one until then (CLOCK_MONOTONIC; 0: not at all,
 * UINT64_MAX: for ever).  Returns whether there were some: samples for which resolver_sample() was
 * -EAGAIN are worth another try. */
bool recorder_stacks_take_tables(struct recorder_stacks *s, uint64_t until_ns);
/* While it is so, what is being made counts as none: stacks there go by their frame pointers. */
void recorder_stacks_hurry(struct recorder_stacks *s, bool hurried);
/* Whether it is known what table an image has, or nobody waits to know. */
bool recorder_stacks_have(const struct recorder_stacks *s, uint32_t image);
void recorder_stacks_done(struct recorder_stacks *s);
