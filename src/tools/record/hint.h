/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hint.h - prints hints about command lines of operf that were probably not meant.
 * Layer: tools. */
#pragma once

struct record_options;

/* Prints a hint if -a, which in perf records all CPUs, was given with a command and there is no
 * session to append to. */
void record_hint_append(const struct record_options *options, char *const *command);

/* If the argument after an option with an optional value looks like a value of -g or -V, prints the
 * command line that was probably meant: such an option does not use the next argument, which is
 * then taken as the command. */
void record_hint_value(const struct record_options *options, char *const *command);
