/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/lines/percent.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"

enum {
	WIDTH = 7,
	DECIMALS = 10000
};

double percent_of(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

bool percent_reached(const uint64_t *parts, const uint64_t *wholes, size_t nr,
		     double threshold)
{
	for (size_t i = 0; i < nr; i++)
		if (percent_of(parts[i], wholes[i]) >= threshold)
			return true;
	return false;
}

/* Formats a value from 0.001 to 100 as "%7.4f" without printf(), which would need a tenth of the
 * time of a long report.  Returns false if the value is so close to a rounding boundary that
 * printf() must decide. */
static bool format_four(double value, char ret_text[PERCENT_MAX])
{
	double scaled = value * DECIMALS;
	uint32_t number = (uint32_t)scaled;
	double rest = scaled - number;
	char *at = ret_text + WIDTH;

	if (fabs(rest - 0.5) < 1e-6)
		return false;
	number += rest > 0.5;
	*at = '\0';
	for (int i = 0; i < 4; i++, number /= 10)
		*--at = (char)('0' + number % 10);
	*--at = '.';
	do {
		*--at = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	while (at > ret_text)
		*--at = ' ';
	return true;
}

/* Formats a value below 0.001 as "%7.1e"; returns false like format_four(). */
static bool format_tiny(double value, char ret_text[PERCENT_MAX])
{
	/* Each is exact, so the product is rounded only once. */
	static const double powers[] = { 1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
					 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18 };
	unsigned int exponent = 4;
	double scaled = 0;
	double rest;
	uint32_t number;

	for (size_t i = 0; i < COUNT_OF(powers); i++) {
		scaled = value * powers[i];
		if (scaled >= 10)
			break;
		exponent++;
	}
	number = (uint32_t)scaled;
	rest = scaled - number;
	if (scaled < 10 || fabs(rest - 0.5) < 1e-6)
		return false;
	number += rest > 0.5;
	if (number == 100) {
		number = 10;
		exponent--;
	}
	ret_text[0] = (char)('0' + number / 10);
	ret_text[1] = '.';
	ret_text[2] = (char)('0' + number % 10);
	ret_text[3] = 'e';
	ret_text[4] = '-';
	ret_text[5] = (char)('0' + exponent / 10);
	ret_text[6] = (char)('0' + exponent % 10);
	ret_text[7] = '\0';
	return true;
}

/* Formats common values without printf().  Returns false if printf() must format the value. */
static bool format_fast(double value, char ret_text[PERCENT_MAX])
{
	/* The share of a function's only address. */
	static const char whole[] = "100.000";

	if (value >= 100 && value <= 100)
		memcpy(ret_text, whole, sizeof(whole));
	else if (value >= 0.001 && value < 99.9999)
		return format_four(value, ret_text);
	else
		return value > 0 && value < 0.000999 && format_tiny(value, ret_text);
	return true;
}

void percent_format(double value, char ret_text[PERCENT_MAX])
{
	double size = fabs(value);

	if (format_fast(value, ret_text))
		return;
	if (size <= 0)
		snprintf(ret_text, PERCENT_MAX, "%7d", 0);
	else if (size < 0.001)
		snprintf(ret_text, PERCENT_MAX, "%7.1e", value);
	else if (size < 99.99995)
		snprintf(ret_text, PERCENT_MAX, "%7.4f", value);
	else
		snprintf(ret_text, PERCENT_MAX, "%7.3f", value);
}
