/* SPDX-License-Identifier: GPL-2.0-or-later */
/* actions.c - opcontrol's actions, one function per action.  They return exit statuses. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files/io.h"
#include "capture/events/events.h"
#include "present/lines/screen.h"
#include "record/keep/session_dir.h"
#include "tools/cli/command.h"
#include "tools/control/actions.h"
#include "tools/control/control.h"

enum {
	PATH_BYTES = 4096
};

static const char normal_users[] =
	"Normal users are limited to either '--dump' or '--list-events'.";

/* Prints OProfile's message and then the reason from the daemon. The reason quotes the daemon's
 * name of the request; this function replaces it with the option that the user gave. */
static void control_actions_refuse(const struct control *c, const char *reason)
{
	const char *rule = *reason == '"' ? strchr(reason + 1, '"') : NULL;

	if (rule)
		screen_print_line(stderr, "%s \"--%s%.*s", normal_users,
				  control_asked(&c->set), (int)strcspn(rule, ";"),
				  rule);
	else
		screen_print_line(stderr, "%s%s%s", normal_users, *reason ? " " : "",
				  reason);
}

/* Prints an error and returns 1. Messages of OProfile have no prefix; others begin with the
 * command's name. */
static int control_actions_fail(const struct control *c, const struct err *err)
{
	switch (err->code) {
	case -EPERM:
		control_actions_refuse(c, err->text);
		return 1;
	case -ECHILD:
	case -ENODEV:
		fprintf(stderr, "%s\n",
			err->text); /* already escaped, and may have two lines */
		return 1;
	default:
		break;
	}
	command_error("%s", err->text);
	return 1;
}

int control_fail(const struct control *c, const struct err *err)
{
	return control_actions_fail(c, err);
}

static bool is_root(void)
{
	return geteuid() == 0;
}

/* Connects to the daemon if it runs.  Returns false with a message if that fails, or if no daemon
 * runs and the user is not root. */
static bool attach(struct control *c)
{
	struct err err = { 0 };
	int r = control_attach(c, &err);

	if (!r && (c->connected || is_root()))
		return true;
	/* A user without access to the socket is not permitted to control the daemon. */
	if (!is_root() && (!r || r == -EACCES))
		control_actions_refuse(c, err.text);
	else
		control_actions_fail(c, &err);
	return false;
}

bool control_may(struct control *c)
{
	/* Send a setup request without KEY=VALUE, which changes nothing. The daemon answers -EPERM
	 * only if the user has no permission. */
	static const char nothing[] = "nothing";
	struct err err = { 0 };

	if (!attach(c))
		return false;
	if (is_root() || control_ask(c, "setup", nothing, &err) != -EPERM)
		return true;
	control_actions_fail(c, &err);
	return false;
}

/* Like attach().  Returns 1 if the daemon runs; 0 with a message if it does not; -1 on failure. */
static int find_daemon(struct control *c)
{
	if (!attach(c))
		return -1;
	if (c->connected)
		return 1;
	control_remove_stale(c);
	fputs("Daemon not running\n", stderr);
	return 0;
}

int control_dump(struct control *c)
{
	struct err err = { 0 };

	fputs("Signalling daemon... ", stdout);
	fflush(stdout);
	if (control_attach(c, &err) == 0 && c->connected &&
	    control_ask(c, "dump", NULL, &err) == 0) {
		puts("done");
		return 0;
	}
	putchar('\n');
	fflush(stdout);
	fputs("Unable to complete dump of oprofile data: "
	      "is the oprofile daemon running?\n",
	      stderr);
	command_error("%s", err.text);
	return 1;
}

int control_stop(struct control *c)
{
	struct err err = { 0 };
	int r = find_daemon(c);

	if (r <= 0)
		return r < 0;
	if (control_ask(c, "stop", NULL, &err))
		return control_actions_fail(c, &err);
	puts("Stopping profiling.");
	return 0;
}

int control_shutdown(struct control *c)
{
	struct err lost = { 0 };
	struct err err = { 0 };
	int r = find_daemon(c);

	if (r <= 0)
		return r < 0;
	if (control_ask(c, "stop", NULL, &lost) == -EPERM)
		return control_actions_fail(c, &lost);
	puts("Stopping profiling.");
	puts("Killing daemon.");
	fflush(stdout);
	r = control_ask(c, "shutdown", NULL, &err);
	if (r == -ETIMEDOUT || r == -EBADMSG)
		return control_actions_fail(c, &err);
	/* The daemon ends even if it could not save everything; it may close the connection before
	 * the reply. */
	control_disconnect(&c->daemon);
	c->connected = false;
	control_wait_gone(c);
	c->ended = true;
	if (lost.code && lost.code != -ECONNRESET)
		return control_actions_fail(c, &lost);
	return r && r != -ECONNRESET ? control_actions_fail(c, &err) : 0;
}

/* ---- sessions ---- */

/* Checks that the settings could be read. Returns 0, or the error of reading daemonrc, with its
 * message in *err. */
static int need_settings(const struct control *c, struct err *err)
{
	*err = c->rc_failure;
	return err->code;
}

static int session_path(const struct control *c, const char *name,
			char path[PATH_BYTES])
{
	int len = snprintf(path, PATH_BYTES, "%s/samples/%s", control_session_dir(c),
			   name);

	return len < PATH_BYTES ? 0 : -ENAMETOOLONG;
}

/* Locks the session directory, which fails if operf, an import or another daemon writes to it.
 * Returns 1 if locked, 0 if there is no session, or -EBUSY or another negative errno with a
 * message in *err. */
