/* SPDX-License-Identifier: GPL-2.0-or-later */
/* when.h - parses the time spans of --since and --between.
 * Layer: tools. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct err;
struct report_options;

/* Parses a time: a duration before `now` (10m, 1.5h, 2d), HH:MM[:SS] on the day of `now`,
 * YYYY-MM-DD optionally followed by T or a blank and hh:mm[:ss], all in local time, or @SECONDS.
 * Returns nanoseconds since 1970 in *ret_ns, or false if the text has none of these forms. */
bool report_when_parse(const char *text, uint64_t now_ns, uint64_t *ret_ns);
/* Converts --since and --between to a value of the specification "time:", and stores it in
 * *ret_spans (malloc'd), or NULL if they are not given. Returns 0, -EINVAL with a message in *err
 * that names the option, or -ENOMEM. */
int report_when(const struct report_options *options, char **ret_spans,
		struct err *err);
