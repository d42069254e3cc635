/* SPDX-License-Identifier: GPL-2.0-or-later */
/* target.h - the program to record: starts it, holds it until everything is ready, and lets it
 * run.
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
/* Lets the child exec. Returns 0 once that succeeded. Returns -ENOENT (no such command),
 * -EACCES and others, with a message in *err, if it could not be run; the child is then gone. */
int target_go(struct target *t, const char *name, struct err *err);
/* Checks without waiting whether the child has ended; sets status and ended. */
void target_poll(struct target *t);
/* Waits until the child ends. */
void target_wait(struct target *t);
/* Ends a child that was never released. Does not touch one that is running. */
void target_drop(struct target *t);
/* Returns the shell's exit status for a wait status: the exit status, or 128 + signal. */
int target_exit_status(int wait_status);
