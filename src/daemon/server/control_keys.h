/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control_keys.h - maps the control files of /dev/oprofile, by path, to the daemon's state.
 * Layer: daemon.  Single-threaded.  Written values go into the setup (daemonrc.h) and take effect
 * at the next start, as in OProfile's kernel driver.  Names, modes and defaults are the driver's
 * (drivers/oprofile/oprofile_files.c and oprofile_stats.c of Linux 4). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/server/daemonrc.h"

struct buf;
struct err;

enum {
	CONTROL_COUNTERS = 8, /* directories 0 to 7 */
	CONTROL_VALUE_MAX = 640
};

enum control_stat {
	CONTROL_STAT_RECEIVED, /* these four are per CPU */
	CONTROL_STAT_LOST_OVERFLOW,
	CONTROL_STAT_BACKTRACE_ABORTED,
	CONTROL_STAT_INVALID_EIP,
	CONTROL_STAT_NO_MM, /* this one and those that follow are sums over all CPUs */
	CONTROL_STAT_NO_MAPPING,
	CONTROL_STAT_EVENT_LOST,
	CONTROL_STAT_BT_NO_MAPPING,
	CONTROL_STAT_MULTIPLEX,
	CONTROL_STAT_COUNT
};

/* Callbacks into the daemon.  Those that can fail return 0, or a negative errno with a message in
 * *err. */
struct control_keys_ops {
	bool (*is_enabled)(void *ctx);
	int (*enable)(void *ctx, bool on, struct err *err);
	int (*dump)(void *ctx, struct err *err);
	/* Checks that this machine can sample `spec` (NAME:COUNT:UNITMASK:KERNEL:USER). */
	int (*check_event)(void *ctx, const char *spec, struct err *err);
	uint64_t (*stat)(void *ctx, enum control_stat stat, unsigned int cpu);
};

/* A hardware counter of the control files, in directory 0, 1 ... The setup's events are those of
 * the enabled counters. */
struct control_counter {
	bool enabled;
	bool kernel, user;
	uint64_t count;
	uint64_t unit_mask;
	char event[128];
	char mask_name[64]; /* "" if the unit mask is a number */
	/* The event as the setup had it, or "" after a write.  Such an event can have properties
	 * that the files do not show, for example no count. */
	char spec[CONTROL_VALUE_MAX];
};

struct control_keys {
	const struct control_keys_ops *ops;
	void *ctx;
	struct daemonrc *setup;
	unsigned int nr_cpus;
	const char *cpu_type;
	struct control_counter counters[CONTROL_COUNTERS];
	size_t nr_shown; /* how many of the setup's first events the counters show */
	char last_error[CONTROL_VALUE_MAX];
};

/* Initializes `k`; the caller has set the pointers. `cpu_type` and all strings that they refer to
 * are borrowed. */
void control_keys_init(struct control_keys *k);
/* Rebuilds the counters after the setup's events have changed. */
void control_keys_take_setup(struct control_keys *k);
/* Appends lines "PATH MODE", with modes such as 0644. */
void control_keys_list(const struct control_keys *k, struct buf *reply);
/* Gets the value without a newline.  Returns 0, -ENOENT (no such file) or -EACCES (not
 * readable). */
int control_keys_get(const struct control_keys *k, const char *path,
		     char ret_value[CONTROL_VALUE_MAX], struct err *err);
/* Sets the value of a control file.  Returns 0, -ENOENT (no such file), -EACCES (not writable),
 * -EINVAL, or the daemon's own error.  The message is also kept for the file last_error. */
int control_keys_set(struct control_keys *k, const char *path, const char *value,
		     struct err *err);
