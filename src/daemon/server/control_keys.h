/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control_keys.h - the control files of /dev/oprofile on the daemon's state, by their paths.
 * Layer: daemon.  Single-threaded.  What is written goes into the setup (daemonrc.h) and counts
 * at the next start, as in OProfile's kernel driver; names, modes and defaults are its
 * (drivers/oprofile/oprofile_files.c and oprofile_stats.c of Linux 4). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/server/daemonrc.h"

struct buf;
struct err;

enum {
	CONTROL_COUNTERS = 8, /* folders 0 to 7 */
	CONTROL_VALUE_MAX = 640
};

enum control_stat {
	CONTROL_STAT_RECEIVED, /* these four: of one CPU */
	CONTROL_STAT_LOST_OVERFLOW,
	CONTROL_STAT_BACKTRACE_ABORTED,
	CONTROL_STAT_INVALID_EIP,
	CONTROL_STAT_NO_MM, /* of all */
	CONTROL_STAT_NO_MAPPING,
	CONTROL_STAT_EVENT_LOST,
	CONTROL_STAT_BT_NO_MAPPING,
	CONTROL_STAT_MULTIPLEX,
	CONTROL_STAT_COUNT
};

/* The daemon, as the keys see it.  The functions that can fail: 0, or a negative errno with a
 * line. */
struct control_keys_ops {
	bool (*is_enabled)(void *ctx);
	int (*enable)(void *ctx, bool on, struct err *err);
	int (*dump)(void *ctx, struct err *err);
	/* Whether this machine can sample `spec` (NAME:COUNT:UNITMASK:KERNEL:USER). */
	int (*check_event)(void *ctx, const char *spec, struct err *err);
	uint64_t (*stat)(void *ctx, enum control_stat stat, unsigned int cpu);
};

/* One folder 0, 1 ...; of those that are enabled the setup's events are made. */
struct control_counter {
	bool enabled;
	bool kernel, user;
	uint64_t count;
	uint64_t unit_mask;
	char event[128];
	char mask_name[64]; /* of a unit mask that is none of numbers; else "" */
	/* As the setup had it: "": something was written since.  Such an event can be more than the
	 * files show, without a count, say. */
	char spec[CONTROL_VALUE_MAX];
};

struct control_keys {
	const struct control_keys_ops *ops;
	void *ctx;
	struct daemonrc *setup;
	unsigned int nr_cpus;
	const char *cpu_type;
	struct control_counter counters[CONTROL_COUNTERS];
	size_t nr_shown; /* of the setup's events, the first: those of counters */
	char last_error[CONTROL_VALUE_MAX];
};

/* `cpu_type` is borrowed, as all else in `keys` that the caller sets. */
void control_keys_init(struct control_keys *k);
/* The setup's events have changed: the counters are made of them. */
void control_keys_take_setup(struct control_keys *k);
/* Lines "PATH MODE", the mode as 0644. */
void control_keys_list(const struct control_keys *k, struct buf *reply);
/* The value without a newline.  -ENOENT: no such file; -EACCES: it cannot be read. */
int control_keys_get(const struct control_keys *k, const char *path,
		     char ret_value[CONTROL_VALUE_MAX], struct err *err);
/* -ENOENT, -EACCES: it cannot be written; -EINVAL, or what the daemon could not do.  The line is
 * kept for the file last_error. */
int control_keys_set(struct control_keys *k, const char *path, const char *value,
		     struct err *err);
