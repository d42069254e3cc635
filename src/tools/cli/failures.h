/* SPDX-License-Identifier: GPL-2.0-or-later */
/* failures.h - allocations that failed without a message.
 * Layer: tools.  Any thread.
 *
 * A layer that has no memory for a symbol continues without it where it can.  The command must not pass for complete
 * then.  So the program notes each allocation that fails (failures_wrap.c), and main() reports it at the end.  Calls on
 * files are reported where they fail (base/files/faults.h). */
#pragma once
#include <stdbool.h>

/* Notes that an allocation failed. */
void failures_note_memory(void);
/* Reports it.  The exit status: `status`, or 3 if that is 0; with
 * `is_recorder` it is not changed, because it is that of the recorded program. */
int failures_report(int status, bool is_recorder);
