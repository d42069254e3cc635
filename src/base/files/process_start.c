/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/files/process_start.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/files/io.h"
#include "base/parse.h"

enum {
	STAT_MAX = 4096,
	START_FIELD = 22, /* of /proc/PID/stat: clock ticks since boot */
};

uint64_t process_start_ns(int32_t pid)
{
	uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK);
	struct buf text = { 0 };
	uint64_t ticks = 0;
	char path[64];
	char *at;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (io_read_file(path, &text, STAT_MAX)) {
		buf_done(&text);
		return 0;
	}
	buf_put_u8(&text, 0);
	/* The second field is a name in parentheses, which can contain any characters. */
	at = text.failed ? NULL : strrchr((char *)text.data, ')');
	for (int field = 2; at && field < START_FIELD; field++)
		at = strchr(at + 1, ' ');
	if (at) {
		at[1 + strspn(at + 1, "0123456789")] = '\0';
		if (!parse_u64(at + 1, &ticks))
			ticks = 0;
	}
	buf_done(&text);
	return hz ? ticks * (NS_PER_S / hz) : 0;
}
