/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/files/process_facts.h"

#include <errno.h>
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
	/* Fields of /proc/PID/stat; 2 is the name. */
	STATE_FIELD = 3,
	PARENT_FIELD = 4,
	GROUP_FIELD = 5,
	START_FIELD = 22,
};

/* Takes field number `field` of the file. Returns false if it is malformed. */
static bool process_stat_take(struct process_stat *s, int field, const char *word)
{
	uint64_t number;

	switch (field) {
	case STATE_FIELD:
		s->state = *word;
		return true;
	case PARENT_FIELD:
	case GROUP_FIELD:
		if (!parse_u64_max(word, INT32_MAX, &number))
			return false;
		*(field == PARENT_FIELD ? &s->parent : &s->group) = (int32_t)number;
		return true;
	case START_FIELD:
		return parse_u64(word, &s->start_ticks);
	default:
		return true;
	}
}

bool process_stat_parse(char *text, struct process_stat *ret_stat)
{
	char *open = strchr(text, '('), *close = strrchr(text, ')');
	struct process_stat s = { 0 };
	int field = STATE_FIELD;
	char *rest, *word;

	if (!open || !close || close < open)
		return false;
	*close = '\0';
	s.name = open + 1;
	rest = close + 1;
	while (field <= START_FIELD && (word = strsep(&rest, " \n")))
		if (*word && !process_stat_take(&s, field++, word))
			return false;
	if (field <= GROUP_FIELD)
		return false;
	*ret_stat = s;
	return true;
}

int process_stat_read(int32_t pid, struct buf *text, struct process_stat *ret_stat)
{
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	r = io_read_file(path, text, STAT_MAX);
	if (r)
		return r == -ESRCH ? -ENOENT : r;
	buf_put_u8(text, 0);
	if (text->failed)
		return -ENOMEM;
	return process_stat_parse((char *)text->data, ret_stat) ? 0 : -EBADMSG;
}

uint64_t process_start_ns(int32_t pid)
{
	uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK);
	struct process_stat stat = { 0 };
	struct buf text = { 0 };
	uint64_t ticks;

	ticks = process_stat_read(pid, &text, &stat) ? 0 : stat.start_ticks;
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
