/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pager.h - shows a long report in less(1), as git and perf do.
 * Layer: tools. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

#include "tools/cli/terminal.h"

/* Writes a report to standard output by calling `write` (returns 0 or a negative errno; ferror()
 * finds errors of `out`). On a terminal, control sequences in the report are escaped. If both
 * standard streams are terminals that this process may use, the report goes through a pager:
 * $OPROFILE_PAGER, $PAGER, or less with LESS=FRX. "" and "cat" disable it. If no pager can be
 * started, `write` is called a second time. Returns the result of `write`; or 0 if the user left
 * the pager before the end. */
int pager_run(const struct terminal_options *options, const struct screen *screen,
	      int (*write)(FILE *out, void *ctx), void *ctx);
