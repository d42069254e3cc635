#include "present/percent.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

enum {
	WIDTH = 7,
	DECIMALS = 10000
};

double percent_of(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* "%7.4f" of a value from 0.001 to 100 without printf, which is a tenth of a long report.
 * False: the product is so near to the middle of two results that printf() has to say. */
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

void percent_format(double value, char ret_text[PERCENT_MAX])
{
	double size = fabs(value);

	if (size <= 0)
		snprintf(ret_text, PERCENT_MAX, "%7d", 0);
	else if (size < 0.001)
		snprintf(ret_text, PERCENT_MAX, "%7.1e", value);
	else if (value > 0 && size < 99.9999 && format_four(value, ret_text))
		return;
	else if (size < 99.99995)
		snprintf(ret_text, PERCENT_MAX, "%7.4f", value);
	else
		snprintf(ret_text, PERCENT_MAX, "%7.3f", value);
}
