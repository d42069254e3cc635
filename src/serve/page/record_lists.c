/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/page/record_lists.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/files/io.h"
#include "capture/events/catalog.h"
#include "capture/events/cpu_types.h"
#include "capture/events/events.h"
#include "capture/system/process_table.h"
#include "present/lines/json.h"

enum {
	COMMAND_MAX = 512, /* bytes of a command line */
	USER_MAX = 64,
	PROC_PATH = 64
};

/* ---- events ---- */

static void event_put_masks(struct json *j, const struct event_catalog *c,
			    const struct catalog_event *e)
{
	const struct catalog_mask *mask;

	json_name(j, "masks");
	json_begin_array(j);
	for (size_t i = 0; (mask = event_catalog_mask(c, e, i)); i++) {
		char number[24];

		snprintf(number, sizeof(number), "0x%llx",
			 (unsigned long long)mask->value);
		json_begin_object(j);
		json_member_text(j, "name", *mask->name ? mask->name : number);
		json_member_text(j, "about", mask->about ? mask->about : "");
		json_end_object(j);
	}
	json_end_array(j);
	for (size_t i = 0; (mask = event_catalog_mask(c, e, i)); i++) {
		if (!mask->is_default || !*mask->name)
			continue;
		json_member_text(j, "default_mask", mask->name);
		return;
	}
	if (e->default_name)
		json_member_text(j, "default_mask", e->default_name);
}

static void event_put(struct json *j, const struct event_catalog *c,
		      const struct catalog_event *e)
{
	json_begin_object(j);
	json_member_text(j, "name", e->name);
	json_member_text(j, "about", e->about ? e->about : "");
	json_member_u64(j, "min_count", e->min_count);
	event_put_masks(j, c, e);
	json_end_object(j);
}

/* Writes the events that the kernel counts under the same name on every machine. */
static void software_put(struct json *j)
{
	const char *name, *about;

	json_name(j, "software");
	json_begin_array(j);
	for (size_t i = 0; events_row(i, &name, &about); i++) {
		json_begin_object(j);
		json_member_text(j, "name", name);
		json_member_text(j, "about", about);
		json_member_u64(j, "min_count", 0);
		json_name(j, "masks");
		json_begin_array(j);
		json_end_array(j);
		json_end_object(j);
	}
	json_end_array(j);
}

int record_events_put(struct buf *out, struct err *err)
{
	const struct cpu_type *cpu = cpu_type_host();
	struct event_catalog *c = NULL;
	struct json j = { .out = io_open_memory(out) };
	int r;

	if (!j.out)
		return err_set(err, -ENOMEM, "out of memory");
	/* If the CPU is unknown, list only the software events of the kernel. */
	r = cpu && event_catalog_has(cpu) ? event_catalog_open(cpu, &c, err) : 0;
	json_begin_object(&j);
	json_member_text(&j, "cpu", cpu ? cpu->title : "unknown");
	json_name(&j, "events");
	json_begin_array(&j);
	for (size_t i = 0; c && i < c->events.nr; i++)
		event_put(&j, c, &c->events.at[i]);
	json_end_array(&j);
	software_put(&j);
	json_end_object(&j);
	event_catalog_close(c);
	if (io_close_memory(j.out, out) || r == -ENOMEM)
		return err_set(err, -ENOMEM, "out of memory");
	return 0;
}

/* ---- processes ---- */

/* Stores the command line of a process with blanks between arguments, "" for a kernel thread. */
static void process_command(pid_t pid, char ret_command[COMMAND_MAX])
{
	struct buf text = { 0 };
	char path[PROC_PATH];
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	(void)io_read_file(path, &text, COMMAND_MAX - 1);
	len = text.len < COMMAND_MAX ? text.len : COMMAND_MAX - 1;
	while (len && !text.data[len - 1])
		len--;
	for (size_t i = 0; i < len; i++)
		ret_command[i] =
			(char)(text.data[i] ? text.data[i] : (unsigned char)' ');
	ret_command[len] = '\0';
	buf_done(&text);
}

static void process_user_name(pid_t pid, char ret_user[USER_MAX])
{
	const struct passwd *user;
	char path[PROC_PATH];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	ret_user[0] = '\0';
	if (stat(path, &st))
		return;
	user = getpwuid(st.st_uid);
	if (user)
		snprintf(ret_user, USER_MAX, "%s", user->pw_name);
	else
		snprintf(ret_user, USER_MAX, "%u", (unsigned int)st.st_uid);
}

static void process_put(struct json *j, const struct process_entry *p)
{
	char command[COMMAND_MAX], user[USER_MAX];

	process_command(p->pid, command);
	process_user_name(p->pid, user);
	json_begin_object(j);
	json_member_u64(j, "pid", (uint64_t)p->pid);
	json_member_text(j, "comm", p->name);
	json_member_text(j, "command", command);
	json_member_text(j, "user", user);
	json_end_object(j);
}

int record_processes_put(struct buf *out, struct err *err)
{
	struct process_table table = { 0 };
	struct json j = { .out = io_open_memory(out) };
	int r = j.out ? process_table_read(&table) : -ENOMEM;

	if (!j.out)
		return err_set(err, -ENOMEM, "out of memory");
	json_begin_array(&j);
	for (size_t i = 0; i < table.processes.nr; i++)
		if (process_is_visible(table.processes.at[i].pid))
			process_put(&j, &table.processes.at[i]);
	json_end_array(&j);
	process_table_done(&table);
	if (io_close_memory(j.out, out))
		r = -ENOMEM;
	return r ? err_sys(err, r, "cannot list the processes in '/proc'") : 0;
}
