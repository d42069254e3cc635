/* callgrind.h - profiles of applications in callgrind's format, for KCachegrind (valgrind's
 * manual, "Callgrind Format Specification").
 * Layer: present.  The profile's keys are app, line, function-line and stack. */
#pragma once
#include <stddef.h>
#include <stdio.h>

struct callgrind;
struct err;
struct profile;

/* The profile outlives it.  `threshold` as in calls/table.h.  0 or -ENOMEM with a line. */
int callgrind_new(struct profile *p, double threshold, struct callgrind **ret_c,
		  struct err *err);
void callgrind_free(struct callgrind *c); /* NULL is fine */
/* How many applications there are, and the name of each. */
size_t callgrind_nr_apps(const struct callgrind *c);
const char *callgrind_app(const struct callgrind *c, size_t app);
/* Writes the profile of one, with the costs of lines, and of calls with all that they led to.
 * 0 or -ENOMEM with a line; errors of `out` are found by ferror(). */
int callgrind_write(struct callgrind *c, size_t app, FILE *out, struct err *err);
