/* SPDX-License-Identifier: GPL-2.0-or-later */
/* failures.h - counts failed memory allocations.
 * Layer: tools. Thread-safe. If memory is short, for example for a symbol, some functions
 * continue without it. The result must then not look complete. So each failed allocation is
 * recorded (failures_wrap.c), and main() reports it at the end. Errors of file operations are
 * reported where they occur (base/files/faults.h). */
#pragma once
#include <stdbool.h>

/* Records that an allocation failed. */
void failures_note_memory(void);
/* Reports failed allocations.  Returns the exit status: `status`, or 3 if that is 0.  With
 * `is_recorder`, returns `status` unchanged, because it is that of the recorded program. */
int failures_report(int status, bool is_recorder);
