/* target.h - the program that is recorded: started, held until everything is ready, let go.
 * Layer: tools. */
#pragma once
#include <signal.h>
#include <sys/types.h>

struct err;

struct target {
	pid_t pid;   /* 0: none */
	int go_fd;   /* closing or writing it decides what the child does */
	int fail_fd; /* the child writes an errno here if exec fails */
	int status;  /* wait status, once it has ended */
	int ended;
};

/* Forks a child that waits; `old_mask` is the signal mask it gets before exec.
 * 0 or a negative errno. */
int target_hold(char *const *argv, const sigset_t *old_mask, struct target *ret_target,
		struct err *err);
/* Lets it exec.  0 once that succeeded; -ENOENT (no such command), -EACCES and others when
 * it could not be run (the child is then gone), with a line for the user. */
int target_go(struct target *t, const char *name, struct err *err);
/* Looks without waiting whether it ended; fills status and ended. */
void target_poll(struct target *t);
/* Waits for its end. */
void target_wait(struct target *t);
/* Ends a child that was never let go. */
void target_drop(struct target *t);
/* What a shell would report of a wait status: the exit status, or 128 + signal. */
int target_exit_status(int wait_status);
