/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table_helper.h - unwind tables of binaries that anybody may have written, made by a process that
 * can do nothing else.
 * Layer: record.  A keeper without rights begins the worker when there is work, and another when it has
 * died; the worker reads the binary from a descriptor that it is sent and answers with a file in
 * memory, which is checked here as one of the cache is (docs/daemon.md).  Any thread may ask. */
#pragma once
#include <stdint.h>

struct err;
struct table_helper;
struct unwind_table;

/* What the worker does: the table of the binary open at `fd`, as unwind_table_load_fd(). */
typedef int (*table_make)(int fd, struct unwind_table **ret_table);

/* Begins the keeper: best before this process gives up its rights, as it becomes nobody's then.
 * 0 or a negative errno with a line. */
int table_helper_start(table_make make, struct table_helper **ret_helper,
		       struct err *err);
/* The table of the binary open at `fd`; waits for it.  `path` is for messages.  0; -EOPNOTSUPP,
 * -EBADMSG ...: there is none; -EPIPE: the helper crashed, twice, or took too long: it is not asked for
 * this file again; -EAGAIN: it did not answer, for which the file may not be blamed.  Adds the CPU time of the
 * helper's processes to `*cost_ns` in any case. */
int table_helper_make(struct table_helper *h, int fd, const char *path,
		      uint64_t *cost_ns, struct unwind_table **ret_table);
/* Whoever waits for a table now is told -EAGAIN, a tenth of a second later at most.  NULL is fine. */
void table_helper_give_up(struct table_helper *h);
/* CPU time of its processes so far. */
uint64_t table_helper_cpu_ns(struct table_helper *h);
void table_helper_stop(struct table_helper *h); /* NULL is fine */
