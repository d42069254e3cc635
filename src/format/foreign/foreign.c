/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/foreign/foreign.h"

#include <string.h>

#include "base/array.h"

/* In the order in which they are tried. Folded is last, as a line of perf script can also look
 * like a folded stack. */
static const struct foreign_format formats[] = {
	{ "pprof", foreign_is_pprof, foreign_read_pprof },
	{ "perf-script", foreign_is_perf_script, foreign_read_perf_script },
	{ "folded", foreign_is_folded, foreign_read_folded },
};

const struct foreign_format *foreign_find(const void *bytes, size_t len)
{
	for (size_t i = 0; i < COUNT_OF(formats); i++)
		if (formats[i].is(bytes, len))
			return &formats[i];
	return NULL;
}

bool foreign_line(const char **at, const char *end, struct foreign_word *ret_line)
{
	const char *stop;

	if (*at >= end)
		return false;
	stop = memchr(*at, '\n', (size_t)(end - *at));
	if (!stop)
		stop = end;
	*ret_line = (struct foreign_word){ *at, (size_t)(stop - *at) };
	*at = stop < end ? stop + 1 : end;
	if (ret_line->len && ret_line->at[ret_line->len - 1] == '\r')
		ret_line->len--;
	return true;
}

struct foreign_word foreign_first_line(const void *bytes, size_t len)
{
	const char *at = bytes;
	const char *end = at + len;
	struct foreign_word line;

	while (foreign_line(&at, end, &line))
		if (line.len && line.at[0] != '#')
			return line;
	return (struct foreign_word){ "", 0 };
}

bool foreign_number(struct foreign_word w, uint64_t *ret_v)
{
	uint64_t v = 0;

	for (size_t i = 0; i < w.len; i++) {
		unsigned int digit = (unsigned int)(w.at[i] - '0');

		if (digit > 9 || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, digit, &v))
			return false;
	}
	*ret_v = v;
	return w.len;
}
