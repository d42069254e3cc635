/* SPDX-License-Identifier: GPL-2.0-or-later */
/* percent.h - formats percentages like OProfile.
 * Layer: present. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PERCENT_MAX = 32
};

/* Returns `part` of `whole` in percent, or 0 if `whole` is 0. */
double percent_of(uint64_t part, uint64_t whole);
/* Returns true if any of the `nr` parts is at least `threshold` percent of its whole. */
bool percent_reached(const uint64_t *parts, const uint64_t *wholes, size_t nr,
		     double threshold);
/* Formats a percentage in seven columns: "      0", " 2.2000", "92.3226", "100.000" (also where
 * four decimals would round up to it), and "7.5e-04" below 0.001. */
void percent_format(double value, char ret_text[PERCENT_MAX]);
