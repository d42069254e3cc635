/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session_dir.h - where recordings go: DIR/samples/current, and what becomes of the one
 * that was there.
 * Layer: record.  A new session is made beside, as DIR/samples/.recording-PID, and takes the
 * place of `current` only when the recording has really begun.
 * Nothing is written, removed or renamed through a symbolic link, nor in a directory of another user
 * (base/files/trust.h): DIR alone, where it was given, may be either.  It is held open, so that it does not help
 * to replace it with a link later (base/files/guard.h). */
#pragma once
#include <stdbool.h>

struct err;

struct session_dir {
	char *root;    /* DIR */
	char *samples; /* DIR/samples */
	char *current; /* DIR/samples/current */
	char *previous;
	char *writing;  /* where files go at the moment */
	int samples_fd; /* the folder `samples`, for unlinkat(2) and its kind */
	int lock_fd;    /* one recorder a DIR at a time */
	bool append;
	bool committed;
	bool guarded; /* DIR/samples and DIR/kernel (base/files/guard.h) */
};

/* `dir` NULL: ./oprofile_data, made if missing; a given one must exist.
 * 0, or a negative errno with a line that names the directory. */
int session_dir_open(const char *dir, bool append, struct session_dir *ret_dir,
		     struct err *err);
/* Makes DIR/samples/current, for a recording that is continued from the first on. */
int session_dir_make_current(const char *dir, struct err *err);
/* The recording has begun: `previous` goes, `current` becomes `previous`, ours `current`.  If one of them cannot
 * be renamed, all is as it was. */
int session_dir_commit(struct session_dir *d, struct err *err);
/* Ours becomes `name` in DIR/samples, and the session that had this name goes; likewise. */
int session_dir_commit_named(struct session_dir *d, const char *name, struct err *err);
/* Removes an uncommitted session. */
void session_dir_close(struct session_dir *d);
