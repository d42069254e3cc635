/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/byte_text.h"

#include <stdio.h>

#include "base/array.h"

void byte_text_put(char *out, size_t room, uint64_t bytes)
{
	static const char *const units[] = { "bytes", "kB", "MB", "GB", "TB" };
	double v = (double)bytes;
	size_t unit = 0;

	for (; v >= 1000 && unit + 1 < COUNT_OF(units); unit++)
		v /= 1000;
	snprintf(out, room, unit ? "%.1f %s" : "%.0f %s", v, units[unit]);
}
