/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table_worker.h - the two processes of the helper that builds unwind tables: the supervisor, and
 * the worker that it starts. The supervisor learns nothing from its worker but its exit status.
 * Layer: record. */
#pragma once
#include <stdint.h>

#include "record/helper/table_helper.h"

struct rusage;

/* Runs the supervisor, in a separate process, until the other end of `fd` is closed. */
void table_worker_keep(table_make make, int fd) __attribute__((noreturn));
uint64_t table_worker_usage_ns(const struct rusage *u);
