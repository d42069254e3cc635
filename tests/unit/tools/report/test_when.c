/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "tools/report/when.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "tools/report/options.h"

#include "unit.h"

static const uint64_t ns_per_s = 1000000000;
/* 2026-11-22 08:30:05 UTC */
static const uint64_t now_s = 1795336205;

static void parses_moments(void **state)
{
	static const struct {
		const char *text;
		int64_t seconds; /* since 1970; -1: invalid */
	} rows[] = {
		{ "10m", 1795336205 - 600 },
		{ "90", 1795336205 - 90 },
		{ "2d", 1795336205 - 172800 },
		{ "0", 1795336205 },
		{ "99999d", -1 },
		{ "08:00", 1795334400 },
		{ "08:00:05", 1795334405 },
		{ "00:00", 1795305600 },
		{ "2026-11-22", 1795305600 },
		{ "2026-11-21", 1795219200 },
		{ "2026-11-22T08:00", 1795334400 },
		{ "2026-11-22 08:00:05", 1795334405 },
		{ "@1795334400", 1795334400 },
		{ "@1e9", -1 },
		{ "@", -1 },
		{ "", -1 },
		{ "-5m", -1 },
		{ "yesterday", -1 },
		{ "25:00", -1 },
		{ "2026-13-01", -1 },
		{ "08:00x", -1 },
		{ "d", -1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		uint64_t ns = 0;
		bool good = report_when_parse(rows[i].text, now_s * ns_per_s, &ns);

		if (good != (rows[i].seconds >= 0) ||
		    (good && ns != (uint64_t)rows[i].seconds * ns_per_s))
			fail_msg("'%s': %d, %llu", rows[i].text, good,
				 (unsigned long long)ns);
	}
}

static void parses_since_and_between(void **state)
{
	static const struct {
		const char *since, *between, *times;
		const char
			*spans; /* NULL: refused with a message that contains `line` */
		const char *line;
	} rows[] = {
		{ "@5", NULL, NULL, "@5.000000000-", NULL },
		{ NULL, "@5,@7", NULL, "@5.000000000-@7.000000000", NULL },
		{ "soon", NULL, NULL, NULL, "--since: 'soon' is not a time" },
		{ NULL, "@5", NULL, NULL, "--between=@5: give two times" },
		{ NULL, "@5,soon", NULL, NULL, "--between: 'soon' is not a time" },
		{ NULL, "@7,@5", NULL, NULL, "is not after the first" },
		{ NULL, "5m,10m", NULL, NULL, "is not after the first" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct report_options o = { .since = rows[i].since,
					    .between = rows[i].between,
					    .times = rows[i].times };
		struct err err = { 0 };
		char *spans;
		int r = report_when(&o, &spans, &err);

		assert_int_equal(r, rows[i].spans ? 0 : -EINVAL);
		if (rows[i].spans)
			assert_string_equal(spans, rows[i].spans);
		else if (!strstr(err.text, rows[i].line))
			fail_msg("%s", err.text);
		free(spans);
	}
}

static void without_options_there_are_no_intervals(void **state)
{
	struct report_options o = { .times = "1s-2s" };
	char *spans;

	(void)state;
	assert_int_equal(report_when(&o, &spans, NULL), 0);
	assert_null(spans);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(parses_moments),
		cmocka_unit_test(parses_since_and_between),
		cmocka_unit_test(without_options_there_are_no_intervals),
	};

	setenv("TZ", "UTC", 1);
	tzset();
	return UNIT_RUN(cases);
}
