/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table_maker.h - unwind tables of large binaries, made by a thread: that takes longer than rings
 * with stacks can wait.
 * Layer: record.  All calls by one thread; starts as zeros but for `cache_dir`, `helper` and `budget`. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct table_budget;
struct table_helper;
struct table_work;
struct unwind_table;

struct table_maker {
	const char *cache_dir; /* where tables are kept; NULL: nowhere */
	struct table_helper
		*helper; /* who reads the binaries; NULL: the thread itself */
	struct table_budget *budget; /* of users for their binaries; NULL: no limit */
	struct table_work *work; /* shared with the thread; NULL: none was asked for */
	unsigned int nr;         /* asked for and not taken */
};

/* Asks for the table of the binary at `fd`, which is the maker's from then on; `path` is its name.
 * `cached`: the table may be in the cache, or is put there; not that of a copy, as tables are found again by the
 * file that they are of.  0, -ENOMEM or -EAGAIN (no thread); then it is not. */
int table_maker_ask(struct table_maker *m, uint32_t image, int fd, const char *path,
		    bool cached);
/* What came of a request. */
struct table_made {
	uint32_t image;
	struct unwind_table *table; /* the caller's; NULL: there is none */
	bool is_refused;            /* for now: the owner's budget is used up */
};

/* The next that is made.  Waits for one until then (CLOCK_MONOTONIC; 0: not at all, UINT64_MAX: for ever).
 * False: there is none. */
bool table_maker_take(struct table_maker *m, uint64_t until_ns,
		      struct table_made *ret_made);
/* Frees all.  Waits for what is being made, a second at most: a binary may lie where a server does not
 * answer. */
void table_maker_done(struct table_maker *m);

/* The table of a binary, made by the calling thread and without looking into the cache.  `ret_made->image` is
 * left as it is. */
void table_maker_make(const struct table_maker *m, int fd, const char *path,
		      struct table_made *ret_made);
