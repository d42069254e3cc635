/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hints.h - prints hints on options that probably do not do what the user wants, because they have
 * another meaning in operf, perf or head.
 * Layer: tools. */
#pragma once

struct report_options;

/* Prints a hint for each argument that is an option with another meaning elsewhere. Call it before
 * parsing, which reorders the arguments. */
void report_hint_words(int argc, char *const *argv);
/* Prints a hint if the options were refused because of -g alone. */
void report_hint_refused(const struct report_options *options);
