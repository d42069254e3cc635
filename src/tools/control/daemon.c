/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemon.c - opcontrol's interface to oprofiled: finds it, starts it, sends requests and waits
 * for it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/parse.h"
#include "daemon/server/background.h"
#include "present/lines/screen.h"
#include "tools/cli/command.h"
#include "tools/control/control.h"

enum {
	PATH_BYTES = 4096,
	PID_BYTES = 32,
	WORDS_A_REQUEST = 32,
	/* Limit for the values of a request, because %XX encodes one byte as three. */
	BYTES_A_REQUEST = 1200,
	GONE_POLLS = 600,
	POLL_MS = 50,
	SOCKET_POLLS = 80 /* the daemon checks its socket at least every two seconds */
};

/* The keys that are sent to the daemon in addition to the events, and the options that set them.
 * Only opcontrol uses the other keys of daemonrc. */
static const struct reported_key {
	const char *key;
	const char *options[2];
} reported_keys[] = {
	{ "SESSION_DIR", { "session-dir" } },
	{ "SEPARATE_LIB", { "separate" } },
	{ "SEPARATE_KERNEL", { "separate" } },
	{ "SEPARATE_THREAD", { "separate" } },
	{ "SEPARATE_CPU", { "separate" } },
	{ "VMLINUX", { "vmlinux", "no-vmlinux" } },
	{ "IMAGE_FILTER", { "image" } },
	{ "BUF_SIZE", { "buffer-size" } },
	{ "BUF_WATERSHED", { "buffer-watershed" } },
	{ "CPU_BUF_SIZE", { "cpu-buffer-size" } },
	{ "CALLGRAPH", { "callgraph" } },
	{ "KERNEL_RANGE", { "kernel-range" } },
	{ "PID_FILTER", { "pid-filter" } },
	{ "PGRP_FILTER", { "pgrp-filter" } },
	{ "METRICS_LISTEN", { "metrics-listen" } },
	{ "NR_CHOSEN", { "event" } },
};

const char *control_session_dir(const struct control *c)
{
	const char *dir = daemonrc_get(&c->rc, "SESSION_DIR");

	return dir && *dir ? dir : "/var/lib/oprofile";
}

static void wait_between_polls(void)
{
	const struct timespec pause = { .tv_nsec = POLL_MS * 1000000L };

	nanosleep(&pause, NULL);
}

/* Returns the pid in the daemon's lock file, which is open as `fd`; 0 if it contains none. */
static pid_t pid_in(int fd)
{
	char text[PID_BYTES] = "";
	uint64_t pid;

	if (io_pread_full(fd, text, sizeof(text) - 1, 0) <= 0)
		return 0;
	text[strcspn(text, "\n")] = '\0';
	return parse_u64_max(text, INT32_MAX, &pid) ? (pid_t)pid : 0;
}

/* Tests the lock only if that process exists, because a daemon that starts at the same moment
 * would find the lock taken. */
pid_t control_daemon_pid(void)
{
	char path[PATH_BYTES];
	pid_t pid;
	int fd;

	snprintf(path, sizeof(path), "%s/lock", control_run_dir());
	fd = io_open(path, O_RDONLY, 0);
	if (fd < 0)
		return 0;
	pid = pid_in(fd);
	if (pid && ((kill(pid, 0) && errno == ESRCH) || !flock(fd, LOCK_SH | LOCK_NB)))
		pid = 0;
	close(fd);
	return pid;
}

static void say_waiting(void)
{
	pid_t pid = control_daemon_pid();

	if (pid)
		fprintf(stderr, "opcontrol: waiting for the daemon (pid %d) ...\n",
			pid);
	else
		fputs("opcontrol: waiting for the daemon ...\n", stderr);
}

/* Connects to the daemon. Retries for a while: a starting daemon locks before it creates its
 * socket, an ending one removes the socket before it unlocks, and a running one creates a removed
 * socket again. */
static int connect_soon(struct control *c, struct err *err)
{
	int r = control_connect(&c->daemon, NULL, err);
	pid_t pid = 0;

	for (int i = 0; i < SOCKET_POLLS && (r == -ENOENT || r == -ECONNREFUSED); i++) {
		pid = control_daemon_pid();
		if (!pid)
			return r;
		wait_between_polls();
		r = control_connect(&c->daemon, NULL, err);
	}
	if (r != -ENOENT && r != -ECONNREFUSED)
		return r;
	return err_set(
		err, -EBUSY,
		"oprofiled is running (pid %d), but does not listen at %s/control: it is exiting, or its socket was removed; "
		"\"kill -TERM %d\" stops it cleanly",
		pid, control_run_dir(), pid);
}

int control_attach(struct control *c, struct err *err)
{
	int r;

	if (c->connected)
		return 0;
	r = connect_soon(c, err);
	c->connected = !r;
	c->daemon.on_wait = say_waiting;
	return r == -ENOENT || r == -ECONNREFUSED ? 0 : r;
}

