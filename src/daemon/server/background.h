/* SPDX-License-Identifier: GPL-2.0-or-later */
/* background.h - runs a daemon process: one per run directory, and detached from its terminal.
 * Layer: daemon. */
#pragma once

struct err;

struct background {
	int ready_fd; /* -1: the daemon runs in the foreground */
};

/* Locks RUN_DIR/lock (created with its directory if missing) and writes our pid into it.  The lock
 * lasts until *ret_fd is closed, also if that happens because the process was killed.  Returns 0;
 * -EBUSY with the pid of the process that holds the lock; or another negative errno with a message
 * in *err. */
int background_lock(const char *run_dir, int *ret_fd, struct err *err);
/* Checks that only root and the caller can change RUN_DIR.  Another user who can write there
 * could replace the socket, or put links in place of the lock.  Returns 0, -EPERM, or another
 * negative errno with a message in *err. */
int background_check_run_dir(const char *run_dir, struct err *err);
/* Releases the lock of background_lock() and empties its file. */
void background_unlock(int fd);
/* Closes all inherited descriptors except the standard streams and `keep` (-1: no other). Otherwise
 * a process in the background would hold locks of other processes, and keep pipes open whose
 * readers wait for the end of file. */
void background_close_files(int keep);
/* Forks twice and starts a new session, in / and without inherited files; makes a relative
 * OPROFILE_RUN_DIR absolute.  Returns 0 in the daemon.  In the process that started it, returns 1
 * if the daemon runs, or a negative errno with the daemon's message. */
int background_fork(struct background *b, struct err *err);
/* Call in the daemon. Reports to the process that started it that the daemon runs (`failure` is
 * NULL; from then on, output on the standard streams is dropped), or the reason why it cannot
 * run. */
void background_ready(struct background *b, const struct err *failure);
