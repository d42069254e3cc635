/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report.h - prints a report for commands other than opreport.
 * Layer: tools. */
#pragma once

struct report_options;

/* Prints how far recordings can be trusted, and frees the lists of the options.  Returns the exit
 * status. */
int report_of_quality(const struct report_options *options, char *const *words);
