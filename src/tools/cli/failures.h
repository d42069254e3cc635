/* SPDX-License-Identifier: GPL-2.0-or-later */
/* failures.h - counts allocations that failed without a message.
 * Layer: tools.  Any thread.
 * // When a layer has no memory for a symbol, it continues without it if it can.  The command
 * must not look complete then.  So the program records each failed allocation (failures_wrap.c),
 * and main() reports it at the end.  Errors of file operations are reported where they occur
 * (base/files/faults.h). */
#pragma once
#include <stdbool.h>

/* Records that an allocation failed. */
void failures_note_memory(void);
/* Reports failed allocations.  Returns the exit status: `status`, or 3 if that is 0.  With
 * `is_recorder`, returns `status` unchanged, because it is that of the recorded program. */
int failures_report(int status, bool is_recorder);
