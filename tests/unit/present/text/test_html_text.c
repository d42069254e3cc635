/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "present/text/html_text.h"

static void check(const char *text, size_t len, const char *expected)
{
	char *got = NULL;
	size_t got_len;
	FILE *out = open_memstream(&got, &got_len);

	assert_non_null(out);
	html_put_len(out, text, len);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(got, expected);
	free(got);
}

#define CHECK(text, expected) check(text, sizeof(text) - 1, expected)

static void escapes_markup(void **state)
{
	(void)state;
	CHECK("", "");
	CHECK("a\tb c", "a\tb c");
	CHECK("</script>", "&lt;/script&gt;");
	CHECK("a && b", "a &amp;&amp; b");
	CHECK("\" onload='x'", "&quot; onload=&#39;x&#39;");
	CHECK("&lt;", "&amp;lt;");
}

/* Pictures of control characters start at U+2400, that of DEL is U+2421 (Unicode, Control
 * Pictures). */
static void replaces_invisible_characters(void **state)
{
	(void)state;
	CHECK("a\0b", "a&#9216;b");
	CHECK("\033[31m\r\n", "&#9243;[31m&#9229;&#9226;");
	CHECK("\x7f", "&#9249;");
	CHECK("\xe2\x80\xae", "[U+202E]");
	CHECK("\xc2\x9b", "[U+009B]");
	CHECK("\xe2\x80\xa8", "[U+2028]");
}

static void replaces_invalid_utf8(void **state)
{
	(void)state;
	CHECK("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
	      "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
	/* Cut short, alone, overlong, a surrogate. */
	CHECK("\xc3", "\xef\xbf\xbd");
	CHECK("\xe2\x82<", "\xef\xbf\xbd\xef\xbf\xbd&lt;");
	CHECK("\x80\xff", "\xef\xbf\xbd\xef\xbf\xbd");
	CHECK("\xc0\xbc", "\xef\xbf\xbd\xef\xbf\xbd");
	CHECK("\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(escapes_markup),
		cmocka_unit_test(replaces_invisible_characters),
		cmocka_unit_test(replaces_invalid_utf8),
	};

	return UNIT_RUN(tests);
}
