/* SPDX-License-Identifier: GPL-2.0-or-later */
/* safe_stream.h - a stream that filters terminal output. Names in a profile are untrusted; with
 * this stream, writers need not escape them.
 * Layer: present. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

/* Returns a stream that writes to `to` line by line and shows control characters and escape
 * sequences as \xNN, except line ends, tabs and the colors of screen.h. fclose() flushes both
 * streams and does not close `to`; errors of `to` become errors of the stream. Returns NULL when
 * memory is short. */
FILE *safe_stream_open(FILE *to, bool utf8);
