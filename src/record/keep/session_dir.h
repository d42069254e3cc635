/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session_dir.h - manages the directory of recordings: DIR/samples/current, and what happens to an
 * existing one.
 * Layer: record. A new session is created alongside, as DIR/samples/.recording-PID, and replaces
 * `current` only when the recording has really started. Nothing is written, removed or renamed
 * through a symbolic link, or in a directory of another user (base/files/trust.h). Only the DIR
 * that the user gave may be a link or belong to another user. It is held open, so replacing it by
 * a link later has no effect (base/files/guard.h). */
#pragma once
#include <stdbool.h>

struct err;

struct session_dir {
	char *root;    /* DIR */
	char *samples; /* DIR/samples */
	char *current; /* DIR/samples/current */
	char *previous;
	char *writing;  /* directory where files are written now */
	int samples_fd; /* the directory `samples`, for unlinkat(2) and similar calls */
	int lock_fd;    /* allows one recorder per DIR */
	bool append;
	bool committed;
	bool guarded; /* DIR/samples and DIR/kernel (base/files/guard.h) */
};

/* Opens and locks a session directory, removes what killed recorders left there, and prepares a new
 * session in it. Sessions that OProfile wrote there, `current` and `previous`, are renamed with a
 * warning. If `dir` is NULL, uses ./oprofile_data and creates it if missing; any other `dir` must
 * exist. `append`: continues the session `current` if it exists. Returns 0, or a negative errno
 * with a message in *err that names the directory. */
int session_dir_open(const char *dir, bool append, struct session_dir *ret_dir,
		     struct err *err);
/* Returns whether a user may give this name to a session in DIR/samples: it is safe as a file name
 * and in a log line, and not a name that the recorder itself uses there. */
bool session_dir_is_name(const char *name);
/* Creates DIR/samples/current, for a recording that appends to it from the start. */
int session_dir_make_current(const char *dir, struct err *err);
/* Call when the recording has started: removes `previous`, renames `current` to `previous`, and
 * our session to `current`.  If one rename fails, restores the original state. */
int session_dir_commit(struct session_dir *d, struct err *err);
/* Like session_dir_commit(), but renames our session to `name` in DIR/samples and replaces a
 * session of that name. */
int session_dir_commit_named(struct session_dir *d, const char *name, struct err *err);
/* Removes the session if it was not committed. */
void session_dir_close(struct session_dir *d);
