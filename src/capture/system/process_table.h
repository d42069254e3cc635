/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process_table.h - lists the existing processes, with their parents and names, from /proc.
 * Layer: capture. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/containers/vec.h"

enum {
	/* The kernel's limit for names of kernel threads; other names have at most 15 bytes. */
	PROCESS_NAME_BYTES = 64
};

struct process_entry {
	pid_t pid;
	pid_t parent;
	/* The command name (comm), truncated by the kernel. */
	char name[PROCESS_NAME_BYTES];
};

struct process_table {
	VEC(struct process_entry) processes; /* sorted by pid */
};

/* Fills an empty table.  Returns 0 or a negative errno.  Call process_table_done() in any case. */
int process_table_read(struct process_table *t);
void process_table_done(struct process_table *t);
/* Returns whether `name` is the process's command, or the file name of its program. */
bool process_is_named(const struct process_entry *p, const char *name);
/* Returns whether `pid` is a child of one of the `nr` processes, or a descendant of a child. */
bool process_is_below(const struct process_table *t, pid_t pid, const pid_t *of,
		      size_t nr);
/* Returns whether this process may record process `pid`: the kernel lets it read the link
 * /proc/PID/exe. Also returns true for kernel threads and ended processes, which have no such
 * link. */
bool process_is_visible(pid_t pid);
