/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process_start.h - the start time of a process, which distinguishes it from an earlier process
 * with the same pid.
 * Layer: base. */
#pragma once
#include <stdint.h>

/* Returns the start time in nanoseconds of CLOCK_BOOTTIME, with the precision of a clock tick;
 * 0: the process is gone, or its start time is unknown. */
uint64_t process_start_ns(int32_t pid);
