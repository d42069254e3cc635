/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/files/process_facts.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/async_call.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/files/io.h"
#include "base/parse.h"

enum {
	STAT_MAX = 4096,
	STATUS_MAX = 1 << 16,
	/* Field of /proc/PID/stat that contains the start time, in clock ticks since boot. */
	START_FIELD = 22,
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
	return hz && ticks ? clock_initial_boottime_ns(ticks * (NS_PER_S / hz)) : 0;
}

int64_t process_status_number(int32_t pid, const char *name, int which)
{
	struct buf text = { 0 };
	char path[64], start[32];
	uint64_t number;
	char *at, *end;
	int64_t result = -1;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	snprintf(start, sizeof(start), "\n%s\t", name);
	if (io_read_file(path, &text, STATUS_MAX))
		buf_clear(&text);
	buf_put_u8(&text, 0);
	at = text.failed ? NULL : strstr((char *)text.data, start);
	end = at ? strchr(at + 1, '\n') : NULL;
	if (end) {
		*end = '\0';
		if (which == STATUS_LAST) {
			at = strrchr(at, '\t') + 1;
		} else {
			at += strlen(start);
			at[strcspn(at, "\t")] = '\0';
		}
		if (parse_u64_max(at, UINT32_MAX, &number))
			result = (int64_t)number;
	}
	buf_done(&text);
	return result;
}

uint64_t process_async_user(int32_t pid)
{
	int64_t user = pid > 0 ? process_status_number(pid, "Uid:", STATUS_FIRST) : -1;

	if (user < 0)
		return ASYNC_CALL_UNKNOWN;
	return user && user != geteuid() ? (uint64_t)user : ASYNC_CALL_OWN;
}
