/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/cli/failures.h"

#include <stdatomic.h>

#include "tools/cli/command.h"

enum {
	STATUS_INCOMPLETE = 3
};

static atomic_bool memory_failed;

void failures_note_memory(void)
{
	atomic_store_explicit(&memory_failed, true, memory_order_relaxed);
}

int failures_report(int status, bool is_recorder)
{
	/* A command that failed with a message has already explained the failure. */
	if (status && !is_recorder && command_nr_messages())
		return status;
	if (!atomic_load_explicit(&memory_failed, memory_order_relaxed))
		return status;
	command_error("out of memory: the result is not complete");
	return status || is_recorder ? status : STATUS_INCOMPLETE;
}
