/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/record/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/comma.h"
#include "base/err.h"
#include "base/parse.h"
#include "capture/events/perf_attr.h"
#include "capture/system/process_table.h"
#include "daemon/engine/given_files.h"
#include "format/session/session.h"

enum {
	STACK_BYTES = 32768,
	STACK_BYTES_MIN = 1024,
	/* A record that contains the stack must be shorter than 64 KB. */
	STACK_BYTES_MAX = 61440
};

/* Copies the first word of a comma-separated list that is not a known value, truncated to `room`.
 * Returns false if all are known. */
static bool unknown_verbose(const char *list, char *word, size_t room)
{
	static const char *const known[] = { "debug", "record", "convert", "misc",
					     "sfile", "arcs",   "all",     "" };

	while (list && *list) {
		size_t len = strcspn(list, ",");
		bool found = false;

		snprintf(word, room, "%.*s", (int)(len < room ? len : room), list);
		for (size_t i = 0; i < COUNT_OF(known); i++)
			found |= !strcmp(word, known[i]);
		if (!found)
			return true;
		list += len + (list[len] == ',');
	}
	return false;
}

bool record_plan_is_verbose(const char *list)
{
	char word[32];

	return *list && !unknown_verbose(list, word, sizeof(word));
}

static int check_verbose(const char *list, struct err *err)
{
	char word[32];

	return unknown_verbose(list, word, sizeof(word))
		       ? err_set(err, -EINVAL, "unknown --verbose= options: %s", word)
		       : 0;
}

/* Adds a process, unless it was already given. */
static int record_plan_add_pid(struct record_plan *p, pid_t pid, struct err *err)
{
	for (size_t i = 0; i < p->nr_pids; i++) {
		if (p->pids[i] == pid)
			return 0;
	}
	if (p->nr_pids == RECORD_PIDS_MAX)
		return err_set(err, -E2BIG, "--pid: more than %d processes",
			       RECORD_PIDS_MAX);
	p->pids[p->nr_pids++] = pid;
	return 0;
}

/* Adds all processes of a name, except this one. */
static int record_plan_add_named(struct record_plan *p, const char *name,
				 struct err *err)
{
	struct process_table table = { 0 };
	int r = process_table_read(&table);
	bool found = false;

	if (r)
		r = err_sys(err, r, "cannot list the processes in '/proc'");
	for (size_t i = 0; !r && i < table.processes.nr; i++) {
		const struct process_entry *e = &table.processes.at[i];

		if (e->pid == getpid() || !process_is_named(e, name))
			continue;
		found = true;
		r = record_plan_add_pid(p, e->pid, err);
	}
	process_table_done(&table);
	if (!r && !found)
		r = err_set(
			err, -ESRCH,
			"--pid: '%s' is neither a process number nor the name of a running process",
			name);
	return r;
}

/* Parses a process number, or the name of processes. */
static int parse_pid(struct record_plan *p, const char *word, struct err *err)
{
	uint64_t pid;

	if (word[strspn(word, "0123456789")])
		return record_plan_add_named(p, word, err);
	if (!parse_u64_max(word, INT32_MAX, &pid) || !pid)
		return err_set(err, -EINVAL, "--pid: \"%s\" is not a process number",
			       word);
	return record_plan_add_pid(p, (pid_t)pid, err);
}

static int parse_pids(struct record_plan *p, struct err *err)
{
	const char *text = p->options.pids;
	int r = 0;

	while (!r && text) {
		char *word = comma_next(&text);

		if (!word)
			r = err_set(err, -ENOMEM, "out of memory");
		else if (*word)
			r = parse_pid(p, word, err);
		free(word);
	}
	return r;
}

/* Parses --frequency. */
static int choose_frequency(struct record_plan *p, struct err *err)
{
	const char *text = p->options.frequency;

	if (!text)
		return 0;
	if (!strcmp(text, "max")) {
		p->frequency_hz = perf_attr_max_rate();
		return p->frequency_hz
			       ? 0
			       : err_set(err, -EINVAL,
					 "--frequency max: cannot read '/proc/sys/kernel/perf_event_max_sample_rate': give a number");
	}
	if (!parse_u64(text, &p->frequency_hz))
		return err_set(err, -EINVAL,
			       "--frequency: '%s' is neither a whole number nor max",
			       text);
	return p->frequency_hz ? 0
			       : err_set(err, -EINVAL,
					 "--frequency 0: nothing would be sampled");
}