int control_ask(struct control *c, const char *verb, const char *arg, struct err *err)
{
	const char *const words[] = { verb, arg, NULL };

	return control_request(&c->daemon, words, NULL, err);
}

/* ---- settings ---- */

struct setup {
	struct control *c;
	const char *words[WORDS_A_REQUEST + 2];
	char *own[WORDS_A_REQUEST];
	size_t nr;
	size_t bytes;
	bool restart;
};

static int setup_send(struct setup *s, struct err *err)
{
	struct control_reply reply = { 0 };
	int r;

	if (!s->nr)
		return 0;
	s->words[0] = "setup";
	s->words[s->nr + 1] = NULL;
	r = control_request(&s->c->daemon, s->words, &reply, err);
	if (!r)
		s->restart |= control_reply_get(&reply, "restart") != NULL;
	control_reply_done(&reply);
	while (s->nr)
		free(s->own[--s->nr]);
	s->bytes = 0;
	return r;
}

static int setup_add(struct setup *s, const char *key, struct err *err)
{
	const char *value = daemonrc_get(&s->c->rc, key);
	char *word;
	int r = 0;

	if (!value)
		return 0;
	if (s->nr == WORDS_A_REQUEST || s->bytes + strlen(value) > BYTES_A_REQUEST)
		r = setup_send(s, err);
	if (r)
		return r;
	if (asprintf(&word, "%s=%s", key, value) < 0)
		return err_set(err, -ENOMEM, "out of memory");
	s->own[s->nr++] = word;
	s->words[s->nr] = word;
	s->bytes += strlen(word);
	return 0;
}

static bool control_daemon_is_named(const struct control *c,
				    const struct reported_key *key)
{
	for (size_t i = 0; i < COUNT_OF(key->options); i++) {
		if (key->options[i] && control_is_given(&c->set, key->options[i]))
			return true;
	}
	return false;
}

int control_send_setup(struct control *c, bool all, struct err *err)
{
	struct setup s = { .c = c };
	size_t nr = daemonrc_nr_events(&c->rc);
	int r = 0;

	if (!all && !c->set.events.values.nr)
		nr = 0;
	for (size_t i = 0; i < nr && !r; i++) {
		char key[PID_BYTES * 2];

		snprintf(key, sizeof(key), "CHOSEN_EVENTS_%zu", i);
		r = setup_add(&s, key, err);
	}
	for (size_t i = 0; i < COUNT_OF(reported_keys) && !r; i++) {
		if (all || control_daemon_is_named(c, &reported_keys[i]))
			r = setup_add(&s, reported_keys[i].key, err);
	}
	if (!r)
		r = setup_send(&s, err);
	while (s.nr)
		free(s.own[--s.nr]);
	return r ? r : s.restart;
}

/* ---- locking ---- */

int control_lock(struct control *c, struct err *err)
{
	char path[PATH_BYTES];
	int r = io_make_dirs(control_run_dir(), 0755);

	if (r)
		return err_sys(err, r, "cannot create '%s'", control_run_dir());
	r = background_check_run_dir(control_run_dir(), err);
	if (r)
		return r;
	snprintf(path, sizeof(path), "%s/opcontrol.lock", control_run_dir());
	c->lock_fd = io_open_lock(path);
	if (c->lock_fd < 0)
		return err_sys(err, c->lock_fd, "cannot open '%s'", path);
	while (flock(c->lock_fd, LOCK_EX)) {
		if (errno != EINTR)
			return err_sys(err, -errno, "cannot lock '%s'", path);
	}
	return 0;
}

/* Writes a note into the lock file of opcontrol while the daemon does not have its settings yet
 * (`bare`), or removes it. If this process is killed, the next opcontrol sees the note and sends
 * the settings. */
static void note_bare(const struct control *c, bool bare)
{
	static const char text[] = "a daemon without its settings\n";

	if (c->lock_fd < 0)
		return;
	if (bare)
		(void)!pwrite(c->lock_fd, text, sizeof(text) - 1, 0);
	else
		(void)!ftruncate(c->lock_fd, 0);
}

static bool is_bare(const struct control *c)
{
	char first;

	return c->lock_fd >= 0 && pread(c->lock_fd, &first, 1, 0) == 1;
}

void control_remove_stale(const struct control *c)
{
	char path[PATH_BYTES];
	int fd;

	if (c->connected)
		return;
	note_bare(c, false);
	snprintf(path, sizeof(path), "%s/lock", control_run_dir());
	fd = io_open(path, O_RDWR, 0);
	if (fd < 0)
		return;
	/* Do not remove the file: otherwise two daemons could each lock a different file. */
	if (!flock(fd, LOCK_EX | LOCK_NB) && pid_in(fd)) {
		fputs("Detected stale lock file. Removing.\n", stderr);
		snprintf(path, sizeof(path), "%s/control", control_run_dir());
		(void)io_unlink(path);
		(void)!ftruncate(fd, 0);
	}
	close(fd);
}

