/* SPDX-License-Identifier: GPL-2.0-or-later */
/* safe_stream.h - the last word on what reaches a terminal: names in a profile are somebody
 * else's, and no writer has to remember it.
 * Layer: tools. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

/* A stream that writes to `to` line by line, with all that could command a terminal shown as
 * \xNN, but for line ends, tabs and the colours of screen.h.  fclose() flushes both and leaves
 * `to` open; errors of `to` are errors of the stream.  NULL when memory is short. */
FILE *safe_stream_open(FILE *to, bool utf8);
