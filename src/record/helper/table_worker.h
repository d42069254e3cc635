/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table_worker.h - the two processes of the helper that makes unwind tables: the keeper, which reads nothing
 * but a signal, and its worker.
 * Layer: record. */
#pragma once
#include <stdint.h>

#include "record/helper/table_helper.h"

struct rusage;

/* What the keeper does, in a process of its own, until nobody has the other end of `fd`. */
void table_worker_keep(table_make make, int fd) __attribute__((noreturn));
uint64_t table_worker_usage_ns(const struct rusage *u);
