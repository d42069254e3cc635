/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/comma.h"

#include <stdlib.h>
#include <string.h>

char *comma_next(const char **text)
{
	const char *in = *text;
	char *value = malloc(strlen(in) + 1);
	size_t len = 0;

	if (!value)
		return NULL;
	for (; *in && *in != ','; in++) {
		if (in[0] == '\\' && in[1] == ',')
			in++;
		value[len++] = *in;
	}
	value[len] = '\0';
	*text = *in ? in + 1 : NULL;
	return value;
}