static int hold_session(const struct control *c, struct session_dir *ret_dir,
			struct err *err)
{
	char path[PATH_BYTES];
	struct stat st;
	int r = session_path(c, "current", path);

	if (!r && lstat(path, &st))
		return 0;
	if (!r)
		r = session_dir_open(control_session_dir(c), true, ret_dir, err);
	if (r && !err->text[0])
		err_sys(err, r, "cannot open '%s'", control_session_dir(c));
	return r ? r : 1;
}

static int reset_here(const struct control *c, struct err *err)
{
	struct session_dir dir;
	int r = hold_session(c, &dir, err);

	if (r <= 0)
		return r;
	r = io_remove_tree_at(dir.samples_fd, "current");
	if (r)
		err_sys(err, r, "Unable to remove %s", dir.current);
	session_dir_close(&dir);
	return r;
}

int control_reset(struct control *c)
{
	struct err err = { 0 };
	int r;

	if (!attach(c))
		return 1;
	if (c->connected) {
		fputs("Signalling daemon... ", stdout);
		fflush(stdout);
		r = control_ask(c, "reset", NULL, &err);
		puts(r ? "" : "done");
		fflush(stdout);
	} else {
		r = need_settings(c, &err);
		if (!r)
			r = reset_here(c, &err);
	}
	return r ? control_actions_fail(c, &err) : 0;
}

/* Saves the session when no daemon runs, by renaming its directory. */
static int save_here(const struct control *c, struct err *err)
{
	char from[PATH_BYTES], to[PATH_BYTES];
	struct session_dir dir;
	struct stat st;
	int held, r = 0;

	if (session_path(c, "current", from) || session_path(c, c->set.save, to))
		return err_set(err, -ENAMETOOLONG, "the session's name is too long");
	if (!lstat(to, &st))
		return err_set(err, -EEXIST, "session %s already exists", c->set.save);
	held = hold_session(c, &dir, err);
	if (held < 0)
		return held;
	if (!held)
		return err_sys(err, -ENOENT, "cannot save '%s'", from);
	r = io_rename_new(from, to);
	if (r)
		err_sys(err, r, "cannot save '%s'", from);
	session_dir_close(&dir);
	return r;
}

int control_save(struct control *c)
{
	struct err err = { 0 };
	int r;

	if (!session_dir_is_name(c->set.save)) {
		command_error(
			"--save=%s: invalid session name: it must not contain /, begin with a dot, or be \"current\" or \"previous\"",
			c->set.save);
		return 1;
	}
	if (!attach(c))
		return 1;
	r = c->connected ? control_ask(c, "save", c->set.save, &err)
			 : need_settings(c, &err);
	if (!r && !c->connected)
		r = save_here(c, &err);
	if (r == -EEXIST) {
		screen_print_line(stderr, "session %s already exists", c->set.save);
		return 1;
	}
	return r ? control_actions_fail(c, &err) : 0;
}

/* ---- settings and starting ---- */

static int need_vmlinux(const struct control *c)
{
	const char *file = daemonrc_get(&c->rc, "VMLINUX");

	if (file && *file)
		return 0;
	fputs("No vmlinux file specified. "
	      "You must specify the correct vmlinux file, e.g.\n"
	      "opcontrol --vmlinux=/path/to/vmlinux\n"
	      "If you do not have a vmlinux file, use\n"
	      "opcontrol --no-vmlinux\n"
	      "Enter opcontrol --help for full options\n",
	      stderr);
	return 1;
}

static void say_default_event(const struct control *c)
{
	struct event_request e;

	if (daemonrc_nr_events(&c->rc))
		return;
	events_default(0, &e);
	screen_print_line(stdout, "Using default event: %s", e.name);
}

/* Saves the settings: in daemonrc_new if the running daemon will use them only after its next
 * start (`for_next_start`), otherwise in daemonrc. */
static int save_settings(struct control *c, bool for_next_start, struct err *err)
{
	int r = daemonrc_save(&c->rc, for_next_start ? c->rc_new_path : c->rc_path,
			      err);

	if (r)
		return r;
	if (!for_next_start)
		(void)io_unlink(c->rc_new_path);
	c->has_new = for_next_start;
	return 0;
}

int control_setup(struct control *c)
{
	struct err err = { 0 };
	bool restart = false;
	/* Do not check the permission to change settings if --start is given without any;
	 * control_start() refuses that with a separate message. */
	bool alone = c->set.start && !control_setup_given(&c->set);
	int r;

	if (alone ? !attach(c) : !control_may(c))
		return 1;
	/* Only root may write the file. */
	r = is_root() ? need_settings(c, &err) : 0;
	if (!r)
		r = control_setup_take(c, &err);
	if (r <= 0)
		return r ? control_actions_fail(c, &err) : 0;
	r = 0;
	if (c->connected) {
		r = control_send_setup(c, false, &err);
		restart = r > 0;
	}
	if (r >= 0 && is_root())
		r = save_settings(c, restart, &err);
	if (r < 0)
		return control_actions_fail(c, &err);
	if (restart)
		puts("The profiling daemon is currently active, so changes to the configuration\n"
		     "will be used the next time you restart oprofile after a --shutdown or --deinit.");
	return 0;
}

int control_start(struct control *c, bool sample)
{
	struct err err = { 0 };

	if (!attach(c))
		return 1;
	if (!c->connected) {
		control_remove_stale(c);
		if (need_vmlinux(c))
			return 1;
		say_default_event(c);
	}
	if (control_start_daemon(c, &err))
		return control_actions_fail(c, &err);
	if (!sample)
		return 0;
	if (control_ask(c, "start", NULL, &err))
		return control_actions_fail(c, &err);
	puts("Profiler running.");
	return 0;
}
