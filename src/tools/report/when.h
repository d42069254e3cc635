/* SPDX-License-Identifier: GPL-2.0-or-later */
/* when.h - spans of time by the clock of the day, as --since and --between name them.
 * Layer: tools. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct err;
struct report_options;

/* A moment: so long before `now` (10m, 1.5h, 2d), HH:MM[:SS] of the day of `now`, YYYY-MM-DD with
 * Thh:mm[:ss] or a blank and them, all in the local time, or @SECONDS.  Nanoseconds since 1970.
 * False: it is none of them. */
bool report_when_parse(const char *text, uint64_t now_ns, uint64_t *ret_ns);
/* The value of time: that the options stand for, malloc'd, NULL if they are not given.  0,
 * -EINVAL with a line that names the option, or -ENOMEM. */
int report_when(const struct report_options *options, char **ret_spans,
		struct err *err);
