/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control.h - opcontrol's parts: the options, and what is known while it works.
 * Layer: tools.  Messages are OProfile's (opcontrol of 0.6 to 0.9.9), word for word and without a
 * program's name before them, since scripts look for them. */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "daemon/server/control_client.h"
#include "daemon/server/daemonrc.h"
#include "tools/cli/options.h"

struct control_options {
	/* Actions. */
	bool init;
	bool setup;
	bool start_daemon;
	bool start;
	bool dump;
	bool stop;
	bool shutdown;
	bool reset;
	bool deinit;
	bool status;
	bool list_events;
	const char *save;
	/* Settings. */
	const char *session_dir;
	const char *buffer_size;
	const char *buffer_watershed;
	const char *cpu_buffer_size;
	const char *note_table_size;
	const char *callgraph;
	const char *vmlinux;
	const char *kernel_range;
	const char *pid_filter;
	const char *pgrp_filter;
	const char *metrics_listen;
	const char *kernel_only;
	const char *xen;
	const char *active_domains;
	const char *s390_buffer;
	const char *verbose;
	bool no_vmlinux;
	struct word_list events;
	struct word_list separate;
	struct word_list images;
};

struct control {
	struct control_options set;
	char *rc_path;     /* ~root/.oprofile/daemonrc */
	char *rc_new_path; /* ... daemonrc_new: for the daemon's next start */
	struct daemonrc rc;
	bool has_new;          /* rc is what daemonrc_new says */
	struct err rc_failure; /* why rc is not what the file says; code 0: it is */
	int lock_fd;           /* -1: not held */
	struct control_client daemon;
	bool connected;
	bool ended; /* it was told to end, and did */
};

/* control.c: whether the option of that name stands on the command line. */
bool control_is_given(const struct control_options *set, const char *option);
/* The option that says what is asked: an action, where there is one. */
const char *control_asked(const struct control_options *set);

/* control_words.c: the spellings of older versions. */

/* Fills `ret_words` with argv's words in the spelling of the table: -e=X becomes -eX, and what
 * --ctrN-event, --ctrN-count, --ctrN-unit-mask, --ctrN-kernel and --ctrN-user say one --event.
 * 0; -EINVAL with a line; -ENOMEM.  control_words_done() frees it, in any case. */
struct control_words {
	VEC(char *)
	words; /* ended by a NULL, not counted; borrowed from argv or `own` */
	VEC(char *) own;
};
int control_words_make(int argc, char **argv, struct control_words *ret_words,
		       struct err *err);
void control_words_done(struct control_words *w);

/* control_setup.c: settings from the options. */

/* Puts those of c->set into c->rc.  1: there were some; 0: none; a negative errno with a line. */
int control_setup_take(struct control *c, struct err *err);
/* Whether there is a setting among the options. */
bool control_setup_given(const struct control_options *set);
/* Fills in what is not set, as opcontrol writes it. */
int control_setup_defaults(struct daemonrc *rc);
/* control_events.c: the same of --event. */
int control_setup_events(const struct control_options *set, struct daemonrc *rc,
			 struct err *err);

/* control_daemon.c: the daemon, running or not. */

/* Connects if it runs: 0, c->connected says whether; or a negative errno with a line, -EBUSY: it runs
 * and has no socket. */
int control_attach(struct control *c, struct err *err);
/* Of the daemon that holds the lock; 0: there is none, or its file is not ours to see. */
pid_t control_daemon_pid(void);
/* Asks it one thing, with up to two words more.  As control_request(). */
int control_ask(struct control *c, const char *verb, const char *arg, struct err *err);
/* Sends it the settings of c->rc: those that stand on the command line, or with `all` each one.
 * 1: it takes them when it is started again. */
int control_send_setup(struct control *c, bool all, struct err *err);
/* Starts it, without sampling, if it does not run.  One that has its settings not yet gets them; it
 * ends if it refuses them. */
int control_start_daemon(struct control *c, struct err *err);
/* Waits until it is gone. */
void control_wait_gone(const struct control *c);
/* Other calls wait until this one is done (flock). */
int control_lock(struct control *c, struct err *err);
/* A lock file whose process is gone is removed, which is said. */
void control_remove_stale(const struct control *c);
/* Where sessions go. */
const char *control_session_dir(const struct control *c);

/* control_status.c: --status.  An exit status. */
int control_print_status(struct control *c);
