/* target.h - the program that is recorded: started, held until everything is ready, let go.
 * Layer: capture. */
#pragma once
#include <signal.h>
#include <sys/types.h>

struct err;

enum {
	TARGET_DISPOSITIONS = 3
};

/* The signals as they were before the recorder arranged them for itself. */
struct target_signals {
	sigset_t mask;
	struct sigaction dispositions[TARGET_DISPOSITIONS];
};

struct target {
	pid_t pid;   /* 0: none */
	int go_fd;   /* closing or writing it decides what the child does */
	int fail_fd; /* the child writes an errno here if exec fails */
	int status;  /* wait status, once it has ended */
	int ended;
};

/* Arranges the caller's signals: writing to a closed pipe or beyond a size limit is an error
 * of write(), a child's end is told, and `mask` is blocked. *ret_old is for the target. */
int target_signals_take(const sigset_t *mask, struct target_signals *ret_old,
			struct err *err);
/* Forks a child that waits; it gets `old` back before its exec.  0 or a negative errno. */
int target_hold(char *const *argv, const struct target_signals *old,
		struct target *ret_target, struct err *err);
/* Lets it exec.  0 once that succeeded; -ENOENT (no such command), -EACCES and others when
 * it could not be run (the child is then gone), with a line for the user. */
int target_go(struct target *t, const char *name, struct err *err);
/* Looks without waiting whether it ended; fills status and ended. */
void target_poll(struct target *t);
/* Waits for its end. */
void target_wait(struct target *t);
/* Ends a child that was never let go; one that runs is left alone. */
void target_drop(struct target *t);
/* What a shell would report of a wait status: the exit status, or 128 + signal. */
int target_exit_status(int wait_status);
