/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/system/process_table.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/files/process_facts.h"
#include "base/parse.h"

enum {
	EXE_NAME_BYTES = 32, /* "/proc/PID/exe" */
	MAX_DEPTH = 4096     /* generations, in case pids are reused during the scan */
};

/* Adds a process, unless it has ended.  Returns 0 or -ENOMEM. */
static int process_table_add(struct process_table *t, pid_t pid)
{
	struct process_entry p = { .pid = pid };
	struct process_stat stat;
	struct buf text = { 0 };
	int r = process_stat_read(pid, &text, &stat);

	if (!r) {
		p.parent = stat.parent;
		snprintf(p.name, sizeof(p.name), "%s", stat.name);
		r = vec_push(&t->processes, p) ? 0 : -ENOMEM;
	}
	buf_done(&text);
	return r == -ENOMEM ? r : 0;
}

static int process_table_compare(const void *a, const void *b)
{
	pid_t of_a = ((const struct process_entry *)a)->pid;
	pid_t of_b = ((const struct process_entry *)b)->pid;

	return of_a < of_b ? -1 : of_a > of_b;
}

int process_table_read(struct process_table *t)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int r = 0;

	if (!dir)
		return -errno;
	while (!r && (entry = readdir(dir))) {
		uint64_t pid;

		if (parse_u64_max(entry->d_name, INT_MAX, &pid))
			r = process_table_add(t, (pid_t)pid);
	}
	closedir(dir);
	if (t->processes.nr)
		qsort(t->processes.at, t->processes.nr, sizeof(*t->processes.at),
		      process_table_compare);
	return r;
}

void process_table_done(struct process_table *t)
{
	vec_done(&t->processes);
}

bool process_is_named(const struct process_entry *p, const char *name)
{
	char link[EXE_NAME_BYTES], exe[PATH_MAX];
	const char *slash;
	ssize_t len;

	if (!strcmp(p->name, name))
		return true;
	snprintf(link, sizeof(link), "/proc/%d/exe", p->pid);
	len = readlink(link, exe, sizeof(exe) - 1);
	if (len <= 0)
		return false;
	exe[len] = '\0';
	slash = strrchr(exe, '/');
	return slash && !strcmp(slash + 1, name);
}

/* Returns the parent, or 0 if the process is not in the table. */
static pid_t process_table_parent(const struct process_table *t, pid_t pid)
{
	const struct process_entry key = { .pid = pid };
	const struct process_entry *p =
		t->processes.nr ? bsearch(&key, t->processes.at, t->processes.nr,
					  sizeof(key), process_table_compare)
				: NULL;

	return p ? p->parent : 0;
}

bool process_is_below(const struct process_table *t, pid_t pid, const pid_t *of,
		      size_t nr)
{
	for (int depth = 0; pid > 1 && depth < MAX_DEPTH; depth++) {
		pid = process_table_parent(t, pid);
		for (size_t i = 0; i < nr; i++) {
			if (of[i] == pid)
				return true;
		}
	}
	return false;
}

bool process_is_visible(pid_t pid)
{
	char link[EXE_NAME_BYTES], byte;

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	/* ENOENT: threads of the kernel have no program. */
	return readlink(link, &byte, sizeof(byte)) > 0 || errno == ENOENT;
}
