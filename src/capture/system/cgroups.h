/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cgroups.h - finds the paths of control groups by the ids in samples.
 * Layer: capture.  Not thread safe.
 *
 * The kernel reports groups when they are created (PERF_RECORD_CGROUP), but not existing ones.
 * These are looked up when they first appear. A group's id is that of its directory, as in the
 * directory's file handle (perf_event_cgroup() in Linux's kernel/events/core.c). */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	CGROUP_PATH_MAX = 4096
};

struct cgroups { /* zero it before use */
	/* mount point of the hierarchy whose ids are in samples */
	char mount[CGROUP_PATH_MAX];
	char controller; /* 'v': perf_event of v1; 'u': the unified hierarchy */
	char begun;
};

/* Finds the path of group `id` from the root of the hierarchy ("/", "/system.slice"). Uses the
 * id, which requires CAP_DAC_READ_SEARCH; otherwise checks whether it is the group of the
 * running process `pid`. Returns 0, -ENOENT (the group is gone, or there is no hierarchy), or
 * another negative errno. */
int cgroups_path(struct cgroups *c, uint64_t id, pid_t pid,
		 char ret_path[CGROUP_PATH_MAX]);
/* Stores the path of the current group of process `pid`. Returns 0 or a negative errno. */
int cgroups_of_process(struct cgroups *c, pid_t pid, uint64_t *ret_id,
		       char ret_path[CGROUP_PATH_MAX]);

/* Parses one line of /proc/PID/cgroup, "NUMBER:CONTROLLERS:PATH". Returns its path if the line
 * is for the hierarchy (`v1`: perf_event; else the unified one), else NULL. Modifies `line`. */
const char *cgroups_line_path(char *line, int v1);
/* Parses one line of /proc/PID/mountinfo (proc(5)). If it mounts v1's perf_event hierarchy or the
 * unified hierarchy, returns the mount point (unescaped), and stores which of them it is;
 * otherwise returns NULL. Modifies `line`. */
const char *cgroups_line_mount(char *line, int *ret_v1);
