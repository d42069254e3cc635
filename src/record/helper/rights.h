/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rights.h - what a daemon started by root may still do.
 * Layer: record.  Of the calling thread and those that it starts later. */
#pragma once
#include <stdbool.h>

struct err;

/* Empties the bounding and the ambient set, so that no program that is run has any capability; what the
 * caller has itself stays.  Without CAP_SETPCAP they stay as they were found. */
void rights_drop_bound(void);

/* Gives up all capabilities but those that recording the system takes: CAP_PERFMON (before Linux
 * 5.8, CAP_SYS_ADMIN), CAP_BPF, CAP_SYSLOG (the kernel's addresses), CAP_SYS_PTRACE and
 * CAP_DAC_READ_SEARCH (binaries and memory of any process), CAP_CHECKPOINT_RESTORE
 * (/proc/PID/map_files), CAP_IPC_LOCK (rings) and CAP_SYS_NICE.  `with_admin`: CAP_SYS_ADMIN, too, as
 * Debian's and Ubuntu's kernels want it for any event where perf_event_paranoid is above 2, their
 * default.  The bounding set goes, too.  Others than root have nothing to give up.  0 or a negative errno
 * with a line. */
int rights_keep_needed(bool with_admin, struct err *err);