/* Checks the name of --output. */
static int check_archive_name(const char *name, struct err *err)
{
	static const char end[] = ".oparchive";
	size_t len = name ? strlen(name) : 0;

	if (!name || (len >= sizeof(end) && !strcmp(name + len + 1 - sizeof(end), end)))
		return 0;
	return err_set(
		err, -EINVAL,
		"--output: '%s' does not end with .oparchive: --perf-data=FILE writes a perf.data file, --session-dir=DIR selects the directory of the session",
		name);
}

/* In operf, -a means --append, but in perf it records all CPUs. Without a command or process,
 * nothing can be appended, so -a does the same here as in perf. */
static void choose_system_wide(struct record_plan *p)
{
	struct record_options *o = &p->options;

	if (!o->append_letter || p->nr_pids || p->command)
		return;
	o->append = false;
	o->system_wide = true;
}

static int check_modes(const struct record_plan *p, struct err *err)
{
	const struct record_options *o = &p->options;

	if (p->nr_pids && (o->system_wide || p->command))
		return err_set(
			err, -EINVAL,
			"--pid cannot be combined with --system-wide or a command");
	if (!p->nr_pids && !o->system_wide && !p->command)
		return err_set(
			err, -EINVAL,
			"nothing to record: give a command, --pid PID or --system-wide (see --help)");
	return check_verbose(o->verbose, err);
}

/* Parses --callgraph: auto, dwarf or fp. After auto and dwarf, the number of stack bytes to copy
 * can follow, as in perf. */
static int choose_chains(struct record_plan *p, struct err *err)
{
	const char *how = p->options.callgraph;
	uint64_t bytes = STACK_BYTES;
	char word[8];
	size_t len;

	if (!how || !strcmp(how, "fp"))
		return 0;
	len = strcspn(how, ",");
	snprintf(word, sizeof(word), "%.*s", (int)(len < 7 ? len : 7), how);
	p->stacks_optional = !len || !strcmp(word, "auto");
	if (!p->stacks_optional && strcmp(word, "dwarf"))
		return err_set(err, -EINVAL,
			       "--callgraph=%s: expected auto, dwarf or fp", how);
	if (how[len] && (!parse_u64_max(how + len + 1, STACK_BYTES_MAX, &bytes) ||
			 bytes < STACK_BYTES_MIN))
		return err_set(
			err, -EINVAL,
			"--callgraph=%s: the stack copy must have %u to %u bytes", how,
			STACK_BYTES_MIN, STACK_BYTES_MAX);
	p->stack_bytes = (uint32_t)bytes & ~7U;
	return 0;
}

static int check_vmlinux(struct record_plan *p, struct err *err)
{
	const char *path = p->options.vmlinux;
	int r;

	if (!path)
		return 0;
	r = given_vmlinux_check(path, err);
	if (r)
		return r;
	p->vmlinux = realpath(path, NULL);
	return p->vmlinux ? 0 : err_sys(err, -errno, "--vmlinux: %s", path);
}

static int record_plan_choose_events(struct record_plan *p, struct err *err)
{
	const struct record_options *o = &p->options;
	int r = 0;

	for (size_t i = 0; i < o->events.values.nr && !r; i++)
		r = events_parse(o->events.values.at[i], p->frequency_hz, &p->events,
				 err);
	if (r || p->events.list.nr)
		return r;
	r = events_parse("default", p->frequency_hz, &p->events, err);
	if (!r && p->events.list.at[0].timer)
		p->flags |= SESSION_TIMER_FALLBACK;
	return r;
}

int record_plan_make(struct record_plan *p, struct err *err)
{
	const struct record_options *o = &p->options;
	int r = parse_pids(p, err);

	choose_system_wide(p);
	if (!r)
		r = check_modes(p, err);
	if (!r)
		r = choose_frequency(p, err);
	if (!r)
		r = check_archive_name(o->output, err);
	if (!r)
		r = choose_chains(p, err);
	if (!r)
		r = check_vmlinux(p, err);
	if (!r)
		r = record_plan_choose_events(p, err);
	p->flags |= (o->system_wide ? SESSION_SYSTEM_WIDE : 0) |
		    (o->separate_thread ? SESSION_SEPARATE_THREAD : 0) |
		    (o->separate_cpu ? SESSION_SEPARATE_CPU : 0);
	return r;
}
