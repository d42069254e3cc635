/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process_facts.h - the start time of a process, which distinguishes it from an earlier process
 * with the same pid, and its user.
 * Layer: base. */
#pragma once
#include <stdint.h>

/* Returns the start time in nanoseconds of CLOCK_BOOTTIME, with the precision of a clock tick;
 * 0: the process is gone, or its start time is unknown. */
uint64_t process_start_ns(int32_t pid);

enum {
	STATUS_FIRST = 0,
	STATUS_LAST = -1
};
/* Returns the first or last number (`which`) in the line of /proc/PID/status that begins with
 * `name`, such as "Uid:". Ids are those of this process's namespaces. Returns -1 if the line is
 * missing. */
int64_t process_status_number(int32_t pid, const char *name, int which);
/* Returns the user of a process for async_call.h: the real one, because anybody can run programs
 * that change the others. */
uint64_t process_async_user(int32_t pid);
