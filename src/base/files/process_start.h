/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process_start.h - when a running process started, which tells it from an earlier one of the same number.
 * Layer: base. */
#pragma once
#include <stdint.h>

/* When the process started, in nanoseconds of CLOCK_BOOTTIME, to a clock tick; 0: it is gone, or unknown. */
uint64_t process_start_ns(int32_t pid);
