/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "present/lines/safe_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

/* Returns the output if the text is written `piece` bytes at a time. */
static char *through(const char *text, size_t piece, bool utf8)
{
	char *got = NULL;
	size_t len;
	FILE *to = open_memstream(&got, &len);
	FILE *out = safe_stream_open(to, utf8);

	assert_non_null(out);
	for (size_t at = 0; at < strlen(text); at += piece) {
		size_t left = strlen(text) - at;

		fwrite(text + at, 1, left < piece ? left : piece, out);
		fflush(out);
	}
	assert_int_equal(fclose(out), 0);
	fclose(to);
	return got;
}

static void passes_only_colours(void **state)
{
	static const struct {
		const char *text;
		const char *expected;
	} rows[] = {
		{ "a\tb\n\nc", "a\tb\n\nc" },
		{ "\033[1mbold\033[m \033[31m 9.1\033[m \033[32m0.7\033[m\n",
		  "\033[1mbold\033[m \033[31m 9.1\033[m \033[32m0.7\033[m\n" },
		{ "\033[8mhidden\n", "\\x1b[8mhidden\n" },
		{ "\033]0;title\007\n", "\\x1b]0;title\\x07\n" },
		{ "csv\r\nback\rover\n", "csv\r\nback\\x0dover\n" },
		{ "gr\xc3\xbc\xc3\x9f"
		  "e \xc3\n",
		  "gr\xc3\xbc\xc3\x9f"
		  "e \\xc3\n" },
		{ "cut \033[3", "cut \\x1b[3" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		for (size_t piece = 1; piece < 10; piece++) {
			char *got = through(rows[i].text, piece, true);

			assert_string_equal(got, rows[i].expected);
			free(got);
		}
	}
}

static void passes_errors_on(void **state)
{
	FILE *full = fopen("/dev/full", "we");
	FILE *out;

	(void)state;
	if (!full)
		skip();
	out = safe_stream_open(full, true);
	fputs("text\n", out);
	assert_int_equal(fclose(out), EOF);
	fclose(full);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(passes_only_colours),
		cmocka_unit_test(passes_errors_on),
	};

	return UNIT_RUN(cases);
}
