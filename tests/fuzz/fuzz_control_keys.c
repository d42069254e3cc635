/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_control_keys.c - writes to control files: lines "PATH VALUE". */
#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "daemon/server/control_keys.h"
#include "daemon/server/control_line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_enabled(void *ctx)
{
	return *(bool *)ctx;
}

static int enable(void *ctx, bool on, struct err *err)
{
	(void)err;
	*(bool *)ctx = on;
	return 0;
}

static int dump(void *ctx, struct err *err)
{
	(void)ctx;
	(void)err;
	return 0;
}

static int check_event(void *ctx, const char *spec, struct err *err)
{
	(void)ctx;
	return strlen(spec) % 3 ? 0 : err_set(err, -ENOENT, "no event %s", spec);
}

static uint64_t stat(void *ctx, enum control_stat what, unsigned int cpu)
{
	(void)ctx;
	assert(what < CONTROL_STAT_COUNT && cpu < 3);
	return cpu;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct control_keys_ops ops = { is_enabled, enable, dump,
						     check_event, stat };
	struct daemonrc setup = { 0 };
	bool enabled = false;
	struct control_keys keys = { .ops = &ops,
				     .ctx = &enabled,
				     .setup = &setup,
				     .nr_cpus = 3,
				     .cpu_type = "timer" };
	struct control_lines lines = { 0 };
	char *line;

	control_keys_init(&keys);
	if (control_lines_add(&lines, data, size))
		return 0;
	while (control_lines_next(&lines, &line) == 1) {
		char value[CONTROL_VALUE_MAX];
		struct err err = { 0 };
		char *space = strchr(line, ' ');

		if (space)
			*space = 0;
		if (control_keys_set(&keys, line, space ? space + 1 : "", &err))
			assert(err.code && *err.text);
		(void)control_keys_get(&keys, line, value, &err);
		control_keys_take_setup(&keys);
	}
	control_lines_done(&lines);
	daemonrc_done(&setup);
	return 0;
}
