/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan.h - plans a run of operf from its options, and runs its main loop.
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
struct scratch;

enum {
	RECORD_PIDS_MAX = 1024
};

struct record_options {
	struct word_list events;
	const char *pids;
	bool system_wide;
	const char *frequency; /* a number or "max"; NULL: the default */
	/* NULL: no call chains; "", "auto", "dwarf" or "fp", perhaps with a size. */
	const char *callgraph;
	const char *vmlinux;
	const char *session_dir;
	const char *perf_data;
	const char *output; /* the archive to write instead of a session; NULL: none */
	/* NULL: no archive; "": an archive next to the session directory. */
	const char *archive;
	const char *verbose;
	uint64_t duration_ns;
	uint64_t delay_ns;
	uint64_t ring_pages;
	bool separate_thread;
	bool separate_cpu;
	bool append;
	bool append_letter; /* given as -a */
	bool lazy;
};

/* A run, planned from the options. */
struct record_plan {
	struct record_options options;
	uint64_t frequency_hz;
	struct event_requests events;
	pid_t pids[RECORD_PIDS_MAX];
	size_t nr_pids;
	char **command; /* NULL: none */
	uint32_t flags;
	/* Bytes of the stack to copy with each sample; 0: no call chains, or call chains by frame
	 * pointers. */
	uint32_t stack_bytes;
	bool stacks_optional; /* fall back to frame pointers if stacks cannot be copied */
	struct scratch
		*scratch; /* contains the session if only an archive is written */
	struct session_dir dir;
	struct target target;
	struct recorder *recorder;
	struct target_signals old_signals;
	int signal_fd;
	bool sampled; /* sampling has begun, after --delay */
	char *vmlinux;
};

/* Completes `p`, whose options and command are set.  Returns 0, or a negative errno with a
 * message in *err. */
int record_plan_make(struct record_plan *p, struct err *err);
/* Returns whether `list` consists of names that --verbose knows. */
bool record_plan_is_verbose(const char *list);
/* Records until the target, the processes or the duration end, or a signal arrives (stored in
 * *ret_signal, else 0).  Returns 0, or the recorder's error with its message. */
int record_loop_run(struct record_plan *p, struct err *err, int *ret_signal);
