/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process_cpu.h - the CPU time of another process.
 * Layer: serve. */
#pragma once
#include <stdint.h>
#include <sys/types.h>

/* Returns the CPU time of a process without its children, in nanoseconds; 0 if it has ended. */
uint64_t process_cpu_ns(pid_t pid);
