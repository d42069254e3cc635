/* SPDX-License-Identifier: GPL-2.0-or-later */
/* doctor_priv.h - shared by the checks.
 * Layer: doctor. */
#pragma once
#include <stdint.h>

#include "doctor/doctor.h"

enum {
	DOCTOR_PATH_MAX = 4096
};

/* Adds a check.  `fix` NULL: no command lifts the limit.  The arguments of `format` describe what
 * was found; doctor_cost() adds the cost. */
void doctor_add(struct doctor *d, const char *group, const char *name,
		enum doctor_state state, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* Set the cost and the command of the check that was added last. They do nothing if that check
 * is DOCTOR_OK. */
void doctor_cost(struct doctor *d, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void doctor_fix(struct doctor *d, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Writes the root and the path to `ret_path`, and returns it. */
const char *doctor_path(const struct doctor *d, const char *path,
			char ret_path[DOCTOR_PATH_MAX]);
/* Returns whether access(2) permits `mode`. */
bool doctor_access(const struct doctor *d, const char *path, int mode);
/* Reads a small file as a number, which can be negative.  Returns false if the file is not readable
 * or contains no number. */
bool doctor_number(const struct doctor *d, const char *path, int64_t *ret_v);
/* Reads a field of /proc/self/status, such as "Seccomp", in base 10 or 16. Returns false if the
 * field is missing. */
bool doctor_status_field(const struct doctor *d, const char *name, int base,
			 uint64_t *ret_v);
/* Returns whether this process has the capability, of capabilities(7). */
bool doctor_has_capability(const struct doctor *d, unsigned int number);
/* Returns whether this process may record more than perf_event_paranoid permits. */
bool doctor_is_privileged(const struct doctor *d);
