/* table_maker.h - unwind tables of large binaries, made by a thread: that takes longer than rings
 * with stacks can wait.
 * Layer: tools.  All calls by one thread; starts as zeros but for `cache_dir` and `helper`. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct table_helper;
struct table_work;
struct unwind_table;

struct table_maker {
	const char *cache_dir; /* where tables are kept; NULL: nowhere */
	struct table_helper
		*helper;         /* who reads the binaries; NULL: the thread itself */
	struct table_work *work; /* shared with the thread; NULL: none was asked for */
	unsigned int nr;         /* asked for and not taken */
};

/* Asks for the table of the binary at `fd`, which is the maker's from then on; `path` is its name.
 * 0, -ENOMEM or -EAGAIN (no thread); then it is not. */
int table_maker_ask(struct table_maker *m, uint32_t image, int fd, const char *path);
/* A table that is made: *ret_table, perhaps NULL, is the caller's.  Waits for one until then
 * (CLOCK_MONOTONIC; 0: not at all, UINT64_MAX: for ever).  False: there is none. */
bool table_maker_take(struct table_maker *m, uint64_t until_ns, uint32_t *ret_image,
		      struct unwind_table **ret_table);
/* Frees all.  Waits for what is being made, a second at most: a binary may lie where a server does not
 * answer. */
void table_maker_done(struct table_maker *m);

/* The table of a binary, or NULL, by who calls, and without looking into the cache. */
struct unwind_table *table_maker_make(const struct table_maker *m, int fd,
				      const char *path);
