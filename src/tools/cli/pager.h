/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pager.h - a long report in less(1), as git and perf do it.
 * Layer: tools. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

#include "tools/cli/terminal.h"

/* Writes a report to the standard output by calling `write` (0 or a negative errno; errors of
 * `out` are found by ferror()).  On a terminal nothing in it can command that terminal, and
 * it goes through a pager if both standard streams are terminals that this process may use:
 * $OPROFILE_PAGER, $PAGER, or less with LESS=FRX.  "" and "cat" are none.  If no pager can
 * be started `write` is called a second time.
 * Returns what `write` returned; 0 if the user left the pager before the end. */
int pager_run(const struct terminal_options *options, const struct screen *screen,
	      int (*write)(FILE *out, void *ctx), void *ctx);
