/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rights.h - limits the privileges of a daemon that was started by root. Layer: record. The
 * functions affect the calling thread and the threads that it starts later. */
#pragma once
#include <stdbool.h>

struct err;

/* Empties the bounding and ambient sets, so that executed programs have no capabilities; the
 * caller keeps its own.  Without CAP_SETPCAP, the sets stay unchanged. */
void rights_drop_bound(void);

/* Drops all capabilities except those that recording the system needs: CAP_PERFMON (before Linux
 * 5.8, CAP_SYS_ADMIN), CAP_BPF, CAP_SYSLOG (kernel addresses), CAP_SYS_PTRACE and
 * CAP_DAC_READ_SEARCH (binaries and memory of any process), CAP_CHECKPOINT_RESTORE
 * (/proc/PID/map_files), CAP_IPC_LOCK (rings) and CAP_SYS_NICE. `with_admin`: also keeps
 * CAP_SYS_ADMIN, which the kernels of Debian and Ubuntu require for any event if
 * perf_event_paranoid is above 2, their default. Also empties the bounding and ambient sets, and
 * sets no_new_privs. Does nothing for users other than root. Returns 0 or a negative errno with a
 * message in *err. */
int rights_keep_needed(bool with_admin, struct err *err);
