/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check.c - `oprofile check`, op-check-perfevents: checks that the kernel permits counting
 * events. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/events/events.h"
#include "capture/events/perf_attr.h"
#include "tools/cli/command.h"

extern const struct command command_check;

struct check_settings {
	bool verbose;
	bool software;
};

static const struct option_row rows[] = {
	{ .name = "verbose",
	  .letter = 'v',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct check_settings, verbose),
	  .help = "Print the result of perf_event_open()." },
	{ .name = "software",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct check_settings, software),
	  .help = "Test the timer, which needs no hardware counters." },
	{ 0 },
};

static int check_run(const struct command *self, int argc, char **argv)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	struct check_settings set = { 0 };
	struct err err = { 0 };
	int first;
	int r = command_options(self, OPTIONS_PERMUTE, argc, argv, &set, &first);
	int fd;

	if (r >= 0)
		return r;
	if (set.software) {
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = PERF_COUNT_SW_CPU_CLOCK;
	}
	fd = perf_attr_open(&attr, 0, -1);
	if (fd >= 0)
		close(fd);
	if (set.verbose && fd >= 0)
		puts("perf_event_open: success");
	if (set.verbose && fd < 0) {
		(void)perf_attr_explain(fd, set.software ? "TIMER" : "cycles", false,
					&err);
		printf("perf_event_open: %s (errno %d)\n%s\n", strerror(-fd), -fd,
		       err.text);
	}
	return fd < 0 ? -fd : 0;
}

const struct command command_check = {
	.name = "check",
	.classic = "op-check-perfevents",
	.summary =
		"check whether the kernel can count hardware events; the exit status is its errno",
	.usage = "[options]",
	.notes =
		"The exit status is 0 if hardware cycles can be counted, otherwise the errno of\nperf_event_open(2): 2 means that there are no hardware counters, 13 that\npermission is denied.\n",
	.options = rows,
	.run = check_run,
};
