/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "present/text/csv.h"

#include <string.h>

#include "base/buf.h"

#include "unit.h"

static void quotes_fields_where_needed(void **state)
{
	static const struct {
		const char *field, *want;
	} rows[] = {
		{ "", "" },
		{ "plain text", "plain text" },
		{ "a,b", "\"a,b\"" },
		{ "say \"hi\"", "\"say \"\"hi\"\"\"" },
		{ "two\nlines,", "\"two\\nlines,\"" },
		{ "cr\r\t\033\xc2\x9b", "cr\\x0d\\t\\x1b\\xc2\\x9b" },
		{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
		{ "\xff"
		  "a\xc3",
		  "\xef\xbf\xbd"
		  "a\xef\xbf\xbd" },
		{ "\xff,\"\xc3", "\"\xef\xbf\xbd,\"\"\xef\xbf\xbd\"" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct buf out = { 0 };

		csv_put_field(&out, rows[i].field, strlen(rows[i].field));
		buf_put_u8(&out, 0);
		assert_false(out.failed);
		assert_string_equal((const char *)out.data, rows[i].want);
		buf_done(&out);
	}
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(quotes_fields_where_needed),
	};

	return UNIT_RUN(cases);
}
