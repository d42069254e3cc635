/* rights.h - what a daemon started by root may still do.
 * Layer: daemon.  Of the calling thread and those that it starts later. */
#pragma once

struct err;

/* Gives up all capabilities but those that recording the system takes: CAP_PERFMON (before Linux
 * 5.8, CAP_SYS_ADMIN), CAP_BPF, CAP_SYSLOG (the kernel's addresses), CAP_SYS_PTRACE and
 * CAP_DAC_READ_SEARCH (binaries and memory of any process), CAP_CHECKPOINT_RESTORE
 * (/proc/PID/map_files), CAP_IPC_LOCK (rings) and CAP_SYS_NICE.  Others than root have nothing to
 * give up.  0 or a negative errno with a line. */
int rights_keep_needed(struct err *err);
