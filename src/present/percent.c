#include "present/percent.h"

#include <math.h>
#include <stdio.h>

double percent_of(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

void percent_format(double value, char ret_text[PERCENT_MAX])
{
	double size = fabs(value);

	if (size <= 0)
		snprintf(ret_text, PERCENT_MAX, "%7d", 0);
	else if (size < 0.001)
		snprintf(ret_text, PERCENT_MAX, "%7.1e", value);
	else if (size < 99.99995)
		snprintf(ret_text, PERCENT_MAX, "%7.4f", value);
	else
		snprintf(ret_text, PERCENT_MAX, "%7.3f", value);
}
