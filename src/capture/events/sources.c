/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/events/sources.h"

#include <stddef.h>
#include <unistd.h>

static bool have_perf_events(void)
{
	/* perf_event_open(2) documents this file as the sign that the kernel supports perf
	 * events. */
	return !access("/proc/sys/kernel/perf_event_paranoid", F_OK);
}

const struct source_row source_rows[] = {
	{ .name = "perf_event",
	  .help = "Samples and side band from the kernel's perf_events rings.",
	  .available = have_perf_events },
	{ .name = NULL },
};
