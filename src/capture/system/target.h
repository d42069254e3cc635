/* SPDX-License-Identifier: GPL-2.0-or-later */
/* target.h - starts the program to record: forks a child, holds it until the recorder is ready,
 * and lets it run.
 * Layer: capture. */
#pragma once
#include <signal.h>
#include <sys/types.h>

struct err;

enum {
	TARGET_DISPOSITIONS = 3
};

/* The signal settings before the recorder changed them for itself. */
struct target_signals {
	sigset_t mask;
	struct sigaction dispositions[TARGET_DISPOSITIONS];
};

struct target {
	pid_t pid; /* 0: no process */
	int go_fd; /* writing to it lets the child run; closing it makes the child exit */
	int fail_fd; /* the child writes an errno here if exec fails */
	int status;  /* wait status after the child has ended */
	int ended;
};

/* Sets up the caller's signals: writing to a closed pipe or beyond a size limit makes write()
 * fail, SIGCHLD has its default action, and `mask` is blocked. Saves the previous settings in
 * *ret_old, for the target. Returns 0 or a negative errno. */
int target_signals_take(const sigset_t *mask, struct target_signals *ret_old,
			struct err *err);
/* Forks a child that waits. Before its exec, it restores the signal settings `old`. Returns 0
 * or a negative errno. */
int target_hold(char *const *argv, const struct target_signals *old,
		struct target *ret_target, struct err *err);
/* Lets the child execute its program. Returns 0 after that has succeeded. If it fails, returns a
 * negative errno such as -ENOENT (no such command) or -EACCES with a message in *err; the child
 * has then ended. */
int target_go(struct target *t, const char *name, struct err *err);
/* Checks without waiting whether the child has ended; sets status and ended. */
void target_poll(struct target *t);
/* Waits until the child ends. */
void target_wait(struct target *t);
/* Ends a child that was never released by target_go(). Does nothing to a running program. */
void target_drop(struct target *t);
/* Converts a wait status to the status that a shell would report: the exit status, or 128 + the
 * signal. */
int target_exit_status(int wait_status);
