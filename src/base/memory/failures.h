/* SPDX-License-Identifier: GPL-2.0-or-later */
/* failures.h - records failed memory allocations.
 * Layer: base. Thread-safe. If memory is short, for example for a symbol, some functions
 * continue without it. The result must then not look complete. So each failed allocation is
 * recorded (failures_wrap.c), and main() reports it at the end. Errors of file operations are
 * reported where they occur (base/files/faults.h). */
#pragma once
#include <stdbool.h>

/* Records that an allocation failed. */
void failures_note_memory(void);
/* Returns whether an allocation failed since the program started. */
bool failures_had_memory(void);