void control_wait_gone(const struct control *c)
{
	char path[PATH_BYTES];

	note_bare(c, false);
	snprintf(path, sizeof(path), "%s/lock", control_run_dir());
	for (int i = 0; i < GONE_POLLS; i++) {
		int fd = io_open(path, O_RDONLY, 0);
		bool gone = fd < 0 || !flock(fd, LOCK_SH | LOCK_NB);

		if (fd >= 0)
			close(fd);
		if (gone)
			return;
		wait_between_polls();
	}
}

/* ---- starting ---- */

/* Runs this program under the daemon's name, through a link next to it if there is one, so that
 * the process also has that name. */
static void run_oprofiled(char **argv)
{
	char self[PATH_BYTES];
	char path[PATH_BYTES + sizeof("/oprofiled")];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (len > 0) {
		char *slash;

		self[len] = '\0';
		slash = strrchr(self, '/');
		snprintf(path, sizeof(path), "%.*s/oprofiled", (int)(slash - self),
			 self);
		execv(path, argv);
		execv(self, argv);
	}
	execvp(argv[0], argv);
	_exit(127);
}

/* Sets the message for a daemon that did not start. The daemon has already printed the reason. */
static int not_started(const struct control *c, struct err *err)
{
	char log[PATH_BYTES];

	/* If the log is not writable, it contains nothing about this start. */
	if (snprintf(log, sizeof(log), "%s/samples/oprofiled.log",
		     control_session_dir(c)) >= PATH_BYTES ||
	    access(log, W_OK))
		return err_set(err, -ECHILD, "Couldn't start oprofiled.");
	return err_set(err, -ECHILD,
		       "Couldn't start oprofiled.\n"
		       "Check the log file \"%s\" and kernel syslog",
		       log);
}

static int control_daemon_spawn(struct control *c, struct err *err)
{
	char dir[PATH_BYTES];
	char verbose[PID_BYTES * 4];
	char name[] = "oprofiled";
	char paused[] = "--paused";
	char *argv[] = { name, paused, dir, NULL, NULL };
	int status;
	pid_t pid;

	snprintf(dir, sizeof(dir), "--session-dir=%s", control_session_dir(c));
	if (c->set.verbose) {
		snprintf(verbose, sizeof(verbose), "--verbose%s%.100s",
			 *c->set.verbose ? "=" : "", c->set.verbose);
		argv[3] = verbose;
	}
	pid = fork();
	if (pid < 0)
		return err_sys(err, -errno, "cannot create a process");
	if (!pid)
		run_oprofiled(argv);
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return err_sys(err, -errno, "cannot start oprofiled");
	}
	return !WIFEXITED(status) || WEXITSTATUS(status) ? not_started(c, err) : 0;
}

/* Replaces daemonrc by daemonrc_new, if that exists. It has the settings that were made for the
 * next start of the daemon. */
static int take_new_settings(struct control *c, struct err *err)
{
	int r;

	if (!c->has_new)
		return 0;
	r = io_rename(c->rc_new_path, c->rc_path);
	if (r)
		return err_sys(err, r, "cannot rename '%s'", c->rc_new_path);
	c->has_new = false;
	return 0;
}

/* Sends all settings to the daemon. If it refuses them, stops it, so that it does not sample with
 * other settings. */
static int give_settings(struct control *c, struct err *err)
{
	int r = control_send_setup(c, true, err);
	struct err late = { 0 };

	if (r < 0) {
		(void)control_ask(c, "shutdown", NULL, &late);
		control_disconnect(&c->daemon);
		c->connected = false;
		control_wait_gone(c);
	}
	note_bare(c, false);
	return r;
}

/* Starts the daemon, with the settings that were made for its next start, if any. */
static int begin_daemon(struct control *c, struct err *err)
{
	int r = take_new_settings(c, err);

	if (r)
		return r;
	r = io_make_dirs(control_session_dir(c), 0755);
	if (r)
		return err_sys(err, r, "cannot create '%s'", control_session_dir(c));
	puts("Using 2.6+ OProfile kernel interface.");
	screen_print_line(stdout, "Using log file %s/samples/oprofiled.log",
			  control_session_dir(c));
	fflush(stdout);
	note_bare(c, true);
	r = control_daemon_spawn(c, err);
	if (r) {
		note_bare(c, false);
		return r;
	}
	r = control_attach(c, err);
	if (!r && !c->connected)
		r = err_prefix(err, "oprofiled does not answer");
	if (!r)
		r = give_settings(c, err);
	if (r < 0)
		return r;
	puts("Daemon started.");
	return 0;
}

int control_start_daemon(struct control *c, struct err *err)
{
	int r = 0;

	if (!c->connected)
		r = begin_daemon(c, err);
	else if (is_bare(c))
		r = give_settings(c, err);
	return r < 0 ? r : 0;
}
