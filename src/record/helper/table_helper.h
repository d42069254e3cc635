/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table_helper.h - builds unwind tables of untrusted binaries in a process without privileges.
 * Layer: record.  An unprivileged supervisor process starts the worker on demand, and starts
 * another one if it dies.  The worker receives a descriptor of the binary and answers with a file
 * in memory, which this process validates like a cached table (docs/daemon.md).  Any thread may
 * call. */
#pragma once
#include <stdint.h>

struct err;
struct table_helper;
struct unwind_table;

/* The worker's function: builds the table of the binary open at `fd`, as unwind_table_load_fd()
 * does. */
typedef int (*table_make)(int fd, struct unwind_table **ret_table);

/* Starts the supervisor.  Call it before this process drops its privileges, because the supervisor
 * changes its user.  Returns 0 or a negative errno with a message in *err. */
int table_helper_start(table_make make, struct table_helper **ret_helper,
		       struct err *err);
/* Waits for the table of the binary open at `fd`. `path` is for messages. Returns 0; -EOPNOTSUPP,
 * -EBADMSG ... if there is no table; -EPIPE if the helper crashed twice or took too long (later
 * calls for this file then fail at once); -EAGAIN if it did not answer, perhaps for another reason
 * than this file. Adds the CPU time of the helper's processes to `*cost_ns` in any case. */
int table_helper_make(struct table_helper *h, int fd, const char *path,
		      uint64_t *cost_ns, struct unwind_table **ret_table);
/* Makes all threads that wait for a table return -EAGAIN within a tenth of a second.  NULL is
 * allowed. */
void table_helper_give_up(struct table_helper *h);
/* Returns the CPU time of the helper's processes so far. NULL is allowed. */
uint64_t table_helper_cpu_ns(struct table_helper *h);
void table_helper_stop(struct table_helper *h); /* NULL is allowed */
