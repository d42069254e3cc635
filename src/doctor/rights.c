/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rights.c - capabilities, filters, namespaces and limits of this process. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/shell_word.h"
#include "doctor/doctor_priv.h"

static const char group[] = "Rights";

enum {
	PERFMON = 38,         /* CAP_PERFMON */
	SYS_ADMIN = 21,       /* CAP_SYS_ADMIN */
	SECCOMP_FILTERED = 2, /* proc(5) */
	FILES_LEAST = 1024
};

/* Sets the fix of the last check to the command that gives this program the capabilities. */
static void fix_capabilities(struct doctor *d)
{
	char exe[DOCTOR_PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	struct buf word = { 0 };

	exe[len > 0 ? len : 0] = '\0';
	shell_word_put(&word, exe);
	buf_put_u8(&word, 0);
	doctor_fix(d, "sudo setcap cap_perfmon,cap_sys_ptrace,cap_syslog=ep %s",
		   word.failed ? "" : (const char *)word.data);
	buf_done(&word);
}

static void check_capabilities(struct doctor *d)
{
	static const char name[] = "capabilities";

	if (doctor_has_capability(d, SYS_ADMIN)) {
		doctor_add(d, group, name, DOCTOR_OK, "CAP_SYS_ADMIN");
	} else if (doctor_has_capability(d, PERFMON)) {
		doctor_add(d, group, name, DOCTOR_OK, "CAP_PERFMON");
	} else {
		doctor_add(d, group, name, DOCTOR_LIMITED,
			   "neither CAP_PERFMON nor CAP_SYS_ADMIN");
		doctor_cost(d, "perf_event_paranoid limits what you can record");
		fix_capabilities(d);
	}
}

static void check_no_new_privs(struct doctor *d)
{
	uint64_t on;

	if (!doctor_status_field(d, "NoNewPrivs", 10, &on))
		return;
	doctor_add(d, group, "no_new_privs", on ? DOCTOR_LIMITED : DOCTOR_OK, "%s",
		   on ? "set" : "not set");
	doctor_cost(d, "sudo and file capabilities have no effect here, also in "
		       "recorded programs");
	doctor_fix(d, "docker run --security-opt no-new-privileges=false ..., or for a "
		      "service NoNewPrivileges=no");
}

static void check_seccomp(struct doctor *d)
{
	uint64_t mode;

	if (!doctor_status_field(d, "Seccomp", 10, &mode))
		return;
	if (mode != SECCOMP_FILTERED) {
		doctor_add(d, group, "seccomp", DOCTOR_OK, "no filter");
		return;
	}
	doctor_add(d, group, "seccomp", d->can_record ? DOCTOR_OK : DOCTOR_MISSING,
		   "%s",
		   d->can_record ? "a filter that permits perf_event_open"
				 : "a filter, as used by containers and services");
	doctor_cost(d, "nothing can be recorded");
	doctor_fix(d, "docker run --security-opt seccomp=unconfined ...");
}

/* Namespaces in which recording is limited, unless they are the machine's initial ones, which
 * have fixed numbers (include/linux/proc_ns.h). */
static const struct namespace
{
	const char *name;
	const char *path;
	const char *first;
	const char *cost;
	const char *fix;
}
namespaces[] = {
	{ "pid namespace", "/proc/self/ns/pid", "pid:[4026531836]",
	  "processes outside of the container have no names",
	  "docker run --pid=host ..." },
	{ "cgroup namespace", "/proc/self/ns/cgroup", "cgroup:[4026531835]",
	  "paths of cgroups begin at the container", "docker run --cgroupns=host ..." },
	{ "user namespace", "/proc/self/ns/user", "user:[4026531837]",
	  "capabilities do not count for perf_event_open",
	  "sudo oprofile doctor, outside of the container" },
};

static void check_namespace(struct doctor *d, const struct namespace *n)
{
	char path[DOCTOR_PATH_MAX], link[128];
	ssize_t len = readlink(doctor_path(d, n->path, path), link, sizeof(link) - 1);
	bool own;

	if (len <= 0)
		return;
	link[len] = '\0';
	own = strcmp(link, n->first) != 0;
	doctor_add(d, group, n->name, own ? DOCTOR_LIMITED : DOCTOR_OK, "%s",
		   own ? "of a container" : "of the machine");
	doctor_cost(d, "%s", n->cost);
	doctor_fix(d, "%s", n->fix);
}

static void check_open_files(struct doctor *d)
{
	struct rlimit limit;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	/* Descriptors for an event and the side-band event on each CPU, and for binaries. */
	rlim_t needed = FILES_LEAST + 4 * (rlim_t)(cpus > 0 ? cpus : 1);

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	if (limit.rlim_max == RLIM_INFINITY)
		doctor_add(d, group, "open files", DOCTOR_OK, "unlimited");
	else
		doctor_add(d, group, "open files",
			   limit.rlim_max < needed ? DOCTOR_LIMITED : DOCTOR_OK,
			   "%" PRIu64 " (RLIMIT_NOFILE)", (uint64_t)limit.rlim_max);
	doctor_cost(d, "several events, or many CPUs or threads, cannot be recorded");
	doctor_fix(d, "sudo prlimit --pid $$ --nofile=%" PRIu64, (uint64_t)needed);
}

void doctor_rights(struct doctor *d)
{
	check_capabilities(d);
	check_no_new_privs(d);
	check_seccomp(d);
	for (size_t i = 0; i < COUNT_OF(namespaces); i++)
		check_namespace(d, &namespaces[i]);
	check_open_files(d);
}
