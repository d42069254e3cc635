/* SPDX-License-Identifier: GPL-2.0-or-later */
/* recorder.h - a recording that the page makes: a child process `oprofile record`.
 * Layer: serve.  Single-threaded. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

struct err;
struct record_form;

enum recorder_state {
	RECORDER_IDLE,
	RECORDER_STARTING, /* the child has not started to sample */
	RECORDER_RUNNING,
	RECORDER_FINISHED,
	RECORDER_FAILED
};

struct page_recorder {
	enum recorder_state state;
	pid_t pid;
	int messages_fd;     /* reads the child's standard error; -1: closed */
	struct buf messages; /* the end of it */
	char *session_dir;   /* absolute */
	char *command;       /* as text, for the page */
	bool of_terminal;    /* the child belongs to the terminal's process group */
	bool stopping;       /* the child got a signal */
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
	uint64_t cpu_ns;           /* CPU time of the child at the last look */
};

/* Starts a recording.  `words` are the arguments of `oprofile record`, which end with a NULL.
 * `directory`: where the child runs; NULL: here.  With `of_terminal`, the child and its program keep
 * the standard streams and receive Ctrl-C; otherwise they have none.  Returns 0, or a negative errno
 * with a message in *err. */
int page_recorder_start(struct page_recorder *r, char *const *words,
			const char *directory, bool of_terminal, struct err *err);
bool page_recorder_is_active(const struct page_recorder *r);
/* Returns whether the recording ended within the last second: perhaps by a signal that this process
 * has not read yet. */
bool page_recorder_just_ended(const struct page_recorder *r);
/* Ends the recording with SIGINT; a second call, which does not wait for the program, with SIGTERM. */
void page_recorder_stop(struct page_recorder *r);
/* Reads messages, and notes that the child started to sample or ended.  Never waits. */
void page_recorder_poll(struct page_recorder *r);
/* Waits until the child samples or has ended, or for `wait_ms`. */
void page_recorder_settle(struct page_recorder *r, int wait_ms);
/* Returns the last message of the child that is an error, or NULL.  Frees nothing; valid until the
 * next poll. */
const char *page_recorder_error(const struct page_recorder *r);
/* Ends the child, waits for it and frees everything. */
void page_recorder_done(struct page_recorder *r);

/* Runs `oprofile` with these arguments, waits for its end and stores its output, at most
 * `wait_ms`.  Returns its exit status, or a negative errno with a message in *err. */
int page_run_self(char *const *words, int wait_ms, struct buf *output, struct err *err);
