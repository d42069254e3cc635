/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hints.h - hints on calls that are allowed but probably not meant, such as an option that has
 * another meaning in operf, perf or head.
 * Layer: tools. */
#pragma once

struct report_options;

/* Prints a hint for each such option among the words, which are not yet reordered. */
void report_hint_words(int argc, char *const *argv);
/* Prints a hint if the options were refused because of -g alone. */
void report_hint_refused(const struct report_options *options);
