/* SPDX-License-Identifier: GPL-2.0-or-later */
/* callgrind.h - writes profiles of applications in callgrind's format for KCachegrind
 * (valgrind's manual, "Callgrind Format Specification").
 * Layer: present.  The profile's keys are app, line, function-line and stack. */
#pragma once
#include <stddef.h>
#include <stdio.h>

struct callgrind;
struct err;
struct profile;

/* Creates the object, which the profile must outlive. `threshold` is as in calls/table.h. Returns
 * 0, or -ENOMEM with a message. */
int callgrind_new(struct profile *p, double threshold, struct callgrind **ret_c,
		  struct err *err);
void callgrind_free(struct callgrind *c); /* `c` can be NULL */
/* Return the number of applications, and the name of the application with the given index. */
size_t callgrind_nr_apps(const struct callgrind *c);
const char *callgrind_app(const struct callgrind *c, size_t app);
/* Writes an application's profile, with the costs of lines, and of calls including callees.
 * Returns 0, or -ENOMEM with a message.  The caller checks `out` with ferror(). */
int callgrind_write(struct callgrind *c, size_t app, FILE *out, struct err *err);
