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
	struct buf messages; /* the last part of its output */
	char *session_dir;   /* absolute */
	char *command;       /* the command line as text, for the page */
	bool of_terminal;    /* the child belongs to the terminal's process group */
	bool stopping;       /* the child got a signal */
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
	uint64_t cpu_ns;           /* CPU time of the child when it was last read */
};

/* Starts a recording.  `words` are the arguments of `oprofile record`, which end with a NULL.
 * `directory`: where the child runs; NULL: here. With `of_terminal`, the child and its program keep
 * standard input and output, their messages are also printed, and they receive Ctrl-C. Otherwise,
 * their standard input and output are /dev/null. Returns 0, or a negative errno with a message in
 * *err. */
int page_recorder_start(struct page_recorder *r, char *const *words,
			const char *directory, bool of_terminal, struct err *err);
bool page_recorder_is_active(const struct page_recorder *r);
/* Returns whether the recording ended within the last second: perhaps by a signal that this process
 * has not read yet. */
bool page_recorder_just_ended(const struct page_recorder *r);
/* Ends the recording with SIGINT. A second call sends SIGTERM: then the recorder does not
 * wait for the program. */
void page_recorder_stop(struct page_recorder *r);
/* Reads messages, and updates r->state if the child started to sample or ended. Never waits. */
void page_recorder_poll(struct page_recorder *r);
/* Waits until the child samples or has ended, but not longer than `wait_ms`. */
void page_recorder_settle(struct page_recorder *r, int wait_ms);
/* Returns the last line of the messages that does not start with "*", or NULL. The text is static
 * and valid until the next call. */
const char *page_recorder_error(const struct page_recorder *r);
/* Ends the child, waits for it and frees everything. */
void page_recorder_done(struct page_recorder *r);

/* Runs `oprofile` with these arguments, and appends its standard output and standard error to
 * `output`. Kills it if it runs longer than `wait_ms` (-ETIMEDOUT). Returns its exit status, or a
 * negative errno with a message in *err. */
int page_run_self(char *const *words, int wait_ms, struct buf *output, struct err *err);
