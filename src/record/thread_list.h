/* SPDX-License-Identifier: GPL-2.0-or-later */
/* thread_list.h - the threads of processes, as /proc lists them.
 * Layer: record. */
#pragma once
#include <sys/types.h>

#include "base/containers/vec.h"

struct thread_list {
	VEC(pid_t) list;
};

/* Adds all threads of a process that are not listed yet. Returns 0, -ESRCH if there is no such
 * process, or another negative errno. */
int thread_list_add(struct thread_list *t, pid_t pid);
void thread_list_done(struct thread_list *t);
