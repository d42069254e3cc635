/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/memory/failures.h"

#include <stdatomic.h>

static atomic_bool memory_failed;

void failures_note_memory(void)
{
	atomic_store_explicit(&memory_failed, true, memory_order_relaxed);
}

bool failures_had_memory(void)
{
	return atomic_load_explicit(&memory_failed, memory_order_relaxed);
}
