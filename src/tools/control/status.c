/* SPDX-License-Identifier: GPL-2.0-or-later */
/* status.c - opcontrol --status: prints the daemon's state and its settings. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "present/lines/screen.h"
#include "tools/cli/command.h"
#include "tools/control/control.h"

/* Returns a setting: that of the running daemon or, if none runs, that of the file. */
static const char *fact(const struct control *c, const struct control_reply *reply,
			const char *key, const char *rc_key)
{
	const char *value = control_reply_get(reply, key);

	return value ? value : daemonrc_get(&c->rc, rc_key);
}

static const char *or_none(const char *text)
{
	return text && *text ? text : "none";
}

static void control_status_print_events(const struct control *c,
					const struct control_reply *reply)
{
	size_t nr = 0;

	for (size_t i = 0; i < reply->fields.nr; i++) {
		if (!strncmp(reply->fields.at[i].key, "event.", 6))
			screen_print_line(stdout, "Event %s: %s",
					  reply->fields.at[i].key + 6,
					  reply->fields.at[i].value);
		nr += !strncmp(reply->fields.at[i].key, "event.", 6);
	}
	for (size_t i = 0; !nr && i < daemonrc_nr_events(&c->rc); i++)
		screen_print_line(stdout, "Event %zu: %s", i,
				  daemonrc_event(&c->rc, i));
}

static void print_separate(const struct control *c, const struct control_reply *reply)
{
	static const struct {
		const char *key;
		const char *word;
	} rows[] = {
		{ "SEPARATE_LIB", "library" },
		{ "SEPARATE_KERNEL", "kernel" },
		{ "SEPARATE_THREAD", "thread" },
		{ "SEPARATE_CPU", "cpu" },
	};
	const char *said = control_reply_get(reply, "separate");
	const char *blank = "";

	fputs("Separate options: ", stdout);
	for (size_t i = 0; !said && i < COUNT_OF(rows); i++) {
		if (!daemonrc_number(&c->rc, rows[i].key, 0))
			continue;
		printf("%s%s", blank, rows[i].word);
		blank = " ";
	}
	puts(said ? or_none(said) : *blank ? "" : "none");
}

/* Prints the buffer sizes that differ from the default. */
static void print_sizes(const struct control *c, const struct control_reply *reply)
{
	static const struct {
		const char *title;
		const char *key;
		const char *rc_key;
	} rows[] = {
		{ "Buffer size", "buffer_size", "BUF_SIZE" },
		{ "CPU buffer watershed", "buffer_watershed", "BUF_WATERSHED" },
		{ "CPU buffer size", "cpu_buffer_size", "CPU_BUF_SIZE" },
		{ "Note buffer size", "note_size", "NOTE_SIZE" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const char *value = fact(c, reply, rows[i].key, rows[i].rc_key);

		if (value && *value && strcmp(value, "0") != 0)
			screen_print_line(stdout, "%s: %s", rows[i].title, value);
	}
}

static int ask_status(struct control *c, struct control_reply *reply, struct err *err)
{
	static const char *const words[] = { "status", NULL };
	pid_t pid;
	int r;

	c->daemon.timeout_ms = CONTROL_SOON_MS;
	r = control_request(&c->daemon, words, reply, err);
	pid = r == -ETIMEDOUT ? control_daemon_pid() : 0;
	return pid ? err_set(err, r, "the daemon (pid %d) does not answer", pid) : r;
}

int control_print_status(struct control *c)
{
	struct control_reply reply = { 0 };
	struct err err = { 0 };
	int r = control_attach(c, &err);
	const char *depth, *pid, *pgrp;

	/* If the daemon runs, its reply contains almost everything, so only warn about a damaged
	 * file. */
	if (c->rc_failure.code && c->connected)
		command_warning("%s", c->rc_failure.text);
	else if (!r && c->rc_failure.code)
		r = err_set(&err, c->rc_failure.code, "%s", c->rc_failure.text);
	if (!r && c->connected)
		r = ask_status(c, &reply, &err);
	if (r) {
		command_error("%s", err.text);
		return 1;
	}
	if (c->connected)
		screen_print_line(stdout, "Daemon %s: pid %s",
				  or_none(control_reply_get(&reply, "state")),
				  or_none(control_reply_get(&reply, "pid")));
	else
		puts("Daemon not running");
	screen_print_line(
		stdout, "Session-dir: %s",
		c->connected ? or_none(fact(c, &reply, "session_dir", "SESSION_DIR"))
			     : control_session_dir(c));
	control_status_print_events(c, &reply);
	print_separate(c, &reply);
	screen_print_line(stdout, "vmlinux file: %s",
			  or_none(fact(c, &reply, "vmlinux", "VMLINUX")));
	screen_print_line(stdout, "Image filter: %s",
			  or_none(fact(c, &reply, "image_filter", "IMAGE_FILTER")));
	pid = fact(c, &reply, "pid_filter", "PID_FILTER");
	if (pid && *pid && strcmp(pid, "none") != 0)
		screen_print_line(stdout, "Pid filter: %s", pid);
	pgrp = fact(c, &reply, "pgrp_filter", "PGRP_FILTER");
	if (pgrp && *pgrp && strcmp(pgrp, "none") != 0)
		screen_print_line(stdout, "Pgrp filter: %s", pgrp);
	depth = fact(c, &reply, "callgraph", "CALLGRAPH");
	/* If no depth was requested, stacks are not limited. */
	screen_print_line(stdout, "Call-graph depth: %s",
			  depth && *depth ? depth : "whole");
	print_sizes(c, &reply);
	control_reply_done(&reply);
	return 0;
}
