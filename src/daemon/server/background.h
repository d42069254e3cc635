/* SPDX-License-Identifier: GPL-2.0-or-later */
/* background.h - a daemon's process: one of a folder, and away from its terminal.
 * Layer: daemon. */
#pragma once

struct err;

struct background {
	int ready_fd; /* -1: in the foreground */
};

/* Takes RUN_DIR/lock, made with its folder if missing, and writes our pid into it.  It is held
 * until *ret_fd is closed, also by SIGKILL.  0; -EBUSY with the pid of who holds it; or another
 * negative errno with a line. */
int background_lock(const char *run_dir, int *ret_fd, struct err *err);
/* Whether only root and the caller can change RUN_DIR: who else can could put another socket there, or links in
 * place of the lock.  0, -EPERM, or another negative errno with a line. */
int background_check_run_dir(const char *run_dir, struct err *err);
/* Leaves the lock and empties the file. */
void background_unlock(int fd);
/* Closes what was inherited, but for the standard streams and `keep` (-1: nothing else): who lives on
 * in the background would hold others' locks, and pipes whose end somebody waits for. */
void background_close_files(int keep);
/* Forks twice and begins a session of its own, in / and without inherited files; a relative
 * OPROFILE_RUN_DIR is made a full one.  0: this is the daemon.  1: this is who started
 * it, which runs.  A negative errno with the daemon's line: this is who started it in vain. */
int background_fork(struct background *b, struct err *err);
/* The daemon runs (`failure` NULL; what it writes on its standard streams is dropped from here
 * on), or will not. */
void background_ready(struct background *b, const struct err *failure);
