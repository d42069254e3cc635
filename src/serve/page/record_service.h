/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_service.h - answers the requests record/...: starts and stops a recording of this user, or
 * the daemon, with the rights of this user.
 * Layer: serve. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "serve/page/daemon_state.h"
#include "serve/page/recorder.h"

struct err;
struct serve_answer;
struct serve_request;

struct record_service {
	struct page_recorder recorder;
	char *session_dir; /* absolute; recordings are stored there */
	bool system_wide;  /* the last form requested a recording of all processes */
	bool of_daemon;    /* the daemon was started last, not a recording */
	char *shown; /* the argument for the saved session that is shown; NULL: the current one */
	bool began;   /* set when the page must open another session or recording */
	bool removed; /* set when the current session was removed or renamed */
	struct daemon_state daemon; /* at the last query */
	/* Numbers for the status; the page sets them. */
	uint64_t samples, lost;
};

/* Initializes *s for recordings in `session_dir` (NULL: ./oprofile_data). Returns 0, or a negative
 * errno with a message in *err. */
int record_service_init(struct record_service *s, const char *session_dir,
			struct err *err);
void record_service_done(struct record_service *s);
/* Starts to record a program that the user gave on the command line. The program uses the terminal
 * of this process. Returns 0, or a negative errno with a message in *err. */
int record_service_run(struct record_service *s, char *const *command,
		       const char *callgraph, struct err *err);
/* Answers the request; `name` is the part after "record/". */
void record_service_answer(struct record_service *s, const char *name,
			   const struct serve_request *request, struct serve_answer *a);
