/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hint.h - a hint after operf could not find its command.
 * Layer: tools. */
#pragma once

struct record_options;

/* An option with an optional value does not take the next word, which then is the command.  If the
 * command is rather a value of -g or -V, prints the command line that was probably meant. */
void record_hint_value(const struct record_options *options, char *const *command);
