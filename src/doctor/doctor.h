/* SPDX-License-Identifier: GPL-2.0-or-later */
/* doctor.h - checks what this user can record on this machine, and how to lift each limit.
 * Layer: doctor.  Fill in the first members, run the checks in any order, then print them
 * (present/facts/doctor.h). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/containers/vec.h"

struct perf_event_attr;

enum doctor_state {
	DOCTOR_OK,
	DOCTOR_LIMITED, /* it works in part, or costs something */
	DOCTOR_MISSING
};

struct doctor_check {
	const char *group; /* "Kernel settings" */
	const char *name;  /* "perf_event_paranoid" */
	enum doctor_state state;
	char *found; /* the value or state that was found: "2" */
	char *cost;  /* the disadvantage of the limit; NULL: none */
	char *fix;   /* the command or setting that lifts it; NULL: nothing lifts it */
};

struct doctor {
	/* Prefix of /proc, /sys, /dev, /etc, /run and /tmp; "" for this machine. */
	const char *root;
	/* Opens an event; perf_attr_open() but in tests. */
	int (*open_event)(struct perf_event_attr *attr, pid_t tid, int cpu);
	const char *session_dir; /* NULL: the default of operf */
	VEC(struct doctor_check) checks;
	bool can_record; /* an event of one of this user's own tasks could be opened */
	bool no_memory;
};

/* Each of these adds its checks to d->checks. */
void doctor_settings(struct doctor *d); /* sysctls */
void doctor_rights(struct doctor *d);   /* capabilities, seccomp, namespaces, limits */
void doctor_events(struct doctor *d);   /* opens events and call chains */
void doctor_symbols(struct doctor *d);  /* of the kernel, tracefs, debuginfod */
void doctor_storage(struct doctor *d);  /* session directory, daemon */
void doctor_jit(struct doctor *d);      /* interpreters and JIT compilers */

/* Checks the debug information and the runtime of a program, which is looked up in PATH unless it
 * contains a slash.  Returns 0, or a negative errno if it cannot be read. */
int doctor_program(struct doctor *d, const char *program);
/* Returns the first check with this name, or NULL. */
const struct doctor_check *doctor_find(const struct doctor *d, const char *name);
void doctor_done(struct doctor *d);
