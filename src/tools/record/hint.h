/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hint.h - prints a hint if operf cannot find the command to record.
 * Layer: tools. */
#pragma once

struct record_options;

/* An option with an optional value does not use the next argument, which is then taken as the
 * command. If that argument looks like a value of -g or -V, prints the command line that was
 * probably meant. */
void record_hint_value(const struct record_options *options, char *const *command);
