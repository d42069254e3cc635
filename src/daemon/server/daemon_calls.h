/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemon_calls.h - the system calls that oprofiled can make once it records.
 * Layer: daemon.  For the process that samples; its helper has a stricter filter (confine.h).  One filter
 * in a process. */
#pragma once

struct err;

/* Allows all threads of this process, and its later children, only those system calls that recording needs:
 * no program can be run, no other process traced or written to, no module, mount, namespace or user changed,
 * no connection made, no memory both written and run.  Another call fails with EPERM and is noted for
 * daemon_calls_next_refused().  0, or a negative errno with a line where there is no such filter. */
int daemon_calls_confine(struct err *err);

/* The number of a system call that was refused since the last call of this function, each number once; -1:
 * none. */
int daemon_calls_next_refused(void);
/* Refused numbers from this on are returned as this one. */
enum {
	DAEMON_CALLS_MAX = 1023
};
