/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process_facts.h - the start time of a process, which distinguishes it from an earlier process
 * with the same pid, and its user.
 * Layer: base. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct buf;

/* Fields of /proc/PID/stat (proc_pid_stat(5)). */
struct process_stat {
	const char *name; /* in the parsed text */
	char state;
	int32_t parent;
	int32_t group;
	uint64_t start_ticks; /* in clock ticks since boot; 0: unknown */
};

/* Parses the text of /proc/PID/stat, which it changes. The name can contain any characters. Returns
 * false if the text has another form, or ends before the process group. */
bool process_stat_parse(char *text, struct process_stat *ret_stat);
/* Reads and parses /proc/PID/stat of a process into `text`, which then contains the name; the
 * caller frees it with buf_done(). Returns 0, -ENOENT (the process has ended), -ENOMEM or another
 * negative errno. */
int process_stat_read(int32_t pid, struct buf *text, struct process_stat *ret_stat);
/* Returns the start time in nanoseconds of CLOCK_BOOTTIME, as in the initial time namespace, with
 * the precision of a clock tick; 0 if the process has ended or its start time is unknown. */
uint64_t process_start_ns(int32_t pid);

enum {
	STATUS_FIRST = 0,
	STATUS_LAST = -1
};
/* Returns a number in the line of /proc/PID/status that begins with `name`, such as "Uid:";
 * `which` selects the first or the last one. Ids are converted to the caller's namespaces. Returns
 * -1 if the line is missing. */
int64_t process_status_number(int32_t pid, const char *name, int which);
/* Returns the user of a process, as a value of async_call.h: its real user id, because every user
 * can run programs that change the effective one. */
uint64_t process_async_user(int32_t pid);
