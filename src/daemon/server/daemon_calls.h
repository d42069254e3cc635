/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemon_calls.h - restricts the system calls that oprofiled can make once it records.
 * Layer: daemon. For the process that samples; its helper has a stricter filter (confine.h). The
 * filter and the list of refused calls exist once per process. */
#pragma once

struct err;

/* Restricts all threads of this process, and its later children, to the system calls that
 * recording needs. They cannot run a program, trace or write to another process, change modules,
 * mounts, namespaces or users, make connections, or map memory both writable and executable.
 * Other calls fail with EPERM and are recorded for daemon_calls_next_refused().  Returns 0, or a
 * negative errno with a message in *err if no filter can be installed. */
int daemon_calls_confine(struct err *err);

/* Returns the number of a system call that was refused since the last call, each number once; -1
 * if there are no more. */
int daemon_calls_next_refused(void);
/* Higher refused numbers are reported as this one. */
enum {
	DAEMON_CALLS_MAX = 1023
};
