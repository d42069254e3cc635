/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hint.h - prints a hint if operf cannot find the command to record.
 * Layer: tools. */
#pragma once

struct record_options;

/* If the argument after an option with an optional value looks like a value of -g or -V, prints the
 * command line that was probably meant: such an option does not use the next argument, which is
 * then taken as the command. */
void record_hint_value(const struct record_options *options, char *const *command);
