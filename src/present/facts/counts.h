/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counts.h - writes event counts as text or JSON.
 * Layer: present. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct count_run;
struct count_values;

struct count_view {
	bool separate; /* one row per CPU or task */
	bool brief;
	bool json;
	bool metrics;
	FILE *out;
};

/* Writes a set of values as a table, brief rows or JSON.  Returns 0 or a negative errno. */
int count_write(const struct count_view *view, const struct count_run *run,
		const struct count_values *values);
/* Writes medians and ranges of several runs of a command.  Returns 0 or a negative errno. */
int count_write_repeats(const struct count_view *view, const struct count_run *run,
			const struct count_values *values, size_t nr);
