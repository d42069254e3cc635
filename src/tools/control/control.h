/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control.h - the shared state of opcontrol's files: the options, and the daemon connection.
 * Layer: tools.  Messages are OProfile's (opcontrol of 0.6 to 0.9.9), word for word and without a
 * program name as prefix, because scripts search for them. */
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
	char *rc_path; /* ~root/.oprofile/daemonrc */
	char *rc_new_path; /* daemonrc_new in the same directory, for the daemon's next start */
	struct daemonrc rc;
	bool has_new; /* `rc` was read from daemonrc_new */
	/* The reason if `rc` could not be read; code 0: it was read. */
	struct err rc_failure;
	int lock_fd; /* -1: not held */
	struct control_client daemon;
	bool connected;
	bool ended; /* the daemon has ended on our request */
};

/* Returns whether the option is on the command line. */
bool control_is_given(const struct control_options *set, const char *option);
/* Returns the option that selects the action; an action has precedence over settings. */
const char *control_asked(const struct control_options *set);

/* ---- option spellings of older versions: words.c ---- */

/* Fills `ret_words` with argv's words in the spelling of the table.  -e=X becomes -eX;
 * --ctrN-event, --ctrN-count, --ctrN-unit-mask, --ctrN-kernel and --ctrN-user become one --event.
 * Returns 0; -EINVAL with a message in *err; or -ENOMEM.  Call control_words_done() in any case. */
struct control_words {
	VEC(char *)
	words; /* NULL-terminated (not counted); borrowed from argv or `own` */
	VEC(char *) own;
};
int control_words_make(int argc, char **argv, struct control_words *ret_words,
		       struct err *err);
void control_words_done(struct control_words *w);

/* ---- settings from the options: setup.c ---- */

/* Stores the settings of c->set in c->rc.  Returns 1 if there were any, 0 if not, or a negative
 * errno with a message in *err. */
int control_setup_take(struct control *c, struct err *err);
/* Returns whether the options contain a setting. */
bool control_setup_given(const struct control_options *set);
/* Sets missing settings to opcontrol's defaults. Returns 0 or a negative errno. */
int control_setup_defaults(struct daemonrc *rc);
/* Stores the events of --event in `rc`. */
int control_setup_events(const struct control_options *set, struct daemonrc *rc,
			 struct err *err);

/* ---- the daemon, running or not: daemon.c ---- */

/* Connects to the daemon if it runs, and sets c->connected.  Returns 0, or a negative errno with
 * a message in *err; -EBUSY: it runs but has no socket. */
int control_attach(struct control *c, struct err *err);
/* Returns the pid of the daemon that holds the lock; 0 if no daemon holds it, or the lock file is
 * not readable. */
pid_t control_daemon_pid(void);
/* Sends the daemon one request with an optional argument.  Returns the same as control_request().
 */
int control_ask(struct control *c, const char *verb, const char *arg, struct err *err);
/* Sends the settings of c->rc to the daemon: those on the command line, or all with `all`.
 * Returns 1 if they take effect when the daemon is restarted. */
int control_send_setup(struct control *c, bool all, struct err *err);
/* Starts the daemon without sampling if it does not run. Sends the settings to a daemon that does
 * not have them yet. If the daemon refuses them, stops it. */
int control_start_daemon(struct control *c, struct err *err);
/* Waits until the daemon has exited. */
void control_wait_gone(const struct control *c);
/* Locks out other instances of opcontrol until this one ends (flock). */
int control_lock(struct control *c, struct err *err);
/* If a daemon was killed, removes its socket and empties its lock file, with a message. Does
 * nothing while a daemon runs. */
void control_remove_stale(const struct control *c);
/* Returns the directory of the sessions. */
const char *control_session_dir(const struct control *c);

/* Prints --status.  Returns an exit status. */
int control_print_status(struct control *c);
