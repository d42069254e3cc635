/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table_maker.h - makes unwind tables of large binaries in a thread, because the rings cannot
 * wait that long when samples contain stacks.
 * Layer: record. Use from one thread; zero the struct before use, except `cache_dir`, `helper`
 * and `budget`. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct table_budget;
struct table_helper;
struct table_work;
struct unwind_table;

struct table_maker {
	const char *cache_dir; /* directory for tables; NULL: none */
	/* Reads the binaries; NULL: the thread itself does. */
	struct table_helper *helper;
	struct table_budget *budget; /* CPU time per user; NULL: no limit */
	struct table_work *work;     /* shared with the thread; NULL: no request yet */
	/* number of requests whose results table_maker_take() has not returned yet */
	unsigned int nr;
};

/* Requests the unwind table of the binary open at `fd`; `path` is its name. Returns 0 and takes
 * ownership of `fd`; or -ENOMEM or -EAGAIN (no thread), and the caller still owns it. `cached`:
 * reads the table from the cache on disk, or stores it there. Set it only if `fd` is the binary
 * itself: the cache identifies a table by the binary's file, so a copy must not be used. */
int table_maker_ask(struct table_maker *m, uint32_t image, int fd, const char *path,
		    bool cached);
/* The result of a request. */
struct table_made {
	uint32_t image;
	struct unwind_table *table; /* owned by the caller; NULL: none */
	bool is_refused; /* refused for now, because the owner's budget is used up */
	/* The account of the file (table_account.h); without a budget TABLE_ACCOUNT_SYSTEM. */
	uint64_t account;
};

/* Stores the next finished table in *ret_made. If none is finished, waits for one until `until_ns`
 * (CLOCK_MONOTONIC; 0: does not wait, UINT64_MAX: no limit). Returns false if no table is
 * finished. */
bool table_maker_take(struct table_maker *m, uint64_t until_ns,
		      struct table_made *ret_made);
/* Ends the thread and frees everything. Waits at most a second for a table that is being made: a
 * binary can be on a server that does not respond. */
void table_maker_done(struct table_maker *m);

/* Makes the table of a binary in the calling thread, without the cache. Leaves
 * `ret_made->image` unchanged. */
void table_maker_make(const struct table_maker *m, int fd, const char *path,
		      struct table_made *ret_made);
