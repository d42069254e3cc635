/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_event_format.c - any bytes as a file of /sys/bus/event_source/devices/PMU/format: bits
 * that it does not name keep their value, and the named bits get the new one. */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "capture/events/priv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perf_event_attr attr = { .type = 7, .sample_period = 9 };
	char *text = calloc(1, size + 1);
	uint64_t value = 0;

	if (!text)
		return 0;
	if (size > 8) {
		memcpy(&value, data, 8);
		memcpy(text, data + 8, size - 8);
	}
	(void)events_sysfs_spread(&attr, text, value);
	if (attr.type != 7 || attr.sample_period != 9)
		abort();
	free(text);
	return 0;
}
