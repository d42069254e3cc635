/* cgroups.h - the paths of control groups by the numbers that samples have.
 * Layer: capture.  Not thread safe.
 *
 * The kernel tells of groups that are made (PERF_RECORD_CGROUP), not of those that exist: these
 * are asked for when they are first met.  A number is that of the group's folder, as in its
 * file handle (perf_event_cgroup() in Linux's kernel/events/core.c). */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	CGROUP_PATH_MAX = 4096
};

struct cgroups {                     /* all zero to begin with */
	char mount[CGROUP_PATH_MAX]; /* of the hierarchy that perf's numbers are of */
	char controller; /* 'v' of v1's perf_event, 'u' of the unified one */
	char begun;
};

/* Path of group `id`, from the hierarchy's root on ("/", "/system.slice"): as its number leads to
 * it, which needs CAP_DAC_READ_SEARCH; else if it is the one of process `pid`, which lives.
 * 0; -ENOENT: it is gone, or there is no hierarchy; or another negative errno. */
int cgroups_path(struct cgroups *c, uint64_t id, pid_t pid,
		 char ret_path[CGROUP_PATH_MAX]);
/* Group of process `pid` now.  0 or a negative errno. */
int cgroups_of_process(struct cgroups *c, pid_t pid, uint64_t *ret_id,
		       char ret_path[CGROUP_PATH_MAX]);

/* One line of /proc/PID/cgroup, "NUMBER:CONTROLLERS:PATH": its path if the line is of the
 * hierarchy (`v1`: of perf_event; else of the unified one), else NULL.  `line` is cut up. */
const char *cgroups_line_path(char *line, int v1);
/* One line of /proc/PID/mountinfo (proc(5)): where the hierarchy is mounted, its escapes
 * undone, and whether it is v1's with perf_event or the unified one; NULL: something else.
 * `line` is cut up. */
const char *cgroups_line_mount(char *line, int *ret_v1);
