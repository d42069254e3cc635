/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan.h - what one run of operf does, made of its options; and the loop that does it.
 * Layer: tools. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/events/events.h"
#include "capture/system/target.h"
#include "record/keep/session_dir.h"
#include "tools/cli/options.h"

struct err;
struct recorder;

enum {
	RECORD_PIDS_MAX = 1024
};

struct record_options {
	struct word_list events;
	const char *pids;
	bool system_wide;
	uint64_t frequency_hz;
	const char *callgraph; /* NULL: none; "", "auto", "dwarf", "fp" */
	const char *vmlinux;
	const char *session_dir;
	const char *perf_data;
	const char *archive; /* NULL: none; "": beside the session folder */
	const char *verbose;
	uint64_t duration_ns;
	uint64_t delay_ns;
	uint64_t ring_pages;
	bool separate_thread;
	bool separate_cpu;
	bool append;
	bool lazy;
};

/* What this run does, made of the options. */
struct record_plan {
	struct record_options options;
	struct event_requests events;
	pid_t pids[RECORD_PIDS_MAX];
	size_t nr_pids;
	char **command; /* NULL: none */
	uint32_t flags;
	/* Of the stack, to be copied with each sample; 0: no chains, or by frame pointers. */
	uint32_t stack_bytes;
	bool stacks_optional; /* where that cannot be, frame pointers will do */
	struct session_dir dir;
	struct target target;
	struct recorder *recorder;
	struct target_signals old_signals;
	int signal_fd;
	char *vmlinux;
};

/* Completes `p`, whose options and command are set.  0, or a negative errno with a line for
 * the user. */
int record_plan_make(struct record_plan *p, struct err *err);
/* Records until the target, the processes or the duration end, or a signal says so
 * (*ret_signal, else 0).  0, or the recorder's error with its line. */
int record_loop_run(struct record_plan *p, struct err *err, int *ret_signal);
