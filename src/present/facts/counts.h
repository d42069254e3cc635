/* counts.h - what was counted, as text or JSON.
 * Layer: present. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct count_run;
struct count_values;

struct count_view {
	bool separate; /* places apart */
	bool brief;
	bool json;
	bool metrics;
	FILE *out;
};

/* The table, brief rows or JSON of one set of values. */
int count_write(const struct count_view *view, const struct count_run *run,
		const struct count_values *values);
/* Medians and spread of several runs of a command. */
int count_write_repeats(const struct count_view *view, const struct count_run *run,
			const struct count_values *values, size_t nr);
